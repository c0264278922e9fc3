"""How long a turn and its model may take, and how long they may be silent."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import anyio

from octo_lab.core.errors import TimedOut
from octo_lab.core.events import Decision
from octo_lab.tools.tool import Approver, Question

_SLACK = 0.02  # a deadline is moved this seldom, and set so much later: hearing costs no timer


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Seconds of silence a model is allowed.

    Until its answer begins: ``base`` and one for each ``tokens_per_second`` of the input, at most
    ``most``; within the answer: ``between``.
    """

    base: float = 30.0
    tokens_per_second: float = 1000.0
    most: float = 180.0
    between: float = 30.0

    def first(self, tokens: int) -> float:
        return min(self.most, self.base + tokens / self.tokens_per_second)


LOADING = Patience(base=math.inf, most=math.inf, between=120.0)
"""For a model of this machine: loading it may take any time, and the machine may be slow."""
THINKING = Patience(base=180.0, between=180.0)
"""For a model that thinks before it says anything, and shows nothing of it."""
SHARED = Patience(base=math.inf, most=math.inf)
"""For several models that share the work: they have a patience of their own until one begins."""


def _clock() -> Callable[[], float]:
    """The time of the loop, also where no task runs: in a callback from a thread."""
    return asyncio.get_running_loop().time


class Silence:
    """Ends ``scope`` when for so many seconds nothing was heard, or up to 2 % later."""

    def __init__(self, patience: Patience, tokens: int) -> None:
        self.scope = anyio.CancelScope()
        self._between = patience.between
        self._most = patience.most
        self._now = _clock()
        self._stale = -math.inf
        self._wait(patience.first(tokens))

    def heard(self) -> None:
        """A part of the answer came."""
        now = self._now()
        if now >= self._stale:
            self._seconds = self._between
            self._arm(now)
            self._stale = now + self._seconds * _SLACK

    def told_to_wait(self) -> None:
        """A wait was announced, as before a request is tried again."""
        self._wait(self._most)

    def error(self, name: str) -> TimedOut:
        return TimedOut(
            f"{name!r} sent nothing for {self._seconds:.0f} s",
            hint="try again, or choose another model",
        )

    def _wait(self, seconds: float) -> None:
        """So long until something is heard, which moves the deadline at once."""
        self._seconds = seconds
        self._stale = -math.inf
        self._arm(self._now())

    def _arm(self, now: float) -> None:
        self.scope.deadline = now + self._seconds * (1 + _SLACK)


class TurnClock:
    """Ends ``scope`` when the turn's time is over, or nothing happened for ``idle`` seconds."""

    def __init__(self, seconds: float, idle: float) -> None:
        self.scope = anyio.CancelScope()
        self._idle = idle
        self._now = _clock()
        self._end = self._now() + seconds
        self._paused = 0
        self._left = 0.0
        self._arm(self._now())

    @property
    def expired(self) -> Literal["seconds", "idle"]:
        """Which of the two ended the scope."""
        return "idle" if self._heard + self._idle < self._end else "seconds"

    def heard(self) -> None:
        """Something happened."""
        now = self._now()
        if now > self._stale:
            self._arm(now)

    def pause(self) -> None:
        if self._paused == 0:
            self._left = self._end - self._now()
            self.scope.deadline = self._stale = math.inf
        self._paused += 1

    def resume(self) -> None:
        self._paused -= 1
        if self._paused == 0:
            now = self._now()
            self._end = now + self._left
            self._arm(now)

    def _arm(self, now: float) -> None:
        self._heard = now
        self._stale = now + self._idle * _SLACK
        self.scope.deadline = min(self._end, now + self._idle * (1 + _SLACK))


class Untimed:
    """An approver that stops the clock of the turn while at least one question is open."""

    def __init__(self, approver: Approver, clock: TurnClock) -> None:
        self._approver = approver
        self._clock = clock

    async def approve(self, question: Question) -> Decision:
        self._clock.pause()
        try:
            return await self._approver.approve(question)
        finally:
            self._clock.resume()
