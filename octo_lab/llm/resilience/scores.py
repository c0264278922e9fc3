"""Scores of the models of a router, from what is known of each; the lowest wins. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from octo_lab.llm.resilience.policy import RouterPolicy

UNKNOWN = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What is known of one model; None where nothing is.

    ``error_rate`` was measured over ``calls``, ``expected_errors`` is the catalogue's.
    ``throughput`` is tokens a second, ``latency`` seconds until the first words, ``quality`` any
    number, more is better, ``cost`` dollars for a million tokens in and a million out.
    """

    calls: int = 0
    error_rate: float = 0.0
    expected_errors: float = 0.0
    throughput: float | None = None
    latency: float | None = None
    quality: float | None = None
    cost: float | None = None


def scores(
    standings: Sequence[Standing], policy: RouterPolicy, *, quality: bool = False
) -> tuple[float, ...]:
    """One score each; their order is their priority. ``quality``: it counts in the rank, too."""
    fast = _most(one.throughput for one in standings)
    good = _most(one.quality for one in standings)
    dear = _most(one.cost for one in standings)
    weights, count = policy.weights, len(standings)

    def score(place: int, one: Standing) -> float:
        rank = _shortfall(one.throughput, fast)
        if quality:
            share = policy.quality_share
            rank = share * _shortfall(one.quality, good) + (1 - share) * rank
        cost = UNKNOWN if one.cost is None else one.cost / dear if dear else 0.0
        return (
            weights.error * errors(one, policy)
            + weights.latency * rank
            + weights.priority * place / count
            + weights.cost * cost
        )

    return tuple(score(place, one) for place, one in enumerate(standings))


def errors(one: Standing, policy: RouterPolicy) -> float:
    """The error rate to reckon with: expected at first, then more and more the measured one."""
    weight = min(policy.blend_most, one.calls / policy.blend_calls)
    return one.expected_errors * (1 - weight) + one.error_rate * weight


def degraded(one: Standing, policy: RouterPolicy) -> bool:
    """Whether it should come after those that do well, whatever its score."""
    slow = one.latency is not None and one.latency > policy.latency_threshold
    return slow or errors(one, policy) > policy.error_rate_threshold


def percentile(values: Iterable[float], share: float) -> float | None:
    """The element ``ceil(share * n) - 1`` of the sorted values; None of none."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None


def _most(values: Iterable[float | None]) -> float:
    return max((value for value in values if value is not None), default=0.0)


def _shortfall(value: float | None, most: float) -> float:
    """0 for the best, 1 for nothing, the middle where one or all are unknown."""
    return UNKNOWN if value is None or not most else 1 - value / most
