"""Several models share the work by how well they do: in order, at once, or the best."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import aclosing

from octo_lab.core.messages import ChatRequest
from octo_lab.core.replies import SlotInfo
from octo_lab.llm.provider import Events
from octo_lab.llm.resilience.circuit import Clock
from octo_lab.llm.resilience.failures import passes_on
from octo_lab.llm.resilience.hedge import Race
from octo_lab.llm.resilience.policy import Mode, RouterPolicy
from octo_lab.llm.resilience.relay import relay
from octo_lab.llm.resilience.scores import degraded, scores
from octo_lab.llm.resilience.slot import Slot, in_order


class Adaptive:
    """Wraps several providers, in the order of preference.

    ``off``: the first that is well. ``hedge``: that one and another at once, the first to begin
    answers. ``lane``: the best by score, and now and then another, to learn how it does. In each
    mode another takes over when one fails. ``quality``: it counts in the score.
    """

    def __init__(
        self,
        slots: Sequence[Slot],
        policy: RouterPolicy = RouterPolicy(),
        *,
        mode: Mode = "off",
        quality: bool = False,
        clock: Clock = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.slots = tuple(slots)
        self.mode: Mode = mode
        self._policy = policy
        self._quality = quality
        self._clock = clock
        self._chance = chance
        self._before: Mode | None = None

    @property
    def name(self) -> str:
        return self.slots[0].provider.name

    @property
    def model(self) -> str:
        return self.slots[0].provider.model

    def escalate(self) -> bool:
        """Hedge for a while; tells whether that is a change."""
        if self.mode == "hedge":
            return False
        self._before, self.mode = self.mode, "hedge"
        return True

    def relax(self) -> bool:
        """End what ``escalate`` began; tells whether that is a change."""
        if self._before is None:
            return False
        self.mode, self._before = self._before, None
        return True

    def stream(self, request: ChatRequest) -> Events:
        match self.mode:
            case "off":
                return relay(request, self._first, self._policy.patience)
            case "lane":
                return relay(request, self._best, self._policy.patience)
            case "hedge":
                return self._hedged(request)

    def metrics(self) -> tuple[SlotInfo, ...]:
        return tuple(map(Slot.info, self.slots, self._scores()))

    def _hedged(self, request: ChatRequest) -> Events:
        first = in_order(self.slots)
        beside = self._beside(first) if first else None
        if first is None or beside is None:
            return relay(request, self._first, self._policy.patience)
        return self._raced((first, beside), request)

    async def _raced(self, slots: Sequence[Slot], request: ChatRequest) -> Events:
        patience = self._policy.patience
        race = Race(slots, request, patience.total)
        await race.run()
        final = [one.error for one in race.failures if not passes_on(one.error)]
        if race.winner is None and final:
            raise final[0]
        if race.winner is None:
            answer = relay(request, self._first, patience, failed=race.failures)
        else:
            answer = race.won()
        async with aclosing(answer):
            async for event in answer:
                yield event

    def _beside(self, first: Slot) -> Slot | None:
        """Whom to ask at the same time: the cheapest of another provider, else the best."""
        others = [slot for slot in self._ranked() if slot is not first and slot.circuit.admits]
        foreign = [slot for slot in others if slot.provider.name != first.provider.name]
        priced = [(slot.cost, slot) for slot in foreign if slot.cost is not None]
        if priced:
            return min(priced, key=lambda one: one[0])[1]
        return others[0] if others else None

    def _first(self, tried: Collection[Slot]) -> Slot | None:
        return in_order(self.slots, tried)

    def _best(self, tried: Collection[Slot]) -> Slot | None:
        ranked = [slot for slot in self._ranked() if slot not in tried and slot.circuit.admits]
        if not ranked:
            return in_order(self.slots, tried)
        return (None if tried else self._probe(ranked[0])) or ranked[0]

    def _probe(self, best: Slot) -> Slot | None:
        """Now and then, one that was not asked for long."""
        if self._chance() >= self._policy.probe_probability:
            return None
        before = self._clock() - self._policy.probe_interval
        others = (slot for slot in self.slots if slot is not best and slot.circuit.admits)
        return next((slot for slot in others if slot.asked_at <= before), None)

    def _ranked(self) -> list[Slot]:
        """The best first: those that do well, by score, then the others."""
        policy = self._policy
        told = zip(self.slots, self._scores(), strict=True)
        keyed = [(degraded(slot.standing, policy), score, slot) for slot, score in told]
        return [slot for *_, slot in sorted(keyed, key=lambda one: one[:2])]

    def _scores(self) -> tuple[float, ...]:
        standings = [slot.standing for slot in self.slots]
        return scores(standings, self._policy, quality=self._quality)
