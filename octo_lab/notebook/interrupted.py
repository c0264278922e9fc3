"""An interrupt of the kernel while a turn was awaited: one line, no traceback."""

from __future__ import annotations


class TurnInterrupted(KeyboardInterrupt):
    """Ends the rest of a cell after its turn was stopped; IPython shows one line of it."""

    def _render_traceback_(self) -> list[str]:
        return ["Interrupted: the turn was stopped, what it said so far is kept."]
