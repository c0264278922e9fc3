"""Notices when answers become slow, and lets two models race until they are prompt again."""

from __future__ import annotations

import time
from contextlib import aclosing

from octo_lab.core.messages import ChatRequest
from octo_lab.core.replies import SlotInfo
from octo_lab.core.stream import Remarked
from octo_lab.llm.provider import Events
from octo_lab.llm.resilience.adaptive import Adaptive
from octo_lab.llm.resilience.begun import begins
from octo_lab.llm.resilience.circuit import Clock
from octo_lab.llm.resilience.pace import Pace
from octo_lab.llm.resilience.policy import Mode

SLOW = "⚡ Answers have become slow: two models are asked at once now, the first to begin answers"
PROMPT = "⚡ Answers are prompt again: one model is asked at a time"


class Responsive:
    """Wraps a router: hedges while answers are slow. Where a person chose a mode, it is left out.

    The person is told both times.
    """

    def __init__(
        self,
        router: Adaptive,
        *,
        clock: Clock = time.monotonic,
    ) -> None:
        self.router = router
        self._pace = Pace()
        self._clock = clock
        self._slow = False

    @property
    def name(self) -> str:
        return self.router.name

    @property
    def model(self) -> str:
        return self.router.model

    @property
    def mode(self) -> Mode:
        return self.router.mode

    def metrics(self) -> tuple[SlotInfo, ...]:
        return self.router.metrics()

    async def stream(self, request: ChatRequest) -> Events:
        began = self._clock()
        begun = False
        async with aclosing(self.router.stream(request)) as events:
            async for event in events:
                if not begun and begins(event):
                    begun = True
                    if note := self._note(self._clock() - began):
                        yield Remarked(note)
                yield event

    def _note(self, seconds: float) -> str:
        self._pace.feed(seconds)
        slow = self._pace.slow
        if slow == self._slow:
            return ""
        self._slow = slow
        if slow:
            return SLOW if self.router.escalate() else ""
        return PROMPT if self.router.relax() else ""
