"""One worker per session: its messages one after another, all sessions side by side."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup

from octo_lab.bus.lanes import Lanes
from octo_lab.core.errors import OctoError, Rejected
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import InboundMessage
from octo_lab.core.replies import Told
from octo_lab.session.parts import Job, RunningTurn, Stopper, TurnParts
from octo_lab.session.queue_modes import QueueMode, joins, merged, mode_of, same_person
from octo_lab.session.run import begin, run

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


@dataclass(slots=True, kw_only=True)
class _Work:
    """The job a worker is at; ``turn`` once it has begun."""

    job: Job
    stopper: Stopper = field(default_factory=Stopper)
    waiting: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    turn: RunningTurn | None = None

    @property
    def turn_id(self) -> str:
        return self.turn.row.id if self.turn else ""

    def stop(self) -> None:
        self.waiting.cancel()
        self.stopper.stop()


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkPolicy:
    """``queue`` messages wait per session, ``at_once`` turns run, a worker idles so long.

    ``mode`` is what becomes of messages that come meanwhile, where a dialog has no own mode.
    """

    queue: int = 32
    at_once: int = 10
    idle: float = 300.0
    mode: QueueMode = "followup"


class Workers:
    """Owns every running turn. ``lanes`` owns the workers, ``shows`` the deliveries."""

    def __init__(
        self,
        parts: TurnParts,
        tell: Tell,
        policy: WorkPolicy,
        *,
        lanes: TaskGroup,
        shows: TaskGroup,
    ) -> None:
        self._usual = policy.mode
        self._parts = parts
        self._tell = tell
        self._shows = shows
        self._slots = anyio.CapacityLimiter(policy.at_once)
        self._lanes: Lanes[str, Job] = Lanes(lanes, self._work, size=policy.queue, idle=policy.idle)
        self._works: dict[str, _Work] = {}
        self._stopped: deque[tuple[ChatAddress, str]] = deque(maxlen=256)
        self._closed = False
        self._idle = anyio.Event()

    @property
    def running(self) -> tuple[RunningTurn, ...]:
        return tuple(work.turn for work in self._works.values() if work.turn)

    def busy(self, session_id: str) -> bool:
        return session_id in self._works or bool(self._lanes.waiting(session_id))

    def submit(self, job: Job) -> None:
        """Give a message to its session; raises Rejected when 32 wait there already."""
        if self._closed:
            self._tell(job.message, CLOSED)
        elif (job.message.address, job.message.id) in self._stopped:
            self._tell(job.message, NOT_BEGUN)
        elif not self._steered(job):
            self._lanes.put(job.session.id, job)
            self._interrupt(job)

    def _mode(self, job: Job) -> QueueMode:
        return mode_of(job.session, self._usual)

    def _steered(self, job: Job) -> bool:
        """Whether the turn that runs there takes the message in."""
        work = self._works.get(job.session.id)
        if self._mode(job) != "steer" or work is None or work.turn is None:
            return False
        return joins(job, work.job) and work.turn.said.put(job)

    def _interrupt(self, job: Job) -> None:
        if self._mode(job) == "interrupt":
            session = job.session.id
            self._stop(lambda work: work.job.session.id == session and same_person(work.job, job))

    def stop_session(self, session_id: str, sender_id: str = "") -> int:
        """Stop the session's turn and what ``sender_id`` (``""``: anybody) has waiting there."""
        waiting = self._lanes.take(
            session_id, lambda job: not sender_id or job.message.sender_id == sender_id
        )
        self._drop(waiting, NOT_BEGUN)
        return len(waiting) + self._stop(lambda work: work.job.session.id == session_id)

    def stop_chat(self, address: ChatAddress) -> int:
        """Stop what runs in any dialog of a chat."""
        return self._stop(lambda work: _at(work.job, address))

    def stop_turn(self, address: ChatAddress, turn_id: str) -> int:
        """Stop one turn of a chat."""
        return self._stop(lambda work: _at(work.job, address) and work.turn_id == turn_id)

    def stop_message(self, address: ChatAddress, message_id: str) -> int:
        """Stop the turn of one message of a chat, even if it has not arrived yet."""

        def wanted(job: Job) -> bool:
            return _at(job, address) and job.message.id == message_id

        waiting = self._lanes.take_all(wanted)
        self._drop(waiting, NOT_BEGUN)
        stopped = self._stop(lambda work: wanted(work.job)) + len(waiting)
        if not stopped:
            self._stopped.append((address, message_id))
        return stopped

    async def close(self, seconds: float) -> None:
        """Take no more work and interrupt what runs, within so many seconds."""
        self._closed = True
        self._drop(self._lanes.take_all(lambda job: True), CLOSED)
        for work in self._works.values():
            work.waiting.cancel()
            work.stopper.stop("interrupted")
        with anyio.move_on_after(seconds):
            while self._works:
                self._idle = anyio.Event()
                await self._idle.wait()

    def _stop(self, wanted: Callable[[_Work], bool]) -> int:
        found = [work for work in self._works.values() if wanted(work)]
        for work in found:
            work.stop()
        return len(found)

    def _drop(self, jobs: list[Job], told: Told) -> None:
        for job in jobs:
            self._tell(job.message, told)

    async def _work(self, session_id: str, job: Job) -> None:
        work = self._works[session_id] = _Work(job=self._collected(job))
        try:
            await self._when_free(work)
        except OctoError as exc:
            self._tell(job.message, Told(text=exc.message, failed=True, hint=exc.hint))
        except Exception:
            logger.exception("message %s failed", job.message.id)
            self._tell(job.message, FAILED)
        finally:
            del self._works[session_id]
            self._idle.set()

    async def _when_free(self, work: _Work) -> None:
        with work.waiting:
            await self._slots.acquire()
        if work.waiting.cancelled_caught:
            self._tell(work.job.message, CLOSED if self._closed else NOT_BEGUN)
            return
        try:
            await self._take_turn(work)
        finally:
            self._slots.release()

    def _collected(self, job: Job) -> Job:
        """The job, with what waits behind it and can be answered together with it."""
        if self._mode(job) != "collect":
            return job
        others = self._lanes.take(job.session.id, lambda other: joins(other, job))
        self._drop(others, TOGETHER)
        message = merged(job.message, [other.message for other in others])
        return Job(message=message, session=job.session)

    async def _take_turn(self, work: _Work) -> None:
        turn = await begin(self._parts, work.job, work.stopper, self._read)
        work.turn = turn
        channel = work.job.message.address.channel
        logger.info("turn %s: %s answers %s", turn.row.id, type(turn.controller).__name__, channel)
        self._shows.start_soon(self._parts.show, work.job.message, turn.controller.latest)
        try:
            await run(self._parts, turn)
        finally:
            work.turn = None
            self._put_back(turn)

    def _read(self, job: Job) -> None:
        self._tell(job.message, READ)

    def _put_back(self, turn: RunningTurn) -> None:
        """What the turn did not read gets a turn of its own."""
        for job in turn.said.rest():
            if self._closed or turn.stopper.state == "cancelled":
                self._tell(job.message, CLOSED if self._closed else NOT_BEGUN)
                continue
            try:
                self._lanes.put(job.session.id, job)
            except Rejected as exc:
                self._tell(job.message, rejected(exc))


def _at(job: Job, address: ChatAddress) -> bool:
    return job.message.address == address


def rejected(exc: Rejected) -> Told:
    """A full queue, in words."""
    return Told(text=exc.message, failed=True, hint=exc.hint)
