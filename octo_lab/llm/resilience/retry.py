"""A provider that asks again."""

from __future__ import annotations

import math
import random
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from itertools import count

import anyio

from octo_lab.core.errors import ProviderError, RateLimited
from octo_lab.core.messages import ChatRequest
from octo_lab.core.stream import Remarked
from octo_lab.core.text import first_line
from octo_lab.llm.provider import Events, Provider
from octo_lab.llm.resilience.begun import begins

NOTICED = 1.0
SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and when to ask again; seconds. ``max_delay`` bounds the server's wish, too,
    ``budget`` all waits for one answer together.
    """

    max_retries: int = 3
    initial_delay: float = 1.0
    max_delay: float = 60.0
    multiplier: float = 2.0
    budget: float = 120.0

    def delay(
        self, attempt: int, chance: float, wish: float | None = None, waited: float = 0.0
    ) -> float | None:
        """How long to wait before retry ``attempt`` (from 0); None: not at all.

        ``chance`` in [0, 1) spreads clients that failed together; a wish is never undercut.
        ``waited`` is what earlier retries took.
        """
        if attempt >= self.max_retries:
            return None
        delay = min(self.initial_delay * self.multiplier**attempt, self.max_delay) * chance
        if wish is not None:
            delay = wish + min(delay, 1.0)
        too_long = (wish or 0.0) > self.max_delay or waited + delay > self.budget
        return None if too_long else delay


class Retrying:
    """Wraps any provider; once an answer has begun, an error is final.

    This is the one place that asks the same provider again. Waits that a person would notice are
    remarked.
    """

    def __init__(
        self,
        inner: Provider,
        policy: RetryPolicy = RetryPolicy(),
        *,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.inner = inner
        self.policy = policy
        self._sleep = sleep
        self._chance = chance

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def model(self) -> str:
        return self.inner.model

    async def stream(self, request: ChatRequest) -> Events:
        waited = 0.0
        for attempt in count():
            begun = False
            try:
                async with aclosing(self.inner.stream(request)) as events:
                    async for event in events:
                        begun = begun or begins(event)
                        yield event
                return
            except ProviderError as exc:
                delay = self.policy.delay(attempt, self._chance(), exc.retry_after, waited)
                if begun or not exc.retryable or delay is None:
                    raise
                why = self._why(exc)
            if delay >= NOTICED:
                yield Remarked(f"{why}; asking again in {math.ceil(delay)} s")
            await self._sleep(delay)
            waited += delay

    def _why(self, error: ProviderError) -> str:
        if isinstance(error, RateLimited):
            return f"{self.name}/{self.model}: rate limited"
        return f"{self.name}/{self.model}: {first_line(error.message, SHOWN)}"
