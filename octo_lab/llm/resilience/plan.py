"""How a model and its fallbacks share the work, as it was set."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from octo_lab.llm.resilience.policy import Mode, RouterPolicy
from octo_lab.llm.resilience.retry import RetryPolicy

ALONE = RetryPolicy()
ONE_OF_SEVERAL = RetryPolicy(max_delay=10.0, budget=20.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingPlan:
    """``fallbacks`` are models, written as a person names them, in the order of preference.

    ``mode``: see ``adaptive.Adaptive``. ``qos``: rank by quality, too; with the mode ``off`` the
    fallbacks are then tried by rank, not in their order. ``escalate``: hedge while answers are
    slow; not for a mode that a person chose. ``catalog`` is a ``model_catalog.json``.
    """

    fallbacks: tuple[str, ...] = ()
    mode: Mode = "off"
    qos: bool = False
    escalate: bool = True
    policy: RouterPolicy = RouterPolicy()
    catalog: Path | None = None

    @property
    def retry(self) -> RetryPolicy:
        """Who can ask another model does not wait long for one."""
        return ONE_OF_SEVERAL if self.fallbacks else ALONE
