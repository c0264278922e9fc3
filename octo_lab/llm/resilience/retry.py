"""A provider that asks again."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from itertools import count

import anyio

from octo_lab.core.errors import ProviderError
from octo_lab.core.messages import ChatRequest
from octo_lab.core.stream import Remarked
from octo_lab.llm.provider import Events, Provider


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and when to ask again; seconds. ``max_delay`` bounds the server's wish, too."""

    max_retries: int = 3
    initial_delay: float = 1.0
    max_delay: float = 60.0
    multiplier: float = 2.0

    def delay(self, attempt: int, chance: float, wish: float | None = None) -> float | None:
        """How long to wait before retry ``attempt`` (from 0); None: not at all.

        ``chance`` in [0, 1) spreads clients that failed together; a wish is never undercut.
        """
        if attempt >= self.max_retries:
            return None
        backoff = min(self.initial_delay * self.multiplier**attempt, self.max_delay) * chance
        if wish is None:
            return backoff
        return None if wish > self.max_delay else wish + min(backoff, 1.0)


class Retrying:
    """Wraps any provider; once the first event is out, an error is final."""

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
        for attempt in count():
            started = False
            try:
                async with aclosing(self.inner.stream(request)) as events:
                    async for event in events:
                        started = started or not isinstance(event, Remarked)
                        yield event
                return
            except ProviderError as exc:
                delay = self.policy.delay(attempt, self._chance(), exc.retry_after)
                if started or not exc.retryable or delay is None:
                    raise
            await self._sleep(delay)
