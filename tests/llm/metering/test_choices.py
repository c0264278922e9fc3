"""Which price a chosen model has, through the registry and over a stream."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from octo_lab.core.messages import Usage
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.metering.pricing import PRICES, Price
from octo_lab.llm.provider import collect
from octo_lab.llm.registry import (
    ModelFacts,
    ModelSetup,
    ProviderFacts,
    builtin_providers,
    open_model,
    resolve_model,
)
from octo_lab.testing.llm_server import LlmServer
from tests.llm.metering.asking import asked

pytestmark = pytest.mark.anyio

KEY = {"OPENAI_API_KEY": "sk-test-0123456789abcdef"}
OWN = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
MINE = {"openai/gpt-4o": ModelFacts(price_in=1.0, price_out=2.0)}
LISTED = PRICES.price("gpt-4o")
NOTHING: Mapping[str, ModelFacts] = {}


@pytest.mark.parametrize(
    ("name", "environ", "models", "price"),
    [
        ("openai/gpt-4o", KEY, NOTHING, LISTED),
        ("openai/gpt-4o", KEY, MINE, Price(input=1.0, output=2.0)),
        ("openai/gpt-4o", KEY, {"gpt-4o": ModelFacts(price_in=1.0)}, LISTED),
        ("openai/gpt-4o", OWN, NOTHING, None),
        ("openai/gpt-4o", OWN, MINE, Price(input=1.0, output=2.0)),
        ("openai/gpt-x", KEY, NOTHING, None),
        ("ollama/gpt-4o", KEY, NOTHING, None),
        ("offline", KEY, NOTHING, None),
    ],
)
async def test_a_price_is_the_users_or_that_of_the_vendors_own_server(
    http: ModelHttp,
    name: str,
    environ: Mapping[str, str],
    models: Mapping[str, ModelFacts],
    price: Price | None,
) -> None:
    setup = ModelSetup(http=http, environ=environ, models=models)
    assert resolve_model(name, setup, builtin_providers()).config.price == price


async def test_an_opened_model_reports_what_it_cost(server: LlmServer, http: ModelHttp) -> None:
    setup = ModelSetup(
        http=http,
        models=MINE,
        providers={"openai": ProviderFacts(base_url=server.base_url)},
    )
    choice = resolve_model("openai/gpt-4o", setup, builtin_providers())
    _, usage = await collect(open_model(choice).stream(asked()))
    assert usage == Usage(
        input_tokens=10, output_tokens=5, requests=1, cost=(10 + 2 * 5) / 1e6, priced=1
    )


async def test_a_model_that_the_server_named_has_the_users_price(http: ModelHttp) -> None:
    setup = ModelSetup(http=http, environ=OWN, models=MINE)
    choice = resolve_model("openai/gpt-x", setup, builtin_providers())
    assert choice.with_model("gpt-4o", "", MINE).config.price == Price(input=1.0, output=2.0)
