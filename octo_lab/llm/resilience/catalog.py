"""Reads ``model_catalog.json``: what is known of models before they were ever asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from octo_lab.core.errors import ConfigError

Share = Annotated[float, Field(ge=0, le=1)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]
Price = tuple[float, float]
MAX_BYTES = 4_194_304


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogEntry:
    """One model. Times are milliseconds of whole answers, costs dollars per million tokens,
    ``score`` is a rank (lower is better), ``ds_output`` a measure of quality (higher is better).
    """

    provider: str
    type: Literal["strong", "fast"] = "strong"
    stability: Share = 1.0
    tool_avg_ms: Amount | None = None
    p95_ms: Amount | None = None
    score: float | None = None
    cost_in: Amount | None = None
    cost_out: Amount | None = None
    ds_output: Amount | None = None
    context_window: Count | None = None
    max_output: Count | None = None

    @property
    def price(self) -> Price | None:
        if self.cost_in is None or self.cost_out is None:
            return None
        return self.cost_in, self.cost_out


Catalog = Mapping[str, CatalogEntry]


@cache
def _entries() -> TypeAdapter[tuple[CatalogEntry, ...]]:
    """Made when a catalogue is read: few have one, and all would wait for it."""
    return TypeAdapter(tuple[CatalogEntry, ...])


def read_catalog(text: str | bytes, source: str = "model_catalog.json") -> Catalog:
    """Entries by lower-case ``provider`` (``name/model``, or ``name`` for all its models).

    The file holds a list of entries, or an object with that list as ``models``. Raises
    ConfigError, which names the entry and what is wrong with it.
    """
    try:
        found = json.loads(text)
        listed = found.get("models") if isinstance(found, dict) else found
        entries = _entries().validate_python(listed)
    except ValidationError as exc:
        raise _unusable(source, _problem(exc)) from None
    except (ValueError, RecursionError) as exc:
        raise _unusable(source, f"it is no JSON: {exc}") from None
    return {entry.provider.lower(): entry for entry in entries}


def load_catalog(path: Path) -> Catalog:
    """The catalogue in a file; blocks. Raises ConfigError."""
    try:
        with path.open("rb") as file:
            text = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as exc:  # a name with a NUL is a ValueError
        reason = exc.strerror if isinstance(exc, OSError) else exc
        raise ConfigError(
            f"The catalogue {str(path)!r} cannot be read: {reason}",
            hint="give routing.catalog another path, or leave it out",
        ) from None
    if len(text) > MAX_BYTES:
        raise _unusable(str(path), f"it has more than {MAX_BYTES // 1_048_576} MiB")
    return read_catalog(text, str(path))


def entry_of(catalog: Catalog, provider: str, model: str) -> CatalogEntry | None:
    """What the catalogue knows of a model: by its whole name, its own, its provider's."""
    names = (f"{provider}/{model}", model, provider)
    return next((found for name in names if (found := catalog.get(name.lower()))), None)


def _unusable(source: str, problem: str) -> ConfigError:
    return ConfigError(
        f"The catalogue {source!r} cannot be used: {problem}",
        hint='it is {"models": [{"provider": "name/model", "stability": 0.98, ...}]}',
    )


def _problem(exc: ValidationError) -> str:
    first = exc.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "models"
    return f"{place}: {first['msg']}"
