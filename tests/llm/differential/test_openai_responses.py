from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator
from dataclasses import replace

import openai
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openai import AsyncOpenAI
from openai.types.responses import Response, ResponseFunctionToolCall, ResponseReasoningItem
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from pydantic import BaseModel, TypeAdapter

from octo_lab.core.errors import ProviderError
from octo_lab.core.messages import ChatRequest, Message, ToolCall, Usage
from octo_lab.llm.hints import model_hints
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.provider import collect
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.wires.responses.request import responses_request
from octo_lab.llm.wires.responses.validate import request_problem
from octo_lab.llm.wires.responses.wire import RESPONSES
from octo_lab.llm.wires.streaming import Streaming
from octo_lab.testing.llm_script import Call, Json, Turn, says
from octo_lab.testing.llm_server import LlmServer
from octo_lab.testing.wires.responses import WIRE
from tests.llm.differential.differential import (
    Reading,
    as_typed,
    in_utf8,
    our_reading,
    requests,
    turns,
)

pytestmark = pytest.mark.anyio

MODEL = "o3"
REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])
SENT = {"model": MODEL, "include": ["reasoning.encrypted_content"]}
ASKED = TypeAdapter(ResponseCreateParamsStreaming)
EXAMPLES = settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture
async def client(server: LlmServer) -> AsyncGenerator[AsyncOpenAI]:
    async with AsyncOpenAI(base_url=server.base_url, api_key="k", max_retries=0) as made:
        yield made


@pytest.fixture
def provider(server: LlmServer, http: ModelHttp) -> Streaming:
    config = ProviderConfig(name="openai", model=MODEL, http=http, base_url=server.base_url)
    return Streaming(config, RESPONSES)


async def their_reading(client: AsyncOpenAI) -> Reading:
    """The answer as the vendor's own accumulator understands it; raises what it raises."""
    async with client.responses.stream(
        model=MODEL, input="hi", store=False, include=["reasoning.encrypted_content"]
    ) as stream:
        last: Response | None = None
        async for event in stream:
            if event.type in ("response.completed", "response.incomplete", "response.failed"):
                last = event.response
    assert last is not None, "the stream had no end"
    assert last.status != "failed", "the answer failed"
    return _reading(last)


def _reading(response: Response) -> Reading:
    made = [item for item in response.output if isinstance(item, ResponseFunctionToolCall)]
    thinking = [item for item in response.output if isinstance(item, ResponseReasoningItem)]
    cut = response.incomplete_details
    assert cut is None or cut.reason == "max_output_tokens", "the answer was filtered"
    refused = [p for i in response.output if i.type == "message" for p in i.content]
    assert all(part.type == "output_text" for part in refused), "the model refused"
    return Reading(
        text=response.output_text,
        reasoning="\n\n".join(part.text for item in thinking for part in item.summary),
        calls=tuple(ToolCall(id=c.call_id, name=c.name, arguments=c.arguments) for c in made),
        usage=_usage(response),
        stop="max_tokens" if cut else "tool_use" if made else "end_turn",
    )


def _usage(response: Response) -> Usage | None:
    told = response.usage
    if told is None:
        return None
    return Usage(
        input_tokens=told.input_tokens,
        output_tokens=told.output_tokens,
        cached_tokens=told.input_tokens_details.cached_tokens,
        written_tokens=told.input_tokens_details.cache_write_tokens,
        reasoning_tokens=told.output_tokens_details.reasoning_tokens,
        requests=1,
    )


@EXAMPLES
@given(turn=turns(finishes=(None, "length")), utf8=st.booleans())
async def test_both_read_the_same_answer(
    turn: Turn, utf8: bool, server: LlmServer, client: AsyncOpenAI, provider: Streaming
) -> None:
    if utf8:
        turn = replace(turn, raw=in_utf8(b"".join(WIRE.pieces(turn, SENT))))
    server.script(turn, turn)
    assert await our_reading(provider, REQUEST) == await their_reading(client)
    assert server.refused == []


def kept(turn: Turn, left_out: str) -> list[Json]:
    """The events of an answer without those whose kinds fit a pattern."""
    pieces = (piece.partition(b"data: ")[2] for piece in WIRE.pieces(turn, SENT))
    events: list[Json] = [json.loads(piece) for piece in pieces]
    return [event for event in events if not re.search(left_out, event["type"])]


@pytest.mark.parametrize(
    "left_out",
    [
        r"\.delta$",
        r"arguments|\.done$",
        r"item|part|text|arguments",
        r"in_progress|text\.done|part\.done",
        r"item\.done|arguments\.done",
    ],
)
async def test_both_read_the_same_where_only_the_whole_is_told(
    left_out: str, server: LlmServer, client: AsyncOpenAI, provider: Streaming
) -> None:
    turn = Turn(
        text=["hel", "lo"],
        reasoning=["h", "m"],
        calls=[Call(name="f", arguments='{"x": 1}'), Call(name="g", id="call_2")],
    )
    told = Turn(events=kept(turn, left_out))
    server.script(turn, told, told)
    plain = await our_reading(provider, REQUEST)
    assert (plain.text, plain.reasoning, len(plain.calls)) == ("hello", "hm", 2)
    assert await our_reading(provider, REQUEST) == plain
    assert await their_reading(client) == plain


