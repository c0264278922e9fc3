"""Asks several models at once; the first that begins to answer is kept."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

import anyio

from octo_lab.core.errors import OctoError, ProviderError
from octo_lab.core.messages import ChatRequest
from octo_lab.core.stream import StreamEvent
from octo_lab.llm.provider import Events
from octo_lab.llm.resilience.begun import begins
from octo_lab.llm.resilience.relay import Failure
from octo_lab.llm.resilience.slot import Slot

CLOSING_SECONDS = 2.0


@dataclass(slots=True)
class Runner:
    """One contender: ``head`` is what has come of its answer, the rest stays in ``events``."""

    slot: Slot
    events: Events
    head: list[StreamEvent] = field(default_factory=list)


class Race:
    """Who began first, and who failed, in that order."""

    def __init__(self, slots: Sequence[Slot], request: ChatRequest, within: float) -> None:
        self.winner: Runner | None = None
        self.failures: list[Failure] = []
        self._unusable: OctoError | None = None
        self._runners = [Runner(slot, slot.ask(request, within)) for slot in slots]

    async def run(self) -> None:
        """Returns when one has begun or all have failed.

        Then all connections but the winner's are closed; ``won`` goes on with that one. Losers are
        cancelled, and so not counted. Raises the error of a request that cannot be asked, unless
        another answers.
        """
        whole = False
        try:
            async with anyio.create_task_group() as tasks:
                for runner in self._runners:
                    tasks.start_soon(self._run, runner, tasks.cancel_scope)
            whole = True
        finally:
            kept = self.winner if whole else None
            with anyio.move_on_after(CLOSING_SECONDS, shield=True):
                for runner in self._runners:
                    if runner is not kept:
                        await runner.events.aclose()
        if self._unusable is not None and self.winner is None:
            raise self._unusable

    async def won(self) -> Events:
        """The winner's answer, after a remark on each that failed before it began."""
        assert self.winner is not None, "nobody has won"
        async with aclosing(self.winner.events) as events:
            for failure in self.failures:
                yield failure.remark(self.winner.slot)
            for event in self.winner.head:
                yield event
            async for event in events:
                yield event

    async def _run(self, runner: Runner, all_of_them: anyio.CancelScope) -> None:
        try:
            async for event in runner.events:
                runner.head.append(event)
                if begins(event):
                    self.winner = self.winner or runner
                    all_of_them.cancel()
                    return
        except ProviderError as exc:
            self.failures.append(Failure(runner.slot, exc))
        except OctoError as exc:
            self._unusable = exc
