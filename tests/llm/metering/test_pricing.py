from __future__ import annotations

import json
from datetime import date

import pytest

from octo_lab.core.messages import Usage
from octo_lab.llm.metering.pricing import PRICES, PRICES_FILE, Price

DATA = json.loads(PRICES_FILE.read_text(encoding="utf-8"))
AS_OF = date.fromisoformat(DATA["as_of"])


@pytest.mark.parametrize(
    ("model", "rates"),
    [
        ("claude-opus-4-20250514", (15, 75)),
        ("claude-sonnet-4-20250514", (3, 15)),
        ("claude-haiku", (0.8, 4)),
        ("gpt-4o-mini", (0.15, 0.6)),
        ("gpt-4o-mini-2024-07-18", (0.15, 0.6)),
        ("gpt-4o", (2.5, 10)),
        ("GPT-4o-2024-08-06", (2.5, 10)),
        ("gpt-4o-2024-05-13", (5, 15)),
        ("o3", (10, 40)),
        ("o4", (10, 40)),
        ("o4-mini", (1.1, 4.4)),
        ("gpt-5-codex", (1.25, 10)),
        ("gpt-5-mini", (0.25, 2)),
        ("claude-opus-4-5-20251101", (5, 25)),
        ("claude-haiku-4-5-20251001", (1, 5)),
        ("gemini-2.5-flash", (0.3, 2.5)),
        ("gemini-2.5-flash-lite", (0.1, 0.4)),
        ("glm-4.5-air", (0.2, 1.1)),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", (3, 15)),
    ],
)
def test_a_name_has_the_price_of_its_first_row(model: str, rates: tuple[float, float]) -> None:
    price = PRICES.price(model)
    assert price is not None
    assert (price.input, price.output) == rates


@pytest.mark.parametrize(
    "model",
    [
        "",
        "llama3.2",
        "my-model",
        "gpt-5.2",
        "gpt-5-pro",
        "gpt-50",
        "claude-opus-4-6",
        "gpt-4o-realtime-preview",
        "chatgpt-4o-latest",
        "solo3",
        "glm-4.5v",
    ],
)
def test_no_price_is_guessed(model: str) -> None:
    assert PRICES.price(model) is None


@pytest.mark.parametrize(
    ("provider", "model", "priced"),
    [
        ("openai", "gpt-4o", True),
        ("anthropic", "claude-sonnet-4-20250514", True),
        ("groq", "llama-3.3-70b-versatile", True),
        ("openrouter", "anthropic/claude-sonnet-4-20250514", True),
        ("openrouter", "anthropic/claude-opus-4.5", True),
        ("openrouter", "google/gemini-2.5-flash", True),
        ("openrouter", "google/gemini-2.5-flash:free", False),
        ("openrouter", "someone/gpt-4o", False),
        ("openrouter", "gpt-4o", False),
        ("ollama", "gpt-4o", False),
        ("vllm", "anthropic/claude-sonnet-4-20250514", False),
        ("local", "deepseek-chat", False),
        ("offline", "gpt-4o", False),
        ("nvidia", "meta/llama-3.3-70b-instruct", False),
        ("groq", "gpt-4o", False),
        ("my-own", "gpt-4o", False),
    ],
)
def test_a_provider_has_its_own_prices_only(provider: str, model: str, priced: bool) -> None:
    assert (PRICES.price(model, provider) is not None) == priced


@pytest.mark.parametrize(
    ("price", "cost"),
    [
        (Price(input=3, output=15, cached=0.3, written=3.75), 0.0001815),
        (Price(input=3, output=15, cached=0.3), 0.0001740),
        (Price(input=3, output=15), 0.000255),
    ],
)
def test_cached_and_written_tokens_cost_their_own_price_else_that_of_input(
    price: Price, cost: float
) -> None:
    usage = Usage(input_tokens=60, output_tokens=5, cached_tokens=30, written_tokens=10, requests=1)
    assert price.cost(usage) == pytest.approx(cost)


def test_more_cached_tokens_than_tokens_cost_no_negative_sum() -> None:
    usage = Usage(input_tokens=10, cached_tokens=30)
    assert Price(input=1, output=1, cached=0).cost(usage) == 0


def test_the_list_and_its_rows_are_dated() -> None:
    assert PRICES.as_of == AS_OF
    dates = [row.price.as_of for row in PRICES.rows if row.price]
    assert all(day is not None and date(2024, 1, 1) <= day <= AS_OF for day in dates)


def test_prices_are_sane() -> None:
    for row in PRICES.rows:
        if row.price is None:
            continue
        price = row.price
        assert 0 < price.input <= price.output <= 200, row.match
        assert price.cached is None or 0 < price.cached < price.input, row.match
        assert price.written is None or price.input < price.written <= 2 * price.input, row.match


def test_vendors_are_in_order_and_no_row_hides_a_later_one() -> None:
    assert [row.vendor for row in PRICES.rows] == sorted(row.vendor for row in PRICES.rows)
    names = [(row, part) for row in PRICES.rows for part in row.match]
    hidden = [part for row, part in names if _first(row.vendor, part) is not row]
    assert hidden == []
    assert all(part == part.lower() for _, part in names)


def _first(vendor: str, model: str) -> object:
    return next(row for row in PRICES.rows if row.fits(vendor, model))
