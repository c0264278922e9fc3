from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from itertools import zip_longest
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic import AsyncAnthropic
from anthropic.types import Message as TheirMessage
from anthropic.types import ToolUseBlock
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter

from octo_lab.core.errors import ProviderError
from octo_lab.core.messages import ChatRequest, Message, ProviderState, ToolCall, Usage
from octo_lab.llm.hints import model_hints
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.provider import collect
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.wires.anthropic.request import VERSION, messages_request
from octo_lab.llm.wires.anthropic.validate import request_problem
from octo_lab.llm.wires.anthropic.wire import ANTHROPIC
from octo_lab.llm.wires.streaming import Streaming
from octo_lab.testing.llm_script import Call, Json, Turn, says
from octo_lab.testing.llm_server import LlmServer
from octo_lab.testing.wires.anthropic import WIRE
from tests.llm.differential.differential import (
    ARGUMENTS,
    NAMES,
    TEXTS,
    Reading,
    as_typed,
    our_reading,
    requests,
    same_arguments,
    turns,
)

pytestmark = pytest.mark.anyio

MODEL = "claude-sonnet-4-6"
REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])
ASKED = TypeAdapter(MessageCreateParamsStreaming)
EXAMPLES = settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
MODELS = (
    *("claude-3-5-haiku-20241022", "claude-sonnet-4-20250514", "claude-opus-4-5"),
    *("claude-sonnet-4-6", "claude-opus-4-7", "claude-sonnet-5", "claude-opus-5-5", "glm-5"),
)


@pytest.fixture
async def client(server: LlmServer) -> AsyncGenerator[AsyncAnthropic]:
    base = server.base_url.removesuffix("/v1")
    async with AsyncAnthropic(base_url=base, api_key="k", max_retries=0) as made:
        yield made


@pytest.fixture
def provider(server: LlmServer, http: ModelHttp) -> Streaming:
    config = ProviderConfig(name="anthropic", model=MODEL, http=http, base_url=server.base_url)
    return Streaming(config, ANTHROPIC)


async def their_message(client: AsyncAnthropic) -> TheirMessage:
    """The answer as the vendor's own accumulator understands it; raises what it raises.

    It takes a stream without an end for whole: no stop reason then tells what it is.
    """
    async with client.messages.stream(
        model=MODEL, max_tokens=100, messages=[{"role": "user", "content": "hi"}]
    ) as stream:
        message = await stream.get_final_message()
    assert message.stop_reason, "the answer is not whole"
    assert message.stop_reason != "refusal", "the model refused"
    return message


async def their_reading(client: AsyncAnthropic) -> Reading:
    message = await their_message(client)
    made = [block for block in message.content if isinstance(block, ToolUseBlock)]
    return Reading(
        text="".join(block.text for block in message.content if block.type == "text"),
        reasoning="".join(b.thinking for b in message.content if b.type == "thinking"),
        calls=tuple(
            ToolCall(id=call.id, name=call.name, arguments=json.dumps(call.input)) for call in made
        ),
        usage=_usage(message),
        stop={"model_context_window_exceeded": "max_tokens", "pause_turn": "end_turn"}.get(
            message.stop_reason or "", message.stop_reason or ""
        ),
    )


def _usage(message: TheirMessage) -> Usage:
    told = message.usage
    read, written = told.cache_read_input_tokens or 0, told.cache_creation_input_tokens or 0
    thought = told.output_tokens_details.thinking_tokens if told.output_tokens_details else 0
    return Usage(
        input_tokens=told.input_tokens + read + written,
        output_tokens=told.output_tokens,
        cached_tokens=read,
        written_tokens=written,
        reasoning_tokens=thought,
        requests=1,
    )


def without_arguments(reading: Reading) -> Reading:
    return replace(reading, calls=tuple(replace(call, arguments="") for call in reading.calls))


async def both_agree(provider: Streaming, client: AsyncAnthropic) -> None:
    ours = await our_reading(provider, REQUEST)
    theirs = await their_reading(client)
    assert without_arguments(ours) == without_arguments(theirs)
    assert same_arguments(ours, theirs)


