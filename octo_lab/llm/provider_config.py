"""What a provider is made of."""

from __future__ import annotations

from dataclasses import dataclass

from octo_lab.llm.http import ModelHttp
from octo_lab.llm.local.policy import LocalPolicy
from octo_lab.llm.metering.pricing import Price
from octo_lab.llm.secret import Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderConfig:
    """``name`` is the entry's, ``base_url`` has no trailing slash.

    ``hints`` are fields of ModelHints that the user set for this model; they win over what its
    name tells. ``price`` is what the model costs here, None where nobody knows;
    ``context_window`` its tokens as the user set them. ``local`` is how a model of this machine is
    run.
    """

    name: str
    model: str
    http: ModelHttp
    base_url: str = ""
    api_key: Secret | None = None
    hints: tuple[tuple[str, bool | str], ...] = ()
    price: Price | None = None
    context_window: int | None = None
    local: LocalPolicy = LocalPolicy()
