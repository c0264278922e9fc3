from __future__ import annotations

import pytest

from octo_lab.core.errors import StreamCut
from octo_lab.core.messages import Usage
from octo_lab.core.stream import Done, TextDelta, UsageReported
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.metering.cost import Priced, Totals, with_cost
from octo_lab.llm.metering.middleware import Layered
from octo_lab.llm.metering.pricing import Price
from octo_lab.llm.provider import collect
from octo_lab.testing.llm_script import says
from octo_lab.testing.llm_server import LlmServer
from octo_lab.testing.providers import ScriptedProvider
from octo_lab.testing.providers import says as step
from tests.llm.metering.asking import asked, events, lab

pytestmark = pytest.mark.anyio

PRICE = Price(input=2.5, output=10, cached=1.25)
COST = (600 * 2.5 + 400 * 1.25 + 50 * 10) / 1e6


async def test_usage_says_what_it_cost(server: LlmServer, http: ModelHttp) -> None:
    server.script(says("hi", usage=(1000, 50, 400)))
    usage = Usage(
        input_tokens=1000, output_tokens=50, cached_tokens=400, requests=1, cost=COST, priced=1
    )
    priced = Priced(lab(server, http), PRICE)
    assert await events(priced, asked()) == [
        TextDelta("hi"),
        UsageReported(usage),
        Done("end_turn"),
    ]
    assert (priced.name, priced.model) == ("lab", "m")
    assert usage.dollars == COST


async def test_without_a_price_nothing_is_said_of_cost(server: LlmServer, http: ModelHttp) -> None:
    _, usage = await collect(Priced(lab(server, http), None).stream(asked()))
    assert usage == Usage(input_tokens=10, output_tokens=5, requests=1)
    assert usage.dollars is None


async def test_a_server_that_reports_no_usage_leaves_a_request_of_unknown_price(
    server: LlmServer, http: ModelHttp
) -> None:
    server.script(says("hi", usage=None), says("hi", usage=(0, 0, 0)))
    priced = Priced(lab(server, http), PRICE)
    for _ in range(2):
        _, usage = await collect(priced.stream(asked()))
        assert (usage, usage.dollars) == (Usage(requests=1), None)


async def test_what_the_server_says_it_cost_stays() -> None:
    reported = Usage(input_tokens=5, output_tokens=5, requests=1, cost=0.5, priced=1)
    _, usage = await collect(
        Priced(ScriptedProvider(step("hi", usage=reported)), PRICE).stream(asked())
    )
    assert usage == reported


async def test_a_sum_is_partly_known_when_a_price_is_missing() -> None:
    usage = Usage(input_tokens=1_000_000, requests=1)
    both = with_cost(usage, PRICE) + with_cost(usage, None)
    assert both == Usage(input_tokens=2_000_000, requests=2, cost=2.5, priced=1)
    assert both.dollars is None


async def test_totals_add_up_answers_and_what_was_broken_off(
    server: LlmServer, http: ModelHttp
) -> None:
    totals = Totals()
    layered = Layered(Priced(lab(server, http), PRICE), [totals])
    server.script(says("a", usage=(1000, 50, 400)), says("b", usage=(1000, 50, 400)))
    server.script(says("c", done=False, finish="", usage=None))
    for _ in range(2):
        await collect(layered.stream(asked()))
    with pytest.raises(StreamCut):
        await collect(layered.stream(asked()))
    assert totals.usage == Usage(
        input_tokens=2000,
        output_tokens=100,
        cached_tokens=800,
        requests=2,
        cost=2 * COST,
        priced=2,
    )
