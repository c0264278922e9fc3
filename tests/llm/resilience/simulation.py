"""A simulation of routing in virtual time: models with latencies and troubles, many requests."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

import anyio

from octo_lab.core.errors import OctoError, ProviderError, Unavailable
from octo_lab.core.stream import TextDelta
from octo_lab.llm.provider import Provider
from octo_lab.llm.resilience.adaptive import Adaptive
from octo_lab.llm.resilience.policy import Mode
from octo_lab.llm.resilience.scores import percentile
from tests.llm.resilience.models import REQUEST, Trace, slot

Fails = Callable[[float], ProviderError | None]


@dataclass(slots=True)
class Figures:
    """What people saw: seconds until each answer began, who answered, how many got none."""

    waits: list[float] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    failed: int = 0

    @property
    def shares(self) -> Counter[str]:
        return Counter(self.answered)

    def wait(self, share: float) -> float:
        return percentile(self.waits, share) or 0.0


def tailed(seed: int, usual: float, slow: float, share: float) -> Callable[[], float]:
    """Latencies about ``usual``; a share of them is ``slow``."""
    rng = random.Random(seed)

    def latency() -> float:
        most = slow if rng.random() < share else usual
        return most * rng.uniform(0.8, 1.2)

    return latency


def broken_between(start: float, end: float) -> Fails:
    return lambda now: Unavailable("down") if start <= now < end else None


def flaky(seed: int, share: float) -> Fails:
    rng = random.Random(seed)
    return lambda now: Unavailable("oops") if rng.random() < share else None


def routed(mode: Mode, *traces: Trace, seed: int = 1) -> Adaptive:
    made = [slot(trace) for trace in traces]
    return Adaptive(made, mode=mode, clock=anyio.current_time, chance=random.Random(seed).random)


async def simulate(provider: Provider, requests: int, pause: float = 1.0) -> Figures:
    """Ask one after the other."""
    figures = Figures()
    for _ in range(requests):
        began = anyio.current_time()
        try:
            async with aclosing(provider.stream(REQUEST)) as events:
                async for event in events:
                    if isinstance(event, TextDelta):
                        figures.waits.append(anyio.current_time() - began)
                        figures.answered.append(event.text)
        except OctoError:
            figures.failed += 1
        await anyio.sleep(pause)
    return figures


def heavy_tails() -> Sequence[Trace]:
    """Two models that are usually as fast, and now and then very slow."""
    return (
        Trace("a", tailed(1, 1.0, 20.0, 0.05)),
        Trace("b", tailed(2, 1.0, 20.0, 0.05)),
    )


def three_speeds() -> Sequence[Trace]:
    """The preferred is slow, the second fails often, the third is best."""
    return (
        Trace("slow", tailed(1, 6.0, 9.0, 0.1)),
        Trace("flaky", tailed(2, 1.0, 2.0, 0.1), flaky(3, 0.4)),
        Trace("best", tailed(4, 1.0, 2.0, 0.1)),
    )


def outage(start: float) -> tuple[Trace, Trace]:
    """The preferred is down for ten minutes."""
    return (
        Trace("a", tailed(1, 1.0, 2.0, 0.1), broken_between(start, start + 600.0)),
        Trace("b", tailed(2, 2.0, 3.0, 0.1)),
    )
