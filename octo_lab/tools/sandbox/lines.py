"""The newest lines of a running command, for whoever watches it."""

from __future__ import annotations

import threading
from collections import deque

_WIDEST = 400


class NewestLines:
    """Filled in one thread, taken in another; what comes faster than it is taken is passed over."""

    def __init__(self, most: int = 5) -> None:
        self._lock = threading.Lock()
        self._lines: deque[str] = deque(maxlen=most)
        self._begun = b""

    def add(self, data: bytes) -> None:
        *whole, begun = (self._begun + data[-65_536:]).rsplit(b"\n", self._lines.maxlen or 1)
        if whole:
            whole[0] = whole[0].rpartition(b"\n")[2]
        with self._lock:
            self._lines.extend(line for piece in whole if (line := _readable(piece)))
        self._begun = begun[-_WIDEST:]

    def take(self) -> list[str]:
        with self._lock:
            lines = list(self._lines)
            self._lines.clear()
        return lines


def _readable(line: bytes) -> str:
    text = line[:_WIDEST].decode(errors="replace").rpartition("\r")[2]
    return "".join(char if char.isprintable() else " " for char in text).rstrip()
