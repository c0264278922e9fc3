"""The one place where a model is asked: each call is told to the owner's hooks."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from octo_lab.agent.ports import Hooks, ModelAnswered, ModelAsked
from octo_lab.core.errors import Rejected
from octo_lab.core.messages import ChatRequest, Usage
from octo_lab.core.stream import StopReason
from octo_lab.llm.provider import Events, Provider


@dataclass(slots=True, kw_only=True)
class ModelCall:
    """One call: ``begin``, read the events, ``ended``. ``iteration`` 0: before a turn's first."""

    provider: Provider
    hooks: Hooks
    iteration: int = 0
    _began: float = field(default=0.0, init=False)

    async def begin(self, request: ChatRequest) -> Events:
        """Ask; raises Rejected when a hook says no."""
        provider = self.provider
        asked = ModelAsked(
            model=provider.model, messages=len(request.messages), iteration=self.iteration
        )
        refused = await self.hooks.before_model(asked)
        if refused is not None:
            raise Rejected(
                f"A hook did not let the model be asked: {refused or 'it gave no reason'}",
                hint="see `hooks` in config.json",
            )
        self._began = time.perf_counter()
        return provider.stream(request)

    async def ended(
        self, *, reason: StopReason | None, usage: Usage, total: Usage, calls: int = 0
    ) -> None:
        """The answer is whole; ``usage`` is its own, ``total`` that of the turn so far."""
        await self.hooks.after_model(
            ModelAnswered(
                model=self.provider.model,
                provider=self.provider.name,
                iteration=self.iteration,
                reason=reason,
                calls=calls,
                seconds=time.perf_counter() - self._began,
                usage=usage,
                total=total,
            )
        )
