"""An event loop whose time passes at once: a test of hours ends in a moment, always the same."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Mapping
from typing import Any

RESOLUTION = 1e-6  # far above what is lost in rounding after years


class VirtualTime(asyncio.SelectorEventLoop):
    """Time stands still while anything runs, and jumps to the next deadline when all wait.

    For code without sockets or threads. A test module uses it with
    ``anyio_backend = ("asyncio", {"loop_factory": VirtualTime})``.
    """

    def __init__(self) -> None:
        self._now = 0.0
        super().__init__(_Skipping(self._skip))
        self._clock_resolution = RESOLUTION

    def time(self) -> float:
        return self._now

    def _skip(self, seconds: float) -> None:
        self._now += seconds


class _Skipping(selectors.BaseSelector):
    """A selector that passes the time instead of waiting."""

    def __init__(self, skip: Callable[[float], None]) -> None:
        self._inner = selectors.DefaultSelector()
        self._skip = skip

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = self._inner.select(None if timeout is None else 0)
        if not ready and timeout:
            self._skip(timeout)
        return ready

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._inner.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._inner.unregister(fileobj)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._inner.get_map()

    def close(self) -> None:
        self._inner.close()
