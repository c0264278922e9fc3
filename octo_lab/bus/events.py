"""Passes what turns do to those who watch the message behind them, and never waits for anyone."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import anyio

from octo_lab.core.events import TurnEvent
from octo_lab.core.keys import ChatAddress
from octo_lab.core.tasks import TaskComplete, TaskUpdate

Watched = TurnEvent | TaskUpdate | TaskComplete
"""What a turn tells; a task's status and result come last, once the turn is stored."""
Watch = Callable[[Watched], None]
QUEUED = 4096


class Watching:
    """What one watcher has not read yet; when it is slow the oldest events are ``missed``."""

    def __init__(self, kinds: tuple[type, ...], size: int) -> None:
        self.missed = 0
        self._kinds = kinds
        self._events: deque[Watched] = deque(maxlen=size)
        self._more = anyio.Event()
        self._closed = False

    def offer(self, event: Watched) -> None:
        if self._kinds and not isinstance(event, self._kinds):
            return
        self.missed += len(self._events) == self._events.maxlen
        self._events.append(event)
        self._more.set()

    def close(self) -> None:
        """No more events will come; the watcher reads what there is, and ends."""
        self._closed = True
        self._more.set()

    async def take(self) -> list[Watched]:
        """Everything waiting, oldest first; waits for something. Empty only once it is closed."""
        while not self._events and not self._closed:
            self._more = anyio.Event()
            await self._more.wait()
        taken = list(self._events)
        self._events.clear()
        return taken


class EventBus:
    """Knows who watches which message. Belongs to one event loop."""

    def __init__(self) -> None:
        self._watching: dict[tuple[str, ...], list[Watching]] = {}

    def teller(self, address: ChatAddress, message_id: str) -> Watch:
        """Tells whoever watches this message, at once and in order."""
        key, watching = _key(address, message_id), self._watching

        def tell(event: Watched) -> None:
            for each in watching.get(key, ()):
                each.offer(event)

        return tell

    def watched(self, address: ChatAddress, message_id: str) -> bool:
        return _key(address, message_id) in self._watching

    @contextmanager
    def watch(
        self, address: ChatAddress, message_id: str, *kinds: type, size: int = QUEUED
    ) -> Iterator[Watching]:
        """Watch a message from now on, also before it is said; ``kinds`` none: all events."""
        key, watching = _key(address, message_id), Watching(kinds, size)
        self._watching.setdefault(key, []).append(watching)
        try:
            yield watching
        finally:
            self._watching[key].remove(watching)
            if not self._watching[key]:
                del self._watching[key]


def _key(address: ChatAddress, message_id: str) -> tuple[str, ...]:
    return (address.profile, address.channel, address.chat_id, message_id)
