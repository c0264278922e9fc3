"""What was measured of one model: counts, and running values of the last calls."""

from __future__ import annotations

from collections import deque

from octo_lab.core.messages import Usage
from octo_lab.llm.resilience.catalog import CatalogEntry

RING = 64
SYNTHETIC = 10


class Tally:
    """``first`` is the running average of seconds until an answer began, ``total`` until it was
    whole, ``throughput`` of output tokens a second of the whole answer, waiting included.

    The last 64 outcomes make the error rate, the last 64 answers the percentiles of ``firsts``.
    A catalogue entry counts as ten calls made before.
    """

    def __init__(self, alpha: float, entry: CatalogEntry | None = None) -> None:
        self.calls = 0
        self.errors = 0
        self.first: float | None = None
        self.total: float | None = None
        self.throughput: float | None = None
        self.usage = Usage()
        self.firsts: deque[float] = deque(maxlen=RING)
        self._outcomes: deque[bool] = deque(maxlen=RING)
        self._alpha = alpha
        if entry is not None:
            self._seed(entry)

    @property
    def error_rate(self) -> float:
        """The share of failures among the last calls."""
        return self._outcomes.count(False) / len(self._outcomes) if self._outcomes else 0.0

    def answered(self, first: float, total: float, usage: Usage) -> None:
        """Take in a whole answer; seconds."""
        self.calls += 1
        self.usage += usage
        self._outcomes.append(True)
        self.firsts.append(first)
        self.first = self._averaged(self.first, first)
        self.total = self._averaged(self.total, total)
        if usage.output_tokens and total > 0:
            self.throughput = self._averaged(self.throughput, usage.output_tokens / total)

    def failed(self) -> None:
        self.calls += 1
        self.errors += 1
        self._outcomes.append(False)

    def _averaged(self, old: float | None, new: float) -> float:
        return new if old is None else self._alpha * new + (1 - self._alpha) * old

    def _seed(self, entry: CatalogEntry) -> None:
        """The catalogue knows whole answers; a first word is taken to come no later."""
        failures = round((1 - entry.stability) * SYNTHETIC)
        self._outcomes.extend([False] * failures + [True] * (SYNTHETIC - failures))
        if entry.tool_avg_ms is None:
            return
        usual = entry.tool_avg_ms / 1000
        slow = usual if entry.p95_ms is None else entry.p95_ms / 1000
        self.first = self.total = usual
        self.firsts.extend([usual] * (SYNTHETIC - 1) + [slow])
