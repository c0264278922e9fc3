"""Keeps the beginning and the end of a stream of bytes, however long it is."""

from __future__ import annotations


class Kept:
    """At most ``limit`` bytes, two thirds from the head; the rest is counted."""

    def __init__(self, limit: int) -> None:
        self._head_limit = limit * 2 // 3
        self._tail_limit = limit - self._head_limit
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        self.total += len(data)
        room = self._head_limit - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 2 * self._tail_limit + 65_536:
            del self._tail[: -self._tail_limit or None]

    def value(self) -> bytes:
        """What was kept; a line in the middle says how much was not."""
        tail = bytes(self._tail[-self._tail_limit :]) if self._tail_limit else b""
        lost = self.total - len(self._head) - len(tail)
        if not lost:
            return bytes(self._head) + tail
        return bytes(self._head) + f"\n[… {lost} bytes omitted …]\n".encode() + tail
