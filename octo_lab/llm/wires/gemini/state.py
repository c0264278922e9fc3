"""Thought signatures of an answer: kept part by part, given back on the same parts.

The blob is JSON: ``[[kind, value, signature], …]`` in the order of the answer, where ``value`` is
the number of characters of a ``text``, a ``thought`` itself, or the id of a ``call``.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from octo_lab.core.messages import Message

_KINDS = {"text": int, "thought": str, "call": str}


class Kept(NamedTuple):
    """One part of an answer and its signature, or ''."""

    kind: str
    value: int | str
    signature: str


class Signatures:
    """Collects the parts of one answer as they come."""

    def __init__(self) -> None:
        self._parts: list[Kept] = []
        self._plain = 0  # characters of text since the last part that is kept
        self._signed = False

    def text(self, size: int, signature: str = "") -> None:
        if not signature:
            self._plain += size
        elif size or not self._attached(signature):
            self._keep(Kept("text", size, signature))

    def thought(self, text: str, signature: str) -> None:
        if signature:
            self._keep(Kept("thought", text, signature))

    def call(self, id: str, signature: str) -> None:
        self._keep(Kept("call", id, signature))

    def blob(self) -> str | None:
        """What to keep; None when nothing was signed."""
        if not self._signed:
            return None
        self._flush()
        return json.dumps(self._parts, separators=(",", ":"))

    def _attached(self, signature: str) -> bool:
        """A signature that came alone belongs to the calls before it that have none."""
        bare = [n for n, p in enumerate(self._parts) if p.kind == "call" and not p.signature]
        for index in bare:
            self._parts[index] = self._parts[index]._replace(signature=signature)
        self._signed = self._signed or bool(bare)
        return bool(bare)

    def _keep(self, part: Kept) -> None:
        self._flush()
        self._parts.append(part)
        self._signed = self._signed or bool(part.signature)

    def _flush(self) -> None:
        if self._plain:
            self._parts.append(Kept("text", self._plain, ""))
            self._plain = 0


def kept_parts(message: Message, provider: str, model: str) -> list[Kept]:
    """The parts of a stored answer if this provider and model gave them; [] when they are not to
    be had, or are no longer those of the message. Calls are told by id.
    """
    state = message.provider_state
    if state is None or (state.provider, state.model) != (provider, model):
        return []
    parts = _read(state.blob)
    size = sum(p.value for p in parts if isinstance(p.value, int))
    if size == len(message.content):
        return parts
    return [part for part in parts if part.kind == "call"]  # the text was edited


def _read(blob: str) -> list[Kept]:
    try:
        listed = json.loads(blob)
    except (ValueError, RecursionError):
        return []
    if not isinstance(listed, list) or not all(map(_fits, listed)):
        return []
    return [Kept(*part) for part in listed]


def _fits(part: object) -> bool:
    if not isinstance(part, list) or len(part) != 3 or not isinstance(part[0], str):
        return False
    kind, value, signature = part
    if type(value) is not _KINDS.get(kind) or not isinstance(signature, str):
        return False
    return not isinstance(value, int) or value >= 0
