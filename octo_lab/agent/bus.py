"""Passes the events of a turn to any number of listeners, who never hold it up."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager

import anyio

from octo_lab.core.events import TurnEvent

QUEUED = 1024


class Subscription:
    """What one listener has not read yet; when it is slow the oldest events are ``missed``."""

    def __init__(self, kinds: tuple[type, ...], size: int) -> None:
        self.missed = 0
        self._kinds = kinds
        self._events: deque[TurnEvent] = deque(maxlen=size)
        self._more = anyio.Event()
        self._closed = False

    def offer(self, event: TurnEvent) -> None:
        if self._kinds and not isinstance(event, self._kinds):
            return
        self.missed += len(self._events) == self._events.maxlen
        self._events.append(event)
        self._more.set()

    def close(self) -> None:
        self._closed = True
        self._more.set()

    async def events(self) -> AsyncGenerator[TurnEvent, None]:
        """The events in their order, until the bus is closed."""
        while True:
            while self._events:
                yield self._events.popleft()
            if self._closed:
                return
            self._more = anyio.Event()
            await self._more.wait()


class EventBus:
    """``publish`` is an ``Emit``: it returns at once, whoever listens."""

    def __init__(self) -> None:
        self._subscriptions: list[Subscription] = []
        self._closed = False

    def publish(self, event: TurnEvent) -> None:
        for subscription in self._subscriptions:
            subscription.offer(event)

    def close(self) -> None:
        """No more events will come; listeners read what they have, and end."""
        self._closed = True
        for subscription in self._subscriptions:
            subscription.close()

    @contextmanager
    def subscribe(self, *kinds: type, size: int = QUEUED) -> Iterator[Subscription]:
        """Listen to events of these kinds, none named: to all, from now on."""
        subscription = Subscription(kinds, size)
        self._subscriptions.append(subscription)
        if self._closed:
            subscription.close()
        try:
            yield subscription
        finally:
            self._subscriptions.remove(subscription)
