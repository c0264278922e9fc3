"""What the loop asks of parts that it does not know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from octo_lab.core.messages import ChatRequest, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """The messages of a request as they are sent; ``note`` is one line for the person, or ''."""

    messages: Sequence[Message]
    note: str = ""


class Compactor(Protocol):
    """Keeps requests within the model's window. Made anew for each turn."""

    async def compact(self, request: ChatRequest, *, refused: int) -> Compacted:
        """What to send instead of ``request.messages``; the very same ones when they fit.

        Called before every request of the turn with everything there is: the system message,
        the history, the person's message and the turn's own steps, never with what it gave back
        before. ``refused`` counts how often a server said in this turn that the input is too
        long: from the first time on, estimates are not to be trusted and less must be sent than
        the last time. The person's last message stays, and so does each call beside its result.
        What is stored is not touched. Raises no OctoError.
        """
        ...


class Uncut:
    """The compactor where there is none: every request is sent whole."""

    async def compact(self, request: ChatRequest, *, refused: int) -> Compacted:
        return Compacted(messages=request.messages)


UNCUT = Uncut()
