"""Runs a blocking function in worker threads, never beside one that was left running."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.to_thread

from octo_lab.core.errors import ToolFailed


class Threads:
    """One for each function. A thread cannot be stopped: a cancelled call leaves it to end.

    Until it has, the function is not run again: the two would overlap.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._left = 0

    async def __call__(self, function: Callable[[], Any]) -> Any:
        """What ``function`` gives; raises ToolFailed while an earlier call still runs."""
        if self._left:
            raise ToolFailed(
                f"{self._name!r} still runs: an earlier call was stopped, but has not ended yet",
                hint="go on without it, and try again later",
            )
        call = _Call()

        def run() -> Any:
            with self._lock:
                if call.left:
                    return None
                call.running = True
            try:
                return function()
            finally:
                with self._lock:
                    call.running = False
                    self._left -= call.left

        try:
            return await anyio.to_thread.run_sync(run, abandon_on_cancel=True)
        except anyio.get_cancelled_exc_class():
            with self._lock:
                call.left = True
                self._left += call.running
            raise


@dataclass(slots=True)
class _Call:
    """``left``: nobody waits for it any more."""

    running: bool = False
    left: bool = False
