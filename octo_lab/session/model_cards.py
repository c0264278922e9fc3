"""What is known of the models that can be chosen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from octo_lab.core.replies import ModelCard
from octo_lab.llm.metering.catalog import CATALOG, Catalog
from octo_lab.llm.metering.pricing import PRICES, PriceList
from octo_lab.llm.setup import ModelFacts, model_facts


def model_cards(
    names: Iterable[str],
    own: Mapping[str, ModelFacts],
    catalog: Catalog = CATALOG,
    prices: PriceList = PRICES,
) -> tuple[ModelCard, ...]:
    """Cards of those ``provider/model`` that anything is known of; the user's word comes first."""
    cards = (_card(name, own, catalog, prices) for name in names)
    return tuple(card for card in cards if card != ModelCard(name=card.name))


def _card(
    name: str, own: Mapping[str, ModelFacts], catalog: Catalog, prices: PriceList
) -> ModelCard:
    provider, _, model = name.partition("/")
    facts, known = model_facts(provider, model, own), catalog.find(model)
    price = facts.price or prices.price(model, provider)
    return ModelCard(
        name=name,
        context_window=facts.context_window or (known.context_window if known else None),
        max_output=facts.max_output or (known.max_output if known else None),
        price_in=price.input if price else None,
        price_out=price.output if price else None,
        capabilities=tuple(sorted(known.capabilities)) if known else (),
    )
