from __future__ import annotations

from octo_lab.core.replies import ModelCard
from octo_lab.llm.setup import ModelFacts
from octo_lab.session.model_cards import model_cards


def test_what_is_known_of_a_model_and_the_users_word_first() -> None:
    own = {"mine/x": ModelFacts(context_window=4096, price_in=1.0, price_out=2.0)}
    cards = {card.name: card for card in model_cards(("openai/gpt-4o", "mine/x", "mine/y"), own)}
    assert set(cards) == {"openai/gpt-4o", "mine/x"}
    assert cards["mine/x"] == ModelCard(
        name="mine/x", context_window=4096, price_in=1.0, price_out=2.0
    )
    known = cards["openai/gpt-4o"]
    assert (known.context_window, known.price_in, known.price_out) == (128_000, 2.5, 10.0)
    assert "vision" in known.capabilities


def test_a_free_copy_of_a_paid_model_has_no_price() -> None:
    assert model_cards(("ollama/gpt-4o",), {})[0].price_in is None
