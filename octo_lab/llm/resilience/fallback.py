"""One model, and the best of some others when it fails."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from octo_lab.core.messages import ChatRequest
from octo_lab.core.replies import SlotInfo
from octo_lab.llm.provider import Events
from octo_lab.llm.resilience.failures import blames
from octo_lab.llm.resilience.policy import Mode, Patience
from octo_lab.llm.resilience.relay import Failure, relay
from octo_lab.llm.resilience.router import ModelRouter, SubModel
from octo_lab.llm.resilience.slot import Slot


class FallingBack:
    """Wraps the models of a router: the one called ``name`` answers, else the others by rank.

    Whichever failed is left alone for the router's cool-down; when all are, the one that was left
    alone longest is asked.
    """

    def __init__(self, name: str, router: ModelRouter, patience: Patience = Patience()) -> None:
        self._primary = router.resolve(name)
        self._router = router
        self._patience = patience

    @property
    def name(self) -> str:
        return self._primary.slot.provider.name

    @property
    def model(self) -> str:
        return self._primary.slot.provider.model

    @property
    def mode(self) -> Mode:
        return "off"

    def stream(self, request: ChatRequest) -> Events:
        choose = partial(self._choose, request.max_tokens or 0)
        return relay(request, choose, self._patience, heard=self._heard)

    def metrics(self) -> tuple[SlotInfo, ...]:
        others = [model for model in self._router if model is not self._primary]
        ranks = self._router.ranks()
        return tuple(model.slot.info(ranks.get(model.key)) for model in (self._primary, *others))

    def _choose(self, max_output: int, tried: Collection[Slot]) -> Slot | None:
        primary, router = self._primary, self._router
        usable = () if router.cooling(primary.key) else (primary,)
        ranked = (*usable, *router.compatible_fallbacks(primary.key, max_output))
        free = next((model.slot for model in ranked if model.slot not in tried), None)
        if free is not None or tried:
            return free
        return min(router, key=self._cooling).slot

    def _cooling(self, model: SubModel) -> float:
        return self._router.cooling(model.key)

    def _heard(self, failure: Failure) -> None:
        if blames(failure.error):
            model = next(one for one in self._router if one.slot is failure.slot)
            self._router.failed(model.key)
