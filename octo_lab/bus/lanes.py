"""Bounded queues, one per key: in order within a key, side by side between keys."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Iterable
from typing import Generic, TypeVar

import anyio
from anyio.abc import TaskGroup

from octo_lab.core.errors import Rejected

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class _Lane(Generic[T]):
    def __init__(self) -> None:
        self.items: deque[T] = deque()
        self._filled = anyio.Event()

    def put(self, item: T) -> None:
        self.items.append(item)
        self._filled.set()

    async def wait(self, idle: float) -> bool:
        """Whether an item is there, after at most ``idle`` seconds."""
        if not self.items:
            self._filled = anyio.Event()
            with anyio.move_on_after(idle):
                await self._filled.wait()
        return bool(self.items)


class Lanes(Generic[K, T]):
    """Each key has its own queue of ``size`` and one task, which ends after ``idle`` seconds."""

    def __init__(
        self,
        tasks: TaskGroup,
        handle: Callable[[K, T], Awaitable[None]],
        *,
        size: int,
        idle: float = 300.0,
    ) -> None:
        self._tasks = tasks
        self._handle = handle
        self._size = size
        self._idle = idle
        self._lanes: dict[K, _Lane[T]] = {}

    def __len__(self) -> int:
        return len(self._lanes)

    def put(self, key: K, item: T) -> None:
        """Queue an item behind those of its key; raises Rejected when that queue is full."""
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = _Lane()
            self._tasks.start_soon(self._run, key, lane)
        if len(lane.items) >= self._size:
            raise Rejected(
                f"{self._size} messages already wait here", hint="wait for an answer, or /stop"
            )
        lane.put(item)

    def waiting(self, key: K) -> tuple[T, ...]:
        lane = self._lanes.get(key)
        return tuple(lane.items) if lane else ()

    def take(self, key: K, wanted: Callable[[T], bool]) -> list[T]:
        """Remove the waiting items of ``key`` that are ``wanted``, and return them."""
        lane = self._lanes.get(key)
        if lane is None:
            return []
        taken = [item for item in lane.items if wanted(item)]
        kept = [item for item in lane.items if not wanted(item)]
        lane.items.clear()
        lane.items.extend(kept)
        return taken

    def rearrange(self, key: K, items: Iterable[T]) -> None:
        """Let these wait in place of what waits there."""
        lane = self._lanes.get(key)
        if lane is not None:
            kept = list(items)
            lane.items.clear()
            lane.items.extend(kept)

    def take_all(self, wanted: Callable[[T], bool]) -> list[T]:
        """The same for every key."""
        return [item for key in self._lanes for item in self.take(key, wanted)]

    async def _run(self, key: K, lane: _Lane[T]) -> None:
        try:
            while await lane.wait(self._idle):
                if lane.items:
                    await self._handle(key, lane.items.popleft())
        finally:
            del self._lanes[key]
