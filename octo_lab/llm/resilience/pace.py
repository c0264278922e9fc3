"""Whether answers are slow to begin, whoever gives them."""

from __future__ import annotations

import statistics
import time
from collections import deque
from contextlib import aclosing
from dataclasses import dataclass

from octo_lab.core.messages import ChatRequest
from octo_lab.llm.provider import Events, Provider
from octo_lab.llm.resilience.begun import begins
from octo_lab.llm.resilience.circuit import Clock


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


class Pace:
    """``slow`` while answers take much longer to begin than usual, or long at all.

    Who answers within ``least`` seconds is not slow, however prompt it was before.
    """

    def __init__(self, least: float = 0.0) -> None:
        self._least = least
        self._observer = Observer()
        self._ceiling = Ceiling()

    @property
    def slow(self) -> bool:
        return self._observer.slow or self._ceiling.slow

    def feed(self, seconds: float) -> None:
        """Take in how long an answer took to begin."""
        self._observer.feed(max(seconds, self._least))
        self._ceiling.feed(seconds)


class Paced:
    """Wraps any provider: ``pace`` is told how long each of its answers takes to begin."""

    def __init__(self, inner: Provider, pace: Pace, clock: Clock = time.monotonic) -> None:
        self._inner = inner
        self._pace = pace
        self._clock = clock

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def model(self) -> str:
        return self._inner.model

    async def stream(self, request: ChatRequest) -> Events:
        began: float | None = self._clock()
        async with aclosing(self._inner.stream(request)) as events:
            async for event in events:
                if began is not None and begins(event):
                    self._pace.feed(self._clock() - began)
                    began = None
                yield event
