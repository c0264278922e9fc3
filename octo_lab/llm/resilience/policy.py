"""What can be set of a router: weights, thresholds, patience. Values with octos' defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from octo_lab.llm.resilience.circuit import CircuitPolicy

Mode = Literal["off", "hedge", "lane"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """The parts of a score; ``latency`` weighs the rank by throughput (and quality)."""

    latency: float = 0.3
    error: float = 0.3
    priority: float = 0.2
    cost: float = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Seconds until an answer has begun: ``total`` over all models, ``each`` for one of them
    while there is another to ask.
    """

    total: float = 120.0
    each: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterPolicy:
    """How a router judges its models.

    ``ema_alpha`` is the share of the newest value in a running average. Above
    ``latency_threshold`` (seconds until the first words) or ``error_rate_threshold`` a model comes
    after those below. With ``probe_probability`` a request goes to a model that was not asked for
    ``probe_interval`` seconds. After ``blend_calls`` calls measured values count with
    ``blend_most``, before that less, and the catalogue's for the rest. ``quality_share`` is the
    part of quality in the rank when quality counts.
    """

    weights: Weights = Weights()
    ema_alpha: float = 0.3
    latency_threshold: float = 10.0
    error_rate_threshold: float = 0.3
    probe_probability: float = 0.1
    probe_interval: float = 60.0
    blend_calls: int = 10
    blend_most: float = 1.0
    quality_share: float = 0.6
    circuit: CircuitPolicy = CircuitPolicy()
    patience: Patience = Patience()
