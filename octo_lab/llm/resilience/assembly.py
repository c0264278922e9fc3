"""Puts together what answers: one provider alone, or several that share the work."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from octo_lab.core.replies import SlotInfo
from octo_lab.llm.provider import Provider
from octo_lab.llm.resilience.adaptive import Adaptive
from octo_lab.llm.resilience.circuit import Clock
from octo_lab.llm.resilience.failover import Chained
from octo_lab.llm.resilience.fallback import FallingBack
from octo_lab.llm.resilience.plan import RoutingPlan
from octo_lab.llm.resilience.policy import Mode
from octo_lab.llm.resilience.responsiveness import Responsive
from octo_lab.llm.resilience.router import ModelRouter, SubModel
from octo_lab.llm.resilience.scores import scores
from octo_lab.llm.resilience.slot import Slot


class Routed(Provider, Protocol):
    """A provider that holds several and measures them."""

    @property
    def mode(self) -> Mode:
        """How they share the work at the moment."""
        ...

    def metrics(self) -> tuple[SlotInfo, ...]:
        """How each does, in the order of preference."""
        ...


def share(
    slots: Sequence[Slot],
    plan: RoutingPlan,
    *,
    clock: Clock = time.monotonic,
    chance: Callable[[], float] = random.random,
) -> Routed:
    """One provider of several slots, the preferred first, as the plan says."""
    if plan.mode == "off" and plan.qos:
        return FallingBack(slots[0].label, ranked(slots, plan, clock), plan.policy.patience)
    if plan.mode == "off" and not plan.escalate:
        return Chained(slots, plan.policy.patience)
    router = Adaptive(
        slots, plan.policy, mode=plan.mode, quality=plan.qos, clock=clock, chance=chance
    )
    return Responsive(router, clock=clock) if plan.escalate else router


def ranked(slots: Sequence[Slot], plan: RoutingPlan, clock: Clock) -> ModelRouter:
    """The slots under their names, ranked by the catalogue, else by how they do."""
    told = {slot.label: slot.entry.score for slot in slots if slot.entry}
    listed = {label: score for label, score in told.items() if score is not None}

    def measured() -> dict[str, float]:
        standings = [slot.standing for slot in slots]
        found = scores(standings, plan.policy, quality=plan.qos)
        return {slot.label: score for slot, score in zip(slots, found, strict=True)}

    ranks = (lambda: listed) if len(listed) == len(slots) else measured
    return ModelRouter(map(_sub_model, slots), ranks=ranks, clock=clock)


def _sub_model(slot: Slot) -> SubModel:
    entry = slot.entry
    return SubModel(
        key=slot.label,
        slot=slot,
        context_window=entry.context_window if entry else None,
        max_output=entry.max_output if entry else None,
        price=slot.price,
    )
