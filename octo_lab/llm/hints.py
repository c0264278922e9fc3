"""What a model is known to want, told from its name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

_REASONERS = ("o1", "o3", "o4", "gpt-5")
_BLIND = ("deepseek", "minimax", "mistral", "yi-")
_BLIND_PARTS = ("codestral", "kimi", "moonshot")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelHints:
    """``completion_tokens``: the limit's field has the longer name. ``fixed_temperature``: the
    field must be left out. ``vision``: pictures may be sent.
    """

    completion_tokens: bool = False
    fixed_temperature: bool = False
    vision: bool = True


def model_hints(model: str, overrides: Iterable[tuple[str, bool | str]] = ()) -> ModelHints:
    """Hints for a model, with or without the vendor's path before its name."""
    name = model.lower().rpartition("/")[2]
    told = ModelHints(
        completion_tokens=name.startswith((*_REASONERS, "gpt-4.1")),
        fixed_temperature=name.startswith(_REASONERS)
        or "kimi-k2" in name
        or name == "gpt-4.1-nano",
        vision=not name.startswith(_BLIND) and not any(part in name for part in _BLIND_PARTS),
    )
    changed: dict[str, Any] = dict(overrides)
    return replace(told, **changed)
