"""What is known of models beyond their names, found by id or alias."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal, get_args

from octo_lab.core.errors import ConfigError
from octo_lab.llm.metering.pricing import PRICES, Price

Capability = Literal["tools", "vision", "reasoning", "schema"]
CAPABILITIES: tuple[Capability, ...] = get_args(Capability)
MODELS_FILE = Path(__file__).with_name("models.json")
_FIELDS = frozenset(
    ("name", "provider", "context_window", "max_output", "capabilities", "cost", "aliases")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo:
    """One model. ``context_window`` and ``max_output`` are tokens, None where not known.

    ``capabilities``: it calls tools, sees pictures, reasons, keeps to a JSON Schema. ``cost`` is
    its price, None where no price is known.
    """

    id: str
    name: str = ""
    provider: str = ""
    context_window: int | None = None
    max_output: int | None = None
    capabilities: frozenset[Capability] = frozenset()
    cost: Price | None = None
    aliases: tuple[str, ...] = ()


class Catalog:
    """Models by id and alias, whatever the case; of two with one name the later counts."""

    def __init__(self, models: Iterable[ModelInfo]) -> None:
        self._models: dict[str, ModelInfo] = {}
        self._names: dict[str, str] = {}
        for model in models:
            key = model.id.lower()
            self._models[key] = model
            self._names |= {name.lower(): key for name in (*model.aliases, model.id)}

    @property
    def models(self) -> tuple[ModelInfo, ...]:
        return tuple(self._models.values())

    def find(self, name: str) -> ModelInfo | None:
        """The model called so, with or without a path (``vendor/``) before its name."""
        low = name.lower()
        key = self._names.get(low) or self._names.get(low.rpartition("/")[2])
        return self._models[key] if key else None

    def by_provider(self, provider: str) -> tuple[ModelInfo, ...]:
        low = provider.lower()
        return tuple(model for model in self.models if model.provider == low)

    def with_capability(self, capability: Capability) -> tuple[ModelInfo, ...]:
        return tuple(model for model in self.models if capability in model.capabilities)

    def with_entries(self, entries: Mapping[str, Mapping[str, Any]]) -> Catalog:
        """The same with what a user knows better: fields of ModelInfo by model id.

        A field not given stays as it is. Raises ConfigError for an unknown field or capability.
        """
        changed = (_changed(id, self.find(id), fields) for id, fields in entries.items())
        return Catalog((*self.models, *changed))


def _changed(id: str, known: ModelInfo | None, fields: Mapping[str, Any]) -> ModelInfo:
    unknown = sorted(set(fields) - _FIELDS)
    if unknown:
        raise ConfigError(
            f"A model has no field {unknown[0]!r}", hint=f"known: {', '.join(sorted(_FIELDS))}"
        )
    known = known or ModelInfo(id=id)
    values = {name: fields.get(name, getattr(known, name)) for name in _FIELDS}
    cost = values["cost"]
    return ModelInfo(
        id=known.id,
        name=values["name"],
        provider=str(values["provider"]).lower(),
        context_window=values["context_window"],
        max_output=values["max_output"],
        capabilities=_capabilities(values["capabilities"]),
        cost=Price(**cost) if isinstance(cost, Mapping) else cost,
        aliases=tuple(values["aliases"]),
    )


def _capabilities(names: Iterable[str]) -> frozenset[Capability]:
    names = tuple(names)
    for name in names:
        if name not in CAPABILITIES:
            raise ConfigError(
                f"No capability is called {name!r}", hint=f"known: {', '.join(CAPABILITIES)}"
            )
    return frozenset(known for known in CAPABILITIES if known in names)


def read_models(data: Mapping[str, Any]) -> Catalog:
    """The catalogue of a JSON document of models, with the prices of the price list."""
    return Catalog(
        _changed(
            entry["id"],
            None,
            {name: value for name, value in entry.items() if name != "id"}
            | {"cost": PRICES.price(entry["id"], entry["provider"])},
        )
        for entry in data["models"]
    )


_DATA = json.loads(MODELS_FILE.read_text(encoding="utf-8"))
AS_OF = date.fromisoformat(_DATA["as_of"])
CATALOG = read_models(_DATA)
