"""Remembers that a conversation has seen private data."""

from __future__ import annotations


class Taint:
    """Why what this conversation sends out may hold private data; empty while it cannot."""

    def __init__(self, *reasons: str) -> None:
        self._reasons = dict.fromkeys(reasons)

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(self._reasons)

    def mark(self, reason: str) -> None:
        self._reasons[reason] = None

    def __bool__(self) -> bool:
        return bool(self._reasons)
