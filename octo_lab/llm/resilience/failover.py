"""A chain of providers: the first that is well answers, the next when it fails."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from octo_lab.core.messages import ChatRequest
from octo_lab.core.replies import SlotInfo
from octo_lab.llm.provider import Events
from octo_lab.llm.resilience.policy import Mode, Patience
from octo_lab.llm.resilience.relay import relay
from octo_lab.llm.resilience.slot import Slot, in_order


class Chained:
    """Wraps providers, in the order of preference.

    One that failed three times in a row is left alone for a while, then tried again by one
    request at a time; while all are, the least failed is asked.
    """

    def __init__(self, slots: Sequence[Slot], patience: Patience = Patience()) -> None:
        self.slots = tuple(slots)
        self._patience = patience

    @property
    def name(self) -> str:
        return self.slots[0].provider.name

    @property
    def model(self) -> str:
        return self.slots[0].provider.model

    @property
    def mode(self) -> Mode:
        return "off"

    def stream(self, request: ChatRequest) -> Events:
        return relay(request, self._choose, self._patience)

    def metrics(self) -> tuple[SlotInfo, ...]:
        return tuple(slot.info() for slot in self.slots)

    def _choose(self, tried: Collection[Slot]) -> Slot | None:
        return in_order(self.slots, tried)
