"""Takes keys out of recorded answers, also those that are spelled over several events."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from octo_lab.security.redact import Redactor

_SPOKEN = frozenset(
    {"content", "text", "thinking", "reasoning", "reasoning_content", "partial_json"}
    | {"arguments", "delta", "refusal"}
)
Leaf = tuple[Any, str | int, str]  # what holds it, under what, and what it is
Path = tuple[str | int, ...]


def scrub(events: Sequence[str], mask: Redactor) -> list[str]:
    """The events of a stream: texts that follow each other in one place are one text.

    An event in which nothing is hidden stays as it came.
    """
    read = [_read(event) for event in events]
    said: dict[Path, list[tuple[int, Leaf]]] = {}
    for number, (_, data, _) in enumerate(read):
        for path, leaf in _leaves(data, ()):
            said.setdefault(path, []).append((number, leaf))
    changed = {number for leaves in said.values() for number in _masked(leaves, mask)}
    return [
        f"{read[n][0]}{json.dumps(read[n][1], ensure_ascii=False)}{read[n][2]}"
        if n in changed
        else event
        for n, event in enumerate(events)
    ]


def _masked(leaves: list[tuple[int, Leaf]], mask: Redactor) -> list[int]:
    """Mask the texts of one place; the events that they are in, if anything was hidden."""
    stream = mask.in_pieces()
    texts = [stream.feed(text) for _, (_, _, text) in leaves]
    texts[-1] += stream.end()
    if not stream.hid:
        return []
    for text, (_, (holder, name, _)) in zip(texts, leaves, strict=True):
        holder[name] = text
    return [number for number, _ in leaves]


def _read(event: str) -> tuple[str, Any, str]:
    """What stands before the JSON of an event, the JSON, what stands after it."""
    before, sign, rest = event.partition("data:")
    line = rest.rstrip("\r\n")
    try:
        return before + sign, json.loads(line), rest[len(line) :]
    except (ValueError, RecursionError):
        return event, None, ""


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Leaf]]:
    for name, item in _items(value):
        if isinstance(item, str) and name in _SPOKEN:
            yield (*path, name), (value, name, item)
        elif isinstance(item, dict | list):
            yield from _leaves(item, (*path, name))


def _items(value: Any) -> Iterable[tuple[str | int, Any]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()
