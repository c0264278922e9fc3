"""The public rows that the prompt guard is measured on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """``half`` 0 was looked at while the guard was made, ``half`` 1 never."""

    id: str
    text: str
    lang: str
    channel: str
    malicious: bool
    half: int


def corpus_rows() -> list[Row]:
    path = files("bastioncorpus") / "corpus" / "injections.jsonl"
    return [_row(json.loads(line)) for line in path.read_text("utf-8").splitlines() if line]


def _row(entry: dict[str, str]) -> Row:
    return Row(
        id=entry["id"],
        text=entry["text"],
        lang=entry["lang"],
        channel=entry["channel"],
        malicious=entry["label"] == "malicious",
        half=sha256(entry["id"].encode()).digest()[0] % 2,
    )