@EXAMPLES
@given(turn=turns(finishes=(None, "max_tokens", "stop_sequence"), without_usage=False))
async def test_both_read_the_same_answer(
    turn: Turn, server: LlmServer, client: AsyncAnthropic, provider: Streaming
) -> None:
    if turn.finish == "stop_sequence":
        turn = replace(turn, calls=[])
    server.script(turn, turn)
    await both_agree(provider, client)
    assert server.refused == []


def started(**usage: int) -> Json:
    message = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [],
        "usage": {"input_tokens": 1, "output_tokens": 1, **usage},
    }
    return {"type": "message_start", "message": message}


def block(index: int, start: Json, *deltas: Json) -> list[Json]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def ended(reason: str = "end_turn", **usage: Any) -> list[Json]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    told = {"usage": {"output_tokens": 2, **usage}}
    return [{"type": "message_delta", "delta": delta, **told}, {"type": "message_stop"}]


TEXT = st.builds(
    lambda given, parts: (
        {"type": "text", "text": given},
        *({"type": "text_delta", "text": part} for part in parts),
    ),
    TEXTS | st.just(""),
    st.lists(TEXTS, max_size=3),
)
THOUGHT = st.builds(
    lambda parts, signature: (
        {"type": "thinking", "thinking": "", "signature": ""},
        *({"type": "thinking_delta", "thinking": part} for part in parts),
        {"type": "signature_delta", "signature": signature},
    ),
    st.lists(TEXTS, max_size=3),
    st.text("abcXYZ+/=", min_size=1, max_size=30),
)
HIDDEN = st.builds(
    lambda data: ({"type": "redacted_thinking", "data": data},),
    st.text("abcXYZ+/=", min_size=1, max_size=30),
)
MADE = st.builds(
    lambda name, arguments, whole: (
        {
            "type": "tool_use",
            "name": name,
            "input": json.loads(arguments) if whole else {},
        },
        *(() if whole else ({"type": "input_json_delta", "partial_json": arguments},)),
    ),
    NAMES,
    ARGUMENTS,
    st.booleans(),
)
SERVED = st.just(
    (
        {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}},
        {"type": "input_json_delta", "partial_json": '{"query": "x'},
    )
)
ANY_BLOCKS = st.lists(TEXT | THOUGHT | HIDDEN | MADE | SERVED, max_size=7)


def as_events(blocks: list[tuple[Json, ...]]) -> list[Json]:
    events: list[Json] = []
    for index, (start, *deltas) in enumerate(blocks):
        own = {"id": f"toolu_{index}"} if start["type"] == "tool_use" else {}
        events += block(index, {**start, **own}, *deltas)
    return events


@EXAMPLES
@given(
    blocks=ANY_BLOCKS,
    usage=st.fixed_dictionaries(
        {},
        optional={
            "input_tokens": st.integers(1, 99),
            "cache_read_input_tokens": st.integers(0, 99),
            "cache_creation_input_tokens": st.integers(0, 99),
            "output_tokens_details": st.just({"thinking_tokens": 2}),
        },
    ),
)
async def test_both_read_blocks_of_every_kind_in_any_order(
    blocks: list[tuple[Json, ...]],
    usage: Mapping[str, Any],
    server: LlmServer,
    client: AsyncAnthropic,
    provider: Streaming,
) -> None:
    reason = "tool_use" if any(b[0]["type"] == "tool_use" for b in blocks) else "end_turn"
    turn = Turn(events=[started(), *as_events(blocks), *ended(reason, **usage)], delay=None)
    server.script(turn, turn)
    await both_agree(provider, client)


