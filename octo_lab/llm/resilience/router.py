"""Several models under keys, for whoever chooses one by name: sub-agents, fallbacks."""

from __future__ import annotations

import difflib
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from octo_lab.core.errors import UsageError
from octo_lab.llm.resilience.catalog import Price
from octo_lab.llm.resilience.circuit import Clock
from octo_lab.llm.resilience.slot import Slot

COOL_DOWN = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SubModel:
    """One model; ``price`` is dollars per million tokens in, and out. None is unknown."""

    key: str
    slot: Slot
    about: str = ""
    context_window: int | None = None
    max_output: int | None = None
    price: Price | None = None

    @property
    def cost_hint(self) -> str:
        """As it stands in the schema of a tool that chooses a model; '' when unknown."""
        return f"${self.price[0]:g}/1M in, ${self.price[1]:g}/1M out" if self.price else ""

    @property
    def line(self) -> str:
        """What a model reads when it is to choose one."""
        window = f"{self.context_window:,} tokens of context" if self.context_window else ""
        told = ", ".join(filter(None, (self.about, window, self.cost_hint)))
        return f"{self.key}: {told}" if told else self.key


class ModelRouter:
    """Finds models by key and remembers which of them have just failed.

    ``ranks`` gives those that are known, by key; lower is better.
    """

    def __init__(
        self,
        models: Iterable[SubModel],
        *,
        ranks: Callable[[], Mapping[str, float]] = dict,
        cool_down: float = COOL_DOWN,
        clock: Clock = time.monotonic,
    ) -> None:
        self._models = {model.key: model for model in models}
        self.ranks = ranks
        self._cool_down = cool_down
        self._clock = clock
        self._cooling: dict[str, float] = {}

    def __iter__(self) -> Iterator[SubModel]:
        return iter(self._models.values())

    def resolve(self, name: str) -> SubModel:
        """By key, in any case, by the part before the first ``/``, by the end of a key.

        Raises UsageError.
        """
        low = name.lower()
        fits: tuple[Callable[[str], bool], ...] = (
            lambda key: key == name,
            lambda key: key.lower() == low,
            lambda key: key.lower() == low.partition("/")[0],
            lambda key: key.lower().endswith(f"/{low}"),
        )
        found = next((key for fit in fits for key in self._models if fit(key)), None)
        if found is None:
            near = difflib.get_close_matches(name, self._models, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(self._models)}"
            raise UsageError(f"No model is called {name!r}", hint=hint)
        return self._models[found]

    def failed(self, name: str) -> None:
        """Leave the model alone for a while, by whichever name it was asked."""
        self._cooling[self.resolve(name).key] = self._clock() + self._cool_down

    def cooling(self, name: str) -> float:
        """Seconds until the model should be asked again; 0 when it may be now."""
        until = self._cooling.get(self.resolve(name).key, 0.0)
        return max(0.0, until - self._clock())

    def compatible_fallbacks(self, name: str, max_output: int = 0) -> tuple[SubModel, ...]:
        """Others that may be asked now and can say so many tokens, the best first.

        A model of unknown limit is taken to do.
        """
        own = self.resolve(name).key
        fitting = [
            model
            for model in self
            if model.key != own
            and (model.max_output is None or model.max_output >= max_output)
            and not self.cooling(model.key)
        ]
        ranks = self.ranks()
        return tuple(sorted(fitting, key=lambda model: ranks.get(model.key, math.inf)))
