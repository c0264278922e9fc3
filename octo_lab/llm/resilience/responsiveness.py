"""Notices when answers become slow, and lets two models race until they are prompt again."""

from __future__ import annotations

import statistics
import time
from collections import deque
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass

from octo_lab.core.messages import ChatRequest
from octo_lab.core.replies import SlotInfo
from octo_lab.core.stream import Remarked
from octo_lab.llm.provider import Events
from octo_lab.llm.resilience.adaptive import Adaptive
from octo_lab.llm.resilience.begun import begins
from octo_lab.llm.resilience.circuit import Clock
from octo_lab.llm.resilience.policy import Mode

SLOW = "⚡ Answers have become slow: two models are asked at once now, the first to begin answers"
PROMPT = "⚡ Answers are prompt again: one model is asked at a time"


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserverPolicy:
    """The baseline is the median of the first ``learn`` samples, and every ``window`` samples
    takes ``adapt`` of their median. A sample is slow above ``factor`` times the baseline.
    """

    window: int = 20
    learn: int = 5
    factor: float = 3.0
    patience: int = 3
    adapt: float = 0.2


class Observer:
    """``slow`` after three slow samples in a row, until one that is not."""

    def __init__(self, policy: ObserverPolicy = ObserverPolicy()) -> None:
        self.slow = False
        self.baseline: float | None = None
        self._policy = policy
        self._samples: deque[float] = deque(maxlen=policy.window)
        self._seen = 0
        self._run = 0

    def feed(self, seconds: float) -> None:
        """Take in how long an answer took to begin."""
        policy = self._policy
        self._samples.append(seconds)
        self._seen += 1
        if self.baseline is None:
            if self._seen == policy.learn:
                self.baseline = statistics.median(self._samples)
            return
        self._run = self._run + 1 if seconds > policy.factor * self.baseline else 0
        self.slow = self._run > 0 and (self.slow or self._run >= policy.patience)
        if self._seen % policy.window == 0:
            recent = statistics.median(self._samples)
            self.baseline += policy.adapt * (recent - self.baseline)


@dataclass(frozen=True, slots=True, kw_only=True)
class CeilingPolicy:
    """Slow when the last ``window`` answers took more than ``ceiling`` seconds on average to
    begin, until that is below ``recovery`` of it.
    """

    window: int = 5
    ceiling: float = 8.0
    recovery: float = 0.6


class Ceiling:
    """``slow`` by an absolute measure: also when it never was better."""

    def __init__(self, policy: CeilingPolicy = CeilingPolicy()) -> None:
        self.slow = False
        self._policy = policy
        self._samples: deque[float] = deque(maxlen=policy.window)

    def feed(self, seconds: float) -> None:
        """Take in how long an answer took to begin."""
        policy = self._policy
        self._samples.append(seconds)
        if len(self._samples) == policy.window:
            limit = policy.ceiling * (policy.recovery if self.slow else 1.0)
            self.slow = statistics.fmean(self._samples) > limit


class Responsive:
    """Wraps a router: hedges while answers are slow. Where a person chose a mode, it is left out.

    The person is told both times; ``changed`` is called with whether answers are slow.
    """

    def __init__(
        self,
        router: Adaptive,
        *,
        observer: Observer | None = None,
        ceiling: Ceiling | None = None,
        clock: Clock = time.monotonic,
        changed: Callable[[bool], None] = lambda slow: None,
    ) -> None:
        self.router = router
        self._observer = observer or Observer()
        self._ceiling = ceiling or Ceiling()
        self._clock = clock
        self._changed = changed
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
        self._observer.feed(seconds)
        self._ceiling.feed(seconds)
        slow = self._observer.slow or self._ceiling.slow
        if slow == self._slow:
            return ""
        self._slow = slow
        self._changed(slow)
        if slow:
            return SLOW if self.router.escalate() else ""
        return PROMPT if self.router.relax() else ""
