from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from octo_lab.core.errors import StreamCut
from octo_lab.core.messages import ChatRequest, Media, Message, OneTool, ToolSpec, Usage
from octo_lab.core.stream import Done, ReasoningDelta, StateKept, TextDelta, UsageReported
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.metering.cache import LONGEST, Caching
from octo_lab.llm.metering.cost import Priced, Totals
from octo_lab.llm.metering.middleware import Layered
from octo_lab.llm.metering.pricing import Price
from octo_lab.llm.provider import collect
from octo_lab.testing.llm_script import Turn, call, calls, says
from octo_lab.testing.llm_server import LlmServer
from tests.llm.metering.asking import asked, events, lab

pytestmark = pytest.mark.anyio

PRICE = Price(input=1, output=1)


async def test_what_was_asked_before_is_streamed_again_and_costs_nothing(
    server: LlmServer, http: ModelHttp
) -> None:
    server.script(says("Hel", "lo", reasoning=["hm"]))
    seen, totals = Totals(), Totals()
    layered = Layered(Priced(lab(server, http), PRICE), [seen, Caching(), totals])
    first, usage = await collect(layered.stream(asked()))
    assert (first.content, usage.requests, usage.priced) == ("Hello", 1, 1)
    assert await events(layered, asked()) == [
        ReasoningDelta("hm"),
        TextDelta("Hello"),
        *([StateKept(first.provider_state)] if first.provider_state else []),
        UsageReported(Usage()),
        Done("end_turn"),
    ]
    assert len(server.requests) == 1
    assert seen.usage == totals.usage == usage


async def asked_twice(
    server: LlmServer, http: ModelHttp, cache: Caching, requests: Sequence[ChatRequest]
) -> int:
    """How many requests reached the server."""
    layered = Layered(lab(server, http), [cache])
    for request in requests:
        await collect(layered.stream(request))
    return len(server.requests)


@pytest.mark.parametrize("temperature", [None, 0.7])
async def test_answers_that_may_differ_are_cached_only_when_asked_for(
    server: LlmServer, http: ModelHttp, temperature: float | None
) -> None:
    requests = [asked("hi", temperature)] * 2
    assert await asked_twice(server, http, Caching(), requests) == 2
    assert await asked_twice(server, http, Caching(always=True), requests) == 3


HI = asked()
MEDIA = [Media(mime="image/png", data=bytes([n])) for n in (1, 2)]
WITH_MEDIA = [
    replace(HI, messages=[Message(role="user", content="hi", media=(media,))]) for media in MEDIA
]
TOOL = ToolSpec(name="f", description="", schema={"type": "object"})


@pytest.mark.parametrize(
    "requests",
    [
        [HI, asked("hi ")],
        [HI, replace(HI, max_tokens=5)],
        [HI, replace(HI, stop=("x",))],
        [HI, replace(HI, tools=[TOOL])],
        [replace(HI, tools=[TOOL]), replace(HI, tools=[TOOL], tool_choice=OneTool("f"))],
        [HI, replace(HI, response_schema={"type": "object"})],
        WITH_MEDIA,
    ],
)
async def test_another_request_is_another_answer(
    server: LlmServer, http: ModelHttp, requests: list[ChatRequest]
) -> None:
    assert await asked_twice(server, http, Caching(), requests) == 2


async def test_another_model_is_asked_itself(server: LlmServer, http: ModelHttp) -> None:
    cache = Caching()
    for model in ("m", "n"):
        await collect(Layered(lab(server, http, model), [cache]).stream(HI))
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "turn",
    [
        calls(call("f"), text=["let me see"]),
        says("half of it", finish="length"),
        says("x" * LONGEST, "x"),
    ],
)
async def test_calls_and_answers_that_are_not_whole_or_too_long_are_not_kept(
    server: LlmServer, http: ModelHttp, turn: Turn
) -> None:
    server.script(turn)
    cache = Caching()
    await asked_twice(server, http, cache, [HI])
    assert len(cache) == 0


async def test_an_answer_that_broke_off_is_not_kept(server: LlmServer, http: ModelHttp) -> None:
    server.script(says("half", done=False, finish="", usage=None))
    cache = Caching()
    with pytest.raises(StreamCut):
        await asked_twice(server, http, cache, [HI])
    assert len(cache) == 0


async def test_the_answer_used_longest_ago_goes_first(server: LlmServer, http: ModelHttp) -> None:
    cache = Caching(entries=2)
    order = ["a", "b", "a", "c", "a", "b"]
    assert await asked_twice(server, http, cache, [asked(text) for text in order]) == 4
    assert len(cache) == 2