@EXAMPLES
@given(st.lists(st.tuples(NAMES, ARGUMENTS), min_size=1, max_size=4), st.integers(1, 9))
async def test_both_read_calls_whose_pieces_come_by_turns(
    server: LlmServer,
    client: AsyncAnthropic,
    provider: Streaming,
    made: list[tuple[str, str]],
    size: int,
) -> None:
    blocks: list[tuple[Json, ...]] = [
        (
            {"type": "tool_use", "name": name, "input": {}},
            *(
                {"type": "input_json_delta", "partial_json": arguments[at : at + size]}
                for at in range(0, len(arguments), size)
            ),
        )
        for name, arguments in made
    ]
    heads, deltas, tails = [], [], []
    for index in range(len(blocks)):
        head, *own, tail = as_events(blocks[: index + 1])[-len(blocks[index]) - 1 :]
        heads.append(head)
        deltas.append(own)
        tails.append(tail)
    mixed = [delta for row in zip_longest(*deltas) for delta in row if delta]
    turn = Turn(events=[started(), *heads, *mixed, *tails, *ended("tool_use")], delay=None)
    server.script(turn, turn)
    await both_agree(provider, client)


PLAIN = ("text", "thinking", "redacted_thinking", "tool_use")
SPOKEN = ({"type": "text", "text": "done"},)


@EXAMPLES
@given(blocks=ANY_BLOCKS)
async def test_thinking_goes_back_as_the_vendor_s_client_would_send_it(
    blocks: list[tuple[Json, ...]], server: LlmServer, client: AsyncAnthropic, provider: Streaming
) -> None:
    turn = Turn(events=[started(), *as_events([*blocks, SPOKEN]), *ended()], delay=None)
    server.script(turn, turn)
    said, _ = await collect(provider.stream(REQUEST))
    theirs = [_plain(part.to_dict()) for part in (await their_message(client)).content]
    theirs = [part for part in theirs if part["type"] in PLAIN and part.get("text", "x").strip()]
    if not said.provider_state:
        return
    results = [Message(role="tool", content="1", tool_call_id=c.id) for c in said.tool_calls]
    history = [Message(role="user", content="hi"), said, *results]
    request = ChatRequest(messages=[*history, Message(role="user", content="go on")])
    body = messages_request(request, provider.config, model_hints(MODEL)).body
    assert [turn["content"] for turn in body["messages"] if turn["role"] == "assistant"] == [theirs]
    assert request_problem(body) is None


def _plain(block: dict[str, object]) -> dict[str, Any]:
    """Without the fields that only the client's own types have."""
    own = ("type", "text", "thinking", "signature", "data", "id", "name", "input")
    return {name: value for name, value in block.items() if name in own}


PIECES = WIRE.pieces(
    Turn(reasoning=["hm"], text=["x"], calls=[Call(name="f", arguments='{"x": 1}')]),
    {"model": MODEL},
)
UNTIL_ITS_END = len(b"".join(PIECES[:-2]))  # all but the stop reason and message_stop


@pytest.mark.parametrize(
    "turn",
    [
        Turn(text=["hello"], finish="", done=False),
        Turn(text=["I"], finish="refusal"),
        Turn(events=[started(), {"type": "error", "error": {"type": "overloaded_error"}}]),
        Turn(events=[]),
        Turn(raw=b"<html>busy</html>"),
        Turn(raw=b"event: message_start\ndata: {not json}\n\n"),
        Turn(status=400, message="bad"),
        Turn(status=401, message="who?"),
        Turn(status=429, message="slow down"),
        Turn(status=500, message="oops"),
        Turn(status=529, message="Overloaded"),
    ],
    ids=lambda turn: str(turn.finish or turn.status),
)
async def test_both_fail(
    turn: Turn, server: LlmServer, client: AsyncAnthropic, provider: Streaming
) -> None:
    server.script(turn, turn)
    with pytest.raises(ProviderError):
        await our_reading(provider, REQUEST)
    with pytest.raises((anthropic.AnthropicError, AssertionError, ValueError, RuntimeError)):
        await their_message(client)


@pytest.mark.parametrize("cut", range(0, UNTIL_ITS_END, 97))
async def test_an_answer_cut_before_its_end_is_an_error_for_both(
    cut: int, server: LlmServer, client: AsyncAnthropic, provider: Streaming
) -> None:
    call = Call(name="f", arguments='{"x": 1}')
    turn = Turn(reasoning=["hm"], text=["x"], calls=[call], cut=cut, delay=None)
    server.script(turn, turn)
    with pytest.raises(ProviderError):
        await our_reading(provider, REQUEST)
    with pytest.raises((anthropic.AnthropicError, AssertionError, httpx2.HTTPError)):
        await their_message(client)


