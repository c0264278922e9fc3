"""What a person says to a turn that runs, until its model reads it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from octo_lab.core.messages import Message
from octo_lab.session.ask import user_message
from octo_lab.session.job import Job

MOST = 20


def ignore(job: Job) -> None:
    """For who need not know what was read."""


class SteerBox:
    """Holds up to 20 messages; ``taken`` is called with each that the model reads, whose ids are
    ``read``.
    """

    def __init__(self, taken: Callable[[Job], None] = ignore) -> None:
        self._jobs: deque[Job] = deque()
        self._taken = taken
        self.read: list[str] = []

    @property
    def waiting(self) -> bool:
        return bool(self._jobs)

    def put(self, job: Job) -> bool:
        """Whether there was room."""
        if len(self._jobs) >= MOST:
            return False
        self._jobs.append(job)
        return True

    def take(self) -> Sequence[Message]:
        jobs = self.rest()
        for job in jobs:
            self._taken(job)
            self.read.append(job.message.id)
        return [user_message(job.message) for job in jobs]

    def rest(self) -> list[Job]:
        """What nobody has read, which is taken out."""
        jobs = list(self._jobs)
        self._jobs.clear()
        return jobs
