"""An interrupt of the kernel while a turn was waited for: one line, no traceback."""

from __future__ import annotations

import asyncio

LINE = "Interrupted: the turn was stopped, what it said so far is kept."


class TurnInterrupted(KeyboardInterrupt):
    """Ends the rest of a cell that blocked for a turn; IPython shows one line of it."""

    def _render_traceback_(self) -> list[str]:
        return [LINE]


class TurnCancelled(asyncio.CancelledError):
    """The same where the turn was awaited: a cancelled task stays cancelled."""

    def _render_traceback_(self) -> list[str]:
        return [LINE]
