"""How often something may be redrawn, so that drawing never eats the machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Pace:
    """Lets work through at most every ``interval`` seconds and for ``share`` of the time.

    The dearer one piece of work is, the longer the wait after it: what grows with its own
    length therefore still costs a constant part of the time.
    """

    def __init__(
        self,
        interval: float,
        *,
        share: float = 0.05,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._interval = interval
        self._share = share
        self._clock = clock
        self._next = float("-inf")

    @property
    def due(self) -> bool:
        return self._clock() >= self._next

    @contextmanager
    def spend(self) -> Iterator[None]:
        """Measure one piece of work and set when the next is due."""
        began = self._clock()
        try:
            yield
        finally:
            ended = self._clock()
            self._next = ended + max(self._interval, (ended - began) / self._share)
