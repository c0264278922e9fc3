"""Cells that the agent proposed and that wait for what a person makes of them."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio

from octo_lab.core.mail import AnswerProposal
from octo_lab.core.replies import Told

SEEN_SECONDS = 3.0  # for a front end to show a card whose buttons work
ANSWER_SECONDS = 240.0  # for the person to decide


@dataclass(slots=True)
class _Open:
    shown: anyio.Event = field(default_factory=anyio.Event)
    answered: anyio.Event = field(default_factory=anyio.Event)
    answer: AnswerProposal | None = None


class Proposals:
    """Belongs to the runtime's loop; each is known by the id of its call."""

    def __init__(
        self, seen_seconds: float = SEEN_SECONDS, answer_seconds: float = ANSWER_SECONDS
    ) -> None:
        self._seen_seconds = seen_seconds
        self._answer_seconds = answer_seconds
        self._open: dict[str, _Open] = {}

    async def ask(self, call_id: str) -> AnswerProposal | None:
        """What the person did; ``shown`` when they did nothing in time, None when no face that
        has buttons shows it.
        """
        if call_id in self._open:
            return None
        waiting = self._open[call_id] = _Open()
        try:
            with anyio.move_on_after(self._seen_seconds):
                await waiting.shown.wait()
            if not waiting.shown.is_set():
                return None
            with anyio.move_on_after(self._answer_seconds):
                await waiting.answered.wait()
            return waiting.answer or AnswerProposal(call_id=call_id, answer="shown")
        finally:
            del self._open[call_id]

    async def take(self, answer: AnswerProposal) -> Told:
        """Hear of a proposal; the first answer counts."""
        waiting = self._open.get(answer.call_id)
        if waiting is None or waiting.answered.is_set():
            return Told(text="This proposal was answered already.", failed=True)
        waiting.shown.set()
        if answer.answer != "shown":
            waiting.answer = answer
            waiting.answered.set()
        return Told(text=answer.answer)
