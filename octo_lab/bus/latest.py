"""A value that only its newest version matters of: writers never wait, readers may skip."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import anyio

T = TypeVar("T")


class Latest(Generic[T]):
    """The newest version of something, built by ``read`` only when a reader asks for it.

    ``touch`` is cheap enough to be called for each chunk of a stream.
    """

    def __init__(self, read: Callable[[], T]) -> None:
        self._read = read
        self._news: anyio.Event | None = None
        self._ended: anyio.Event | None = None
        self.version = 0
        self.over = False

    def touch(self) -> None:
        """A newer version exists."""
        self.version += 1
        if self._news is not None:
            self._news.set()
            self._news = None

    def end(self) -> None:
        """The version that exists now is the last."""
        self.over = True
        self.touch()
        if self._ended is not None:
            self._ended.set()

    def get(self) -> T:
        return self._read()

    async def newer(self, seen: int) -> int:
        """Wait for a version after ``seen``; returns its number."""
        while self.version == seen and not self.over:
            self._news = self._news or anyio.Event()
            await self._news.wait()
        return self.version

    async def ended(self) -> None:
        """Wait until the last version exists."""
        if not self.over:
            self._ended = self._ended or anyio.Event()
            await self._ended.wait()
