"""An event loop that stops something at a chosen step of all the tasks it runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context
from typing import TypeVarTuple

Ts = TypeVarTuple("Ts")


class Stepping(asyncio.SelectorEventLoop):
    """``watch`` begins to count callbacks; after the chosen one ``stop`` is called, once."""

    def __init__(self) -> None:
        super().__init__()
        self.steps = 0
        self._at = 0
        self._stop: Callable[[], None] | None = None

    def watch(self, at: int, stop: Callable[[], None]) -> None:
        self.steps, self._at, self._stop = 0, at, stop

    def ended(self) -> bool:
        """Count no more; whether the end came before the chosen step."""
        unused, self._stop = self._stop is not None, None
        return unused

    def call_soon(
        self,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.Handle:
        handle = super().call_soon(callback, *args, context=context)
        if self._stop is not None:
            self.steps += 1
            if self.steps == self._at:
                stop, self._stop = self._stop, None
                super().call_soon(stop)
        return handle
