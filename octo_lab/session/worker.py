"""One worker per session: its messages one after another, all sessions side by side."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

from anyio.abc import TaskGroup

from octo_lab.bus.lanes import Lanes
from octo_lab.core.errors import Rejected
from octo_lab.core.keys import ChatAddress
from octo_lab.core.replies import Told
from octo_lab.llm.resilience.pace import Observer
from octo_lab.session.overflow import PUSHED_OUT, Overflow, room_for, shortened
from octo_lab.session.parts import Job, RunningTurn, TurnParts
from octo_lab.session.queue_modes import QueueMode, joins, mode_of, same_person, together
from octo_lab.session.speculation import Speculation
from octo_lab.session.working import CLOSED, FAILED, NOT_BEGUN, Tell, Work, Working

__all__ = ["FAILED", "Tell", "WorkPolicy", "Workers", "rejected"]

ESCALATED = (
    "⚡ Answers have become slow: as long as they are, what waits is answered at the same time."
    " `/queue followup` lets it wait."
)
_QUICK = 10.0
_UNKNOWN = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkPolicy:
    """``queue`` messages wait per session, ``at_once`` turns run, a worker idles so long.

    ``mode`` is what becomes of messages that come meanwhile, where a dialog has no own mode;
    ``escalates``: nobody chose it, so slow answers may. ``overflow`` is what becomes of those that
    the queue does not take. A turn is slow after ``patience`` seconds; None: twice as long as they
    usually take, and at least 10 s.
    """

    queue: int = 32
    at_once: int = 10
    idle: float = 300.0
    mode: QueueMode = "followup"
    escalates: bool = True
    overflow: Overflow = "reject"
    patience: float | None = None


class Workers:
    """Gives each session's messages to its turns, as the session's mode has it. ``lanes`` owns the
    workers, ``shows`` the deliveries.
    """

    def __init__(
        self,
        parts: TurnParts,
        tell: Tell,
        policy: WorkPolicy,
        *,
        lanes: TaskGroup,
        shows: TaskGroup,
    ) -> None:
        self._policy = policy
        self._pace = parts.pace
        self._room = room_for(policy.queue, policy.overflow)
        self._working = Working(parts, tell, at_once=policy.at_once, shows=shows)
        self._lanes: Lanes[str, Job] = Lanes(lanes, self._work, size=self._room, idle=policy.idle)
        self._speculation = Speculation(lanes, self._working, self._lanes, self._speculative)
        self._turns = Observer()
        self._told_slow: set[str] = set()
        self._stopped: deque[tuple[ChatAddress, str]] = deque(maxlen=256)

    @property
    def running(self) -> tuple[RunningTurn, ...]:
        return tuple(work.turn for work in self._working.works if work.turn)

    @property
    def usual(self) -> QueueMode:
        """The mode of dialogs that have none of their own."""
        return "speculative" if self.escalated else self._policy.mode

    @property
    def escalated(self) -> bool:
        """Whether that is another one than usual, for as long as answers are slow."""
        return self._policy.escalates and self._pace.slow

    def busy(self, session_id: str) -> bool:
        works = self._working.works
        return any(work.job.session.id == session_id for work in works) or bool(
            self._lanes.waiting(session_id)
        )

    def waiting(self, session_id: str) -> int:
        """How many messages wait there; those that will be answered together count each."""
        return sum(len(job.messages) for job in self._lanes.waiting(session_id))

    def answering(self, session_id: str) -> int:
        """How many messages the turns that run there answer."""
        works = (work for work in self._working.works if work.turn)
        return sum(len(work.job.messages) for work in works if work.job.session.id == session_id)

    def submit(self, job: Job) -> None:
        """Give a message to its session; raises Rejected when too many wait there already."""
        if self._working.closed:
            self._working.tell(job, CLOSED)
        elif (job.message.address, job.message.id) in self._stopped:
            self._working.tell(job, NOT_BEGUN)
        elif not self._steered(job):
            job = self._told_of_slowness(job)
            self._put(job)
            self._interrupt(job)
            self._speculate(job)

    def _mode(self, job: Job) -> QueueMode:
        return mode_of(job.session, self.usual)

    def _put(self, job: Job) -> None:
        session = job.session.id
        waiting = self._lanes.waiting(session)
        if len(waiting) >= self._room and self._policy.overflow == "old":
            self._drop(self._lanes.take(session, lambda other: other is waiting[0]), PUSHED_OUT)
        elif len(waiting) >= self._room and self._policy.overflow == "summarize":
            self._lanes.rearrange(session, shortened(waiting))
        self._lanes.put(session, job)

    def _steered(self, job: Job) -> bool:
        """Whether the turn that runs there takes the message in."""
        work = self._working.main(job.session.id)
        if self._mode(job) != "steer" or work is None or work.turn is None:
            return False
        return joins(job, work.job) and work.turn.said.put(job)

    def _interrupt(self, job: Job) -> None:
        if self._mode(job) == "interrupt":
            session = job.session.id
            self._working.stop(
                lambda work: work.job.session.id == session and same_person(work.job, job)
            )

    def _speculative(self, job: Job) -> bool:
        return self._mode(job) == "speculative"

    def _speculate(self, job: Job) -> None:
        if self._speculative(job):
            self._speculation.expect(job, self._patience())

    def _told_of_slowness(self, job: Job) -> Job:
        """Once in each dialog whose mode is another for as long as answers are slow."""
        if not self.escalated:
            self._told_slow.clear()
            return job
        session = job.session.id
        if self._mode(job) == mode_of(job.session, self._policy.mode) or session in self._told_slow:
            return job
        self._told_slow.add(session)
        notices = (*job.message.notices, ESCALATED)
        return replace(job, message=replace(job.message, notices=notices))

    def _patience(self) -> float:
        if self._policy.patience is not None:
            return self._policy.patience
        baseline = self._turns.baseline
        return _UNKNOWN if baseline is None else max(2 * baseline, _QUICK)

    def stop_session(self, session_id: str, sender_id: str = "") -> int:
        """Stop the session's turns and what ``sender_id`` (``""``: anybody) has waiting there."""
        waiting = self._lanes.take(
            session_id, lambda job: not sender_id or job.message.sender_id == sender_id
        )
        self._drop(waiting, NOT_BEGUN)
        stopped = self._working.stop(lambda work: work.job.session.id == session_id)
        return len(waiting) + stopped

    def stop_chat(self, address: ChatAddress) -> int:
        """Stop what runs in any dialog of a chat."""
        return self._working.stop(lambda work: _at(work.job, address))

    def stop_turn(self, address: ChatAddress, turn_id: str) -> int:
        """Stop one turn of a chat."""
        return self._working.stop(lambda work: _at(work.job, address) and work.turn_id == turn_id)

    def stop_message(self, address: ChatAddress, message_id: str) -> int:
        """Stop the turn of one message of a chat, even if it has not arrived yet."""

        def wanted(job: Job) -> bool:
            ids = (message.id for message in job.messages)
            return _at(job, address) and message_id in ids

        waiting = self._lanes.take_all(wanted)
        self._drop(waiting, NOT_BEGUN)
        stopped = self._working.stop(lambda work: wanted(work.job)) + len(waiting)
        if not stopped:
            self._stopped.append((address, message_id))
        return stopped

    async def close(self, seconds: float) -> None:
        """Take no more work and interrupt what runs, within so many seconds."""
        self._working.closed = True
        self._drop(self._lanes.take_all(lambda job: True), CLOSED)
        await self._working.close(seconds)

    def _drop(self, jobs: list[Job], told: Told) -> None:
        for job in jobs:
            self._working.tell(job, told)

    async def _work(self, session_id: str, job: Job) -> None:
        work = self._working.take_on(job)
        for other in self._lanes.waiting(session_id):
            self._speculate(other)
        try:
            await self._working.do(work, self._collected)
        finally:
            self._ended(work)

    def _collected(self, job: Job) -> Job:
        """The job, with what waits behind it and can be answered together with it.

        Each waits in the mode that held when it came.
        """
        if self._mode(job) != "collect" or job.message.task is not None:
            return job

        def collected(other: Job) -> bool:
            return self._mode(other) == "collect" and joins(other, job)

        return together(job, self._lanes.take(job.session.id, collected))

    def _ended(self, work: Work) -> None:
        """What the turn did not read gets a turn of its own."""
        turn = work.turn
        if turn is None:
            return
        if (seconds := turn.controller.snapshot().seconds) is not None:
            self._turns.feed(seconds)
        for job in turn.said.rest():
            if self._working.closed or turn.stopper.state == "cancelled":
                self._working.tell(job, CLOSED if self._working.closed else NOT_BEGUN)
                continue
            try:
                self._lanes.put(job.session.id, job)
            except Rejected as exc:
                self._working.tell(job, rejected(exc))


def _at(job: Job, address: ChatAddress) -> bool:
    return job.message.address == address


def rejected(exc: Rejected) -> Told:
    """A full queue, in words."""
    return Told(text=exc.message, failed=True, hint=exc.hint)
