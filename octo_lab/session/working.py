"""Everything that is worked at: from a free place, through one turn, to its end."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup

from octo_lab.core.errors import OctoError
from octo_lab.core.mail import InboundMessage
from octo_lab.core.replies import Told
from octo_lab.session.begin import begin
from octo_lab.session.job import Job
from octo_lab.session.parts import RunningTurn, Stopper, TurnParts
from octo_lab.session.run import run

Tell = Callable[[InboundMessage, Told], None]

NOT_BEGUN = Told(text="Stopped before it began.")
READ = Told(text="Read by the running turn.")
TOGETHER = Told(text="Answered together with the message before it.")
CLOSED = Told(text="octo_lab is closing; this was not asked", failed=True, hint="ask it again")
FAILED = Told(
    text="This failed inside octo_lab",
    failed=True,
    hint="see the log in the data folder",
)

logger = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True, eq=False)
class Work:
    """A job that is worked at; ``turn`` once it has begun, which ``moved`` tells, as it tells
    the end, after which it is ``over``. ``beside`` is the turn that it is answered beside.
    """

    job: Job
    beside: RunningTurn | None = None
    since: float = field(default_factory=time.monotonic)
    stopper: Stopper = field(default_factory=Stopper)
    waiting: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    turn: RunningTurn | None = None
    moved: anyio.Event = field(default_factory=anyio.Event)
    over: bool = False

    @property
    def turn_id(self) -> str:
        return self.turn.row.id if self.turn else ""

    def stop(self) -> None:
        self.waiting.cancel()
        self.stopper.stop()

    def move(self) -> None:
        """Wake who waits for news of it."""
        self.moved.set()
        self.moved = anyio.Event()


class Working:
    """Owns every running turn, of which at most ``at_once`` run; ``shows`` owns the deliveries."""

    def __init__(self, parts: TurnParts, tell: Tell, *, at_once: int, shows: TaskGroup) -> None:
        self._parts = parts
        self._tell = tell
        self._shows = shows
        self._slots = anyio.CapacityLimiter(at_once)
        self._works: list[Work] = []
        self._idle = anyio.Event()
        self.closed = False

    @property
    def works(self) -> tuple[Work, ...]:
        return tuple(self._works)

    def main(self, session_id: str) -> Work | None:
        """What the dialog's own worker is at."""
        own = (work for work in self._works if work.job.session.id == session_id)
        return next((work for work in own if work.beside is None), None)

    def beside(self, session_id: str) -> int:
        """How many are answered beside that."""
        own = (work for work in self._works if work.job.session.id == session_id)
        return sum(work.beside is not None for work in own)

    def stop(self, wanted: Callable[[Work], bool]) -> int:
        found = [work for work in self._works if wanted(work)]
        for work in found:
            work.stop()
        return len(found)

    async def close(self, seconds: float) -> None:
        """Interrupt what runs, within so many seconds."""
        self.closed = True
        for work in self._works:
            work.waiting.cancel()
            work.stopper.stop("interrupted")
        with anyio.move_on_after(seconds):
            while self._works:
                self._idle = anyio.Event()
                await self._idle.wait()

    def tell(self, job: Job, told: Told) -> None:
        """Tell all who wait for a job."""
        for message in job.messages:
            self._tell(message, told)

    def take_on(self, job: Job, beside: RunningTurn | None = None) -> Work:
        """From now on it can be stopped; ``do`` must follow."""
        work = Work(job=job, beside=beside)
        self._works.append(work)
        return work

    async def do(self, work: Work, ready: Callable[[Job], Job] = lambda job: job) -> None:
        """Answer it; what goes wrong is told. ``ready`` makes the job what it is when it begins."""
        try:
            await self._when_free(work, ready)
        except OctoError as exc:
            self.tell(work.job, Told(text=exc.message, failed=True, hint=exc.hint))
        except Exception:
            logger.exception("message %s failed", work.job.message.id)
            self.tell(work.job, FAILED)
        finally:
            self._works.remove(work)
            work.over = True
            work.move()
            self._idle.set()

    async def _when_free(self, work: Work, ready: Callable[[Job], Job]) -> None:
        with work.waiting:
            await self._slots.acquire_on_behalf_of(work)
        if work.waiting.cancelled_caught:
            self.tell(work.job, CLOSED if self.closed else NOT_BEGUN)
            return
        try:
            work.job = ready(work.job)
            await self._take_turn(work)
        finally:
            self._slots.release_on_behalf_of(work)

    async def _take_turn(self, work: Work) -> None:
        turn = await begin(self._parts, work.job, work.stopper, self._read, work.beside)
        work.turn = turn
        work.move()
        for other in work.job.others:
            self._tell(other, TOGETHER)
        message = work.job.message
        logger.info("turn %s answers a message of %s", turn.row.id, message.address.channel)
        self._shows.start_soon(self._parts.show, message, turn.controller.latest)
        await run(self._parts, turn)

    def _read(self, job: Job) -> None:
        self.tell(job, READ)
