"""Answers what waits behind a slow turn beside it, from what was said before that turn."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import anyio
from anyio.abc import TaskGroup

from octo_lab.bus.lanes import Lanes
from octo_lab.core.replies import Told
from octo_lab.session.job import Job
from octo_lab.session.queue_modes import loose
from octo_lab.session.working import Work, Working

MOST = 5
BUSY = Told(
    text=f"{MOST} messages are answered here already while a slow turn runs: this was not asked",
    failed=True,
    hint="ask it again when one of them is done, or `/stop`",
)
BESIDE = "Answered beside the running turn: it knows what was said before that turn, no more."


class Speculation:
    """Watches slow turns, one task for each; in order, at most 5 beside one dialog's turn.

    ``wants`` tells which messages are to be answered so.
    """

    def __init__(
        self,
        tasks: TaskGroup,
        working: Working,
        lanes: Lanes[str, Job],
        wants: Callable[[Job], bool],
    ) -> None:
        self._tasks = tasks
        self._working = working
        self._lanes = lanes
        self._wants = wants
        self._watched: dict[str, Work] = {}

    def expect(self, job: Job, patience: float) -> None:
        """A message waits in its dialog: it does so for so many seconds of the turn there."""
        session = job.session.id
        main = self._working.main(session)
        if main is None:
            return
        if self._watched.get(session) is main:
            main.move()
            return
        self._watched[session] = main
        self._tasks.start_soon(self._watch, main, patience)

    async def _watch(self, main: Work, patience: float) -> None:
        session = main.job.session.id
        try:
            with anyio.move_on_after(main.since + patience - time.monotonic()):
                while not main.over:
                    await main.moved.wait()
            while not main.over:
                moved = main.moved
                if main.turn is None or not await self._next(main, session):
                    await moved.wait()
        finally:
            if self._watched.get(session) is main:
                del self._watched[session]

    async def _next(self, main: Work, session: str) -> bool:
        """Answer the first that may be; whether there was one."""
        waiting = self._lanes.waiting(session)
        job = next((job for job in waiting if loose(job) and self._wants(job)), None)
        if job is None:
            return False
        self._lanes.take(session, lambda other: other is job)
        if self._working.beside(session) >= MOST:
            self._working.tell(job, BUSY)
            return True
        side = self._working.take_on(_noticed(job), main.turn)
        begun = side.moved
        self._tasks.start_soon(self._working.do, side)
        await begun.wait()  # the next one is asked after it
        return True


def _noticed(job: Job) -> Job:
    message = job.message
    return replace(job, message=replace(message, notices=(*message.notices, BESIDE)))
