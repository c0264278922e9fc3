"""Collects a model's thinking in the fields it comes in, to send it back as it was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Json = Mapping[str, Any]
_GROWING = ("text", "summary", "data", "signature")
MAX_KEPT = 4_000_000


class Thoughts:
    """``reasoning_content`` or ``reasoning`` is text; ``reasoning_details`` are parts, of which a
    stream sends pieces: those of one type and index belong together.
    """

    def __init__(self) -> None:
        self._field = ""
        self._text: list[str] = []
        self._details: list[dict[str, Any]] = []
        self._size = 0

    def take(self, delta: Json) -> str:
        """What of this delta is thinking, to be shown."""
        details = delta.get("reasoning_details")
        told = ""
        if details and isinstance(details, list):
            told = "".join(self._detail(part) for part in details if isinstance(part, dict))
        for name in ("reasoning_content", "reasoning"):
            text = delta.get(name)
            if text and isinstance(text, str):
                self._field = self._field or name
                self._text.append(text)
                self._size += len(text)
                return text
        return told

    def blob(self) -> str:
        """All of it as JSON; '' when there was none, or more than is worth keeping."""
        kept: dict[str, Any] = {}
        if self._text:
            kept[self._field] = "".join(self._text)
        if self._details:
            kept["reasoning_details"] = _whole(self._details)
        return json.dumps(kept) if kept and self._size <= MAX_KEPT else ""

    def _detail(self, part: dict[str, Any]) -> str:
        text = part.get("text") or part.get("summary") or ""
        self._details.append(part)
        self._size += sum(len(value) for value in part.values() if isinstance(value, str))
        return text if isinstance(text, str) else ""


def _whole(pieces: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The parts that these are pieces of; one without an index is whole."""
    parts: dict[object, list[dict[str, Any]]] = {}
    for number, piece in enumerate(pieces):
        index = piece.get("index")
        place = (number,) if index is None else (str(piece.get("type")), str(index))
        parts.setdefault(place, []).append(piece)
    return [_joined(part) for part in parts.values()]


def _joined(pieces: list[dict[str, Any]]) -> dict[str, Any]:
    whole: dict[str, Any] = {}
    for piece in pieces:
        whole |= {name: value for name, value in piece.items() if value is not None}
    for name in _GROWING:
        texts = [text for piece in pieces if isinstance(text := piece.get(name), str)]
        if texts:
            whole[name] = "".join(texts)
    return whole
