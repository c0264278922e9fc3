"""Leaves alone what keeps failing, and tries it again after a while, one request at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Clock = Callable[[], float]
CircuitState = Literal["closed", "open", "half-open"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitPolicy:
    """``threshold`` failures in a row open it for ``cool_off`` seconds; each failed trial after
    that doubles the time, up to ``longest``, which bounds a server's own wish, too.
    """

    threshold: int = 3
    cool_off: float = 30.0
    longest: float = 300.0


class Circuit:
    """``closed``: in use. ``open``: left alone. ``half-open``: one request at a time may try."""

    def __init__(self, policy: CircuitPolicy, clock: Clock) -> None:
        self.failures = 0
        self._policy = policy
        self._clock = clock
        self._until = float("-inf")
        self._trying = False

    @property
    def state(self) -> CircuitState:
        if self._clock() < self._until:
            return "open"
        return "half-open" if self.failures >= self._policy.threshold else "closed"

    @property
    def admits(self) -> bool:
        """Whether a request should be sent now."""
        state = self.state
        return state == "closed" or (state == "half-open" and not self._trying)

    def begin(self) -> bool:
        """A request starts; tells whether it is the trial, which must ``leave`` at its end."""
        trial = self.state == "half-open" and not self._trying
        self._trying = self._trying or trial
        return trial

    def leave(self, trial: bool) -> None:
        """A request ended, however."""
        if trial:
            self._trying = False

    def succeed(self) -> None:
        self.failures = 0
        self._until = float("-inf")

    def fail(self, wish: float | None = None) -> None:
        """Count a failure; ``wish`` is the seconds the server asked to be left alone."""
        policy, now = self._policy, self._clock()
        self.failures += 1
        if wish is not None:
            self._until = max(self._until, now + min(wish, policy.longest))
        over = self.failures - policy.threshold
        if over >= 0:
            pause = min(policy.cool_off * 2.0 ** min(over, 32), policy.longest)
            self._until = max(self._until, now + pause)