CALL = Call(name="f", arguments='{"x": 1}')
LENGTH = len(b"".join(WIRE.pieces(Turn(text=["x"], calls=[CALL]), {"model": MODEL})))


@pytest.mark.parametrize(
    "turn",
    [
        Turn(text=["hello"], finish=""),
        Turn(text=["hello"], finish="failed", message="The server had an error"),
        Turn(text=["hello"], finish="failed", code="rate_limit_exceeded"),
        Turn(text=["hello"], finish="content_filter"),
        Turn(text=["No."], finish="refusal"),
        Turn(events=[]),
        Turn(raw=b"<html>busy</html>"),
        Turn(raw=b"data: {not json}\n\n"),
        Turn(events=[{"type": "error", "code": "server_error", "message": "no", "param": None}]),
        Turn(events=[{"type": "error", "error": {"message": "no"}}]),
        Turn(status=400, message="bad"),
        Turn(status=401, message="who?"),
        Turn(status=429, message="slow down"),
        Turn(status=500, message="oops"),
    ],
    ids=lambda turn: str(turn.finish or turn.status),
)
async def test_both_fail(
    turn: Turn, server: LlmServer, client: AsyncOpenAI, provider: Streaming
) -> None:
    server.script(turn, turn)
    with pytest.raises(ProviderError):
        await our_reading(provider, REQUEST)
    with pytest.raises((openai.OpenAIError, AssertionError, RuntimeError, ValueError)):
        await their_reading(client)


@pytest.mark.parametrize("cut", [*range(0, LENGTH - 1, 211), LENGTH - 2, LENGTH - 1])
async def test_an_answer_cut_anywhere_is_an_error_for_both(
    cut: int, server: LlmServer, client: AsyncOpenAI, provider: Streaming
) -> None:
    turn = Turn(text=["x"], calls=[CALL], cut=cut, delay=None)
    server.script(turn, turn)
    with pytest.raises(ProviderError):
        await our_reading(provider, REQUEST)
    with pytest.raises((openai.OpenAIError, AssertionError, RuntimeError)):
        await their_reading(client)


@settings(max_examples=200)
@given(request=requests())
@pytest.mark.parametrize("model", ["o3", "gpt-5", "gpt-4o"])
def test_our_requests_fit_the_vendor_s_types_and_rules(model: str, request: ChatRequest) -> None:
    body = responses_request(request, "openai", model, model_hints(model))
    assert request_problem(body) is None
    assert as_typed(ASKED, body) == body


async def test_what_is_sent_back_is_what_the_vendor_s_own_client_would_send(
    server: LlmServer, client: AsyncOpenAI, provider: Streaming
) -> None:
    turn = Turn(reasoning=["hm"], text=["I ", "look"], calls=[CALL])
    server.script(turn, turn)
    message, _ = await collect(provider.stream(REQUEST))
    result = Message(role="tool", tool_call_id="call_1", content="1")
    again = ChatRequest(messages=[*REQUEST.messages, message, result])
    sent = responses_request(again, "openai", MODEL, model_hints(MODEL))
    stream = await client.responses.create(
        model=MODEL, input="hi", include=["reasoning.encrypted_content"], stream=True
    )
    ends = [event async for event in stream if event.type == "response.completed"]
    assert sent["input"][1:-1] == [item.to_dict() for item in ends[0].response.output]
    assert (as_typed(ASKED, sent), request_problem(sent)) == (sent, None)


class Weather(BaseModel):
    city: str


async def test_the_vendor_s_client_can_use_our_server(
    server: LlmServer, client: AsyncOpenAI
) -> None:
    server.script(says('{"city": ', '"Bonn"}'))
    async with client.responses.stream(
        model="gpt-4o",
        instructions="Be brief.",
        input=[
            {"role": "user", "content": "hi"},
            {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "a", "output": "1"},
        ],
        tools=[
            {"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": False}
        ],
        tool_choice="none",
        temperature=0.5,
        text_format=Weather,
    ) as stream:
        response = await stream.get_final_response()
    assert (response.output_parsed, server.refused) == (Weather(city="Bonn"), [])


async def test_the_vendor_s_client_knows_our_server_s_errors(
    server: LlmServer, client: AsyncOpenAI
) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        await client.responses.create(model="gpt-4o", input="hi", max_output_tokens=1, stream=True)
    assert (caught.value.param, caught.value.type) == (
        "max_output_tokens",
        "invalid_request_error",
    )