STATES = st.none() | st.builds(
    ProviderState,
    provider=st.sampled_from(["anthropic", "openai"]),
    model=st.sampled_from([*MODELS, "gpt-5"]),
    blob=st.sampled_from(
        [
            "",
            "{}",
            "[null]",
            '[{"type":"thinking","thinking":"hm","signature":"s"},null]',
            '[{"type":"thinking","thinking":"","signature":"s"},1,null]',
            '[{"type":"redacted_thinking","data":"d"},{"type":"thinking","thinking":"x"},2]',
        ]
    ),
)


@st.composite
def asked(draw: st.DrawFn) -> ChatRequest:
    """Requests whose messages have odd ids, private states of anybody, and failed calls."""
    request = draw(requests())
    messages = [
        replace(
            message,
            outcome=draw(st.sampled_from(["ok", "error", "denied"])),
            provider_state=draw(STATES) if message.role == "assistant" else None,
        )
        for message in request.messages
    ]
    odd = draw(st.sampled_from(["", "call.1:x", "\u00e4", "x" * 80]))
    renamed = [
        replace(
            message,
            tool_calls=tuple(replace(call, id=call.id + odd) for call in message.tool_calls),
            tool_call_id=message.tool_call_id + odd if message.role == "tool" else "",
        )
        for message in messages
    ]
    return replace(request, messages=renamed)


@settings(max_examples=150)
@given(request=asked())
@pytest.mark.parametrize("model", MODELS)
def test_our_requests_fit_the_vendor_s_types_and_rules(model: str, request: ChatRequest) -> None:
    config = ProviderConfig(name="anthropic", model=model, http=ModelHttp())
    written = messages_request(request, config, model_hints(model))
    assert request_problem(written.body, VERSION, written.betas) is None
    # The newest types have no temperature: the version of the API we name has.
    known = {name: value for name, value in written.body.items() if name != "temperature"}
    if "thinking" in known:
        thinking = known["thinking"]
        known["thinking"] = {n: part for n, part in thinking.items() if n != "block_binding"}
    known["messages"] = [_signed(message) for message in known["messages"]]
    assert as_typed(ASKED, known) == known


def _signed(message: dict[str, Any]) -> dict[str, Any]:
    """Other hosts sign no thinking, and get it back as it came; the vendor's types want a sign."""
    blocks = [
        {"signature": "", **block} if block["type"] == "thinking" else block
        for block in message["content"]
    ]
    return {**message, "content": blocks}


class Weather(BaseModel):
    city: str


async def test_the_vendor_s_client_can_use_our_server(
    server: LlmServer, client: AsyncAnthropic
) -> None:
    server.script(says('{"city": ', '"Bonn"}'))
    async with client.messages.stream(
        model=MODEL,
        max_tokens=2000,
        system=[{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        messages=[
            {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "a", "content": "1"}],
            },
        ],
        tools=[{"name": "f", "input_schema": {"type": "object"}}],
        tool_choice={"type": "none"},
        output_format=Weather,
        stop_sequences=["END"],
        thinking={"type": "adaptive"},
    ) as stream:
        message = await stream.get_final_message()
    assert (message.parsed_output, server.refused) == (Weather(city="Bonn"), [])


async def test_the_vendor_s_client_knows_our_server_s_errors(
    server: LlmServer, client: AsyncAnthropic
) -> None:
    with pytest.raises(anthropic.BadRequestError) as caught:
        await client.messages.create(
            model=MODEL, max_tokens=1, messages=[{"role": "user", "content": " "}], stream=True
        )
    assert caught.value.type == "invalid_request_error"
    assert caught.value.api_message == ("messages.0.content: text content blocks must be non-empty")


async def test_the_vendor_s_client_lists_our_server_s_models(
    server: LlmServer, client: AsyncAnthropic
) -> None:
    assert [model.id async for model in client.models.list()] == ["scripted"]
