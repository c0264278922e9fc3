"""Remembers what a conversation has seen that calls for care."""

from __future__ import annotations

from collections.abc import Iterable

MOST = 20
LONGEST = 120


class Taint:
    """Reasons, a line each: why what is sent may hold private data, or who gave orders."""

    def __init__(self, *reasons: str) -> None:
        self._reasons = dict.fromkeys(reasons)

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(self._reasons)

    def mark(self, reason: str) -> None:
        if len(self._reasons) < MOST:
            self._reasons[reason[:LONGEST]] = None

    def mark_all(self, reasons: Iterable[str]) -> None:
        for reason in reasons:
            self.mark(reason)

    def __bool__(self) -> bool:
        return bool(self._reasons)
