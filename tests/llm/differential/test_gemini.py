from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import pytest
from google import genai
from google.genai import errors, types
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from octo_lab.core.errors import ProviderError
from octo_lab.core.messages import ChatRequest, Message, ToolCall, Usage
from octo_lab.llm.hints import model_hints
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.wires.gemini.request import request_bytes
from octo_lab.llm.wires.gemini.validate import request_problem
from octo_lab.llm.wires.gemini.wire import GEMINI
from octo_lab.llm.wires.streaming import Streaming
from octo_lab.testing.llm_script import Call, Json, Turn, says
from octo_lab.testing.llm_server import LlmServer
from octo_lab.testing.wires.gemini import WIRE
from tests.llm.differential.differential import (
    Reading,
    in_utf8,
    our_reading,
    requests,
    same_arguments,
    turns,
)

pytestmark = pytest.mark.anyio

MODEL = "gemini-2.5-flash"
REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])
THOUGHTFUL: Json = {"generationConfig": {"thinkingConfig": {"includeThoughts": True}}}
EXAMPLES = settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture
async def client(server: LlmServer) -> AsyncGenerator[genai.Client]:
    options = types.HttpOptions(
        base_url=server.base_url.removesuffix("/v1"),
        api_version="v1beta",
        retry_options=types.HttpRetryOptions(attempts=1),
    )
    made = genai.Client(api_key="k", http_options=options)
    yield made
    await made.aio.aclose()
    made.close()


@pytest.fixture
def provider(server: LlmServer, http: ModelHttp) -> Streaming:
    config = ProviderConfig(name="gemini", model=MODEL, http=http, base_url=server.base_url)
    return Streaming(config, GEMINI)


async def their_reading(client: genai.Client) -> Reading:
    """The answer as the vendor's client gives it, put together; raises what it raises.

    It takes a stream without an end, a refusal and an empty answer for whole.
    """
    thoughtful = types.ThinkingConfig(include_thoughts=True)
    config = types.GenerateContentConfig(thinking_config=thoughtful)
    stream = await client.aio.models.generate_content_stream(
        model=MODEL, contents="hi", config=config
    )
    parts: list[types.Part] = []
    usage, finish = None, None
    async for response in stream:
        candidate = (response.candidates or [types.Candidate()])[0]
        content = candidate.content or types.Content()
        parts += content.parts or []
        finish = candidate.finish_reason or finish
        usage = response.usage_metadata or usage
    assert finish in (types.FinishReason.STOP, types.FinishReason.MAX_TOKENS)
    return _reading(parts, usage, cut=finish is types.FinishReason.MAX_TOKENS)


def _reading(
    parts: list[types.Part],
    usage: types.GenerateContentResponseUsageMetadata | None,
    *,
    cut: bool,
) -> Reading:
    calls = tuple(_call(part.function_call) for part in parts if part.function_call)
    reading = Reading(
        text="".join(part.text for part in parts if part.text and not part.thought),
        reasoning="".join(part.text for part in parts if part.text and part.thought),
        calls=calls,
        usage=_usage(usage) if usage else None,
        stop="max_tokens" if cut else "tool_use" if calls else "end_turn",
    )
    assert cut or reading.text or reading.reasoning or calls, "the answer is empty"
    return reading


def _call(made: types.FunctionCall) -> ToolCall:
    return ToolCall(id=made.id or "", name=made.name or "", arguments=json.dumps(made.args))


def _usage(told: types.GenerateContentResponseUsageMetadata) -> Usage:
    thoughts = told.thoughts_token_count or 0
    return Usage(
        input_tokens=told.prompt_token_count or 0,
        output_tokens=(told.candidates_token_count or 0) + thoughts,
        cached_tokens=told.cached_content_token_count or 0,
        reasoning_tokens=thoughts,
        requests=1,
    )


@EXAMPLES
@given(turn=turns(finishes=(None, "length", "stop")), utf8=st.booleans())
async def test_both_read_the_same_answer(
    turn: Turn, utf8: bool, server: LlmServer, client: genai.Client, provider: Streaming
) -> None:
    assume(turn.calls or turn.finish == "length" or any((*turn.text, *turn.reasoning)))
    if utf8:
        turn = replace(turn, raw=in_utf8(b"".join(WIRE.pieces(turn, THOUGHTFUL))))
    server.script(turn, turn)
    ours, theirs = await our_reading(provider, REQUEST), await their_reading(client)
    assert same_arguments(ours, theirs)
    assert replace(ours, calls=()) == replace(theirs, calls=())
    assert server.refused == []


def chunk(finish: str = "", *parts: Json) -> Json:
    candidate: Json = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    return {"candidates": [candidate | ({"finishReason": finish} if finish else {})]}


async def test_both_count_thoughts_and_what_the_cache_held(
    server: LlmServer, client: genai.Client, provider: Streaming
) -> None:
    usage: Json = {
        "promptTokenCount": 9,
        "cachedContentTokenCount": 4,
        "candidatesTokenCount": 5,
        "thoughtsTokenCount": 30,
        "totalTokenCount": 44,
    }
    signed = {"text": "", "thoughtSignature": "c2ln"}
    first = {**chunk("", {"text": "hm", "thought": True}), "usageMetadata": usage}
    turn = Turn(events=[first, {**chunk("STOP", {"text": "a"}, signed), "usageMetadata": usage}])
    server.script(turn, turn)
    reading = await our_reading(provider, REQUEST)
    assert reading == await their_reading(client)
    assert reading.usage == Usage(
        input_tokens=9, output_tokens=35, cached_tokens=4, reasoning_tokens=30, requests=1
    )


CALL = Call(name="f", arguments='{"x": 1}')
PIECES = WIRE.pieces(Turn(text=["x", "y"], calls=[CALL], usage=None), THOUGHTFUL)


@pytest.mark.parametrize(
    "turn",
    [
        Turn(text=["hello"], finish=""),
        Turn(text=["hello"], finish="content_filter"),
        Turn(text=["hello"], finish="RECITATION"),
        Turn(text=[], finish="MALFORMED_FUNCTION_CALL"),
        Turn(text=[]),
        Turn(events=[{"promptFeedback": {"blockReason": "SAFETY"}}]),
        Turn(events=[chunk("", {"text": "a"}), {"error": {"code": 500, "message": "no"}}]),
        Turn(events=[]),
        Turn(raw=b"data: {not json}\n\n"),
        Turn(raw=PIECES[0] + json.dumps({"error": {"code": 503, "message": "busy"}}).encode()),
        Turn(status=400, message="bad"),
        Turn(status=403, message="who?"),
        Turn(status=404, message="what?"),
        Turn(status=429, message="slow down"),
        Turn(status=500, message="oops"),
    ],
    ids=lambda turn: str(turn.finish or turn.status),
)
async def test_both_fail(
    turn: Turn, server: LlmServer, client: genai.Client, provider: Streaming
) -> None:
    server.script(turn, turn)
    with pytest.raises(ProviderError):
        await our_reading(provider, REQUEST)
    with pytest.raises((errors.APIError, AssertionError, ValueError)):
        await their_reading(client)


@pytest.mark.parametrize("cut", range(0, len(b"".join(PIECES[:-1])), 37))
async def test_an_answer_cut_before_its_end_is_an_error_for_both(
    cut: int, server: LlmServer, client: genai.Client, provider: Streaming
) -> None:
    turn = Turn(text=["x", "y"], calls=[CALL], usage=None, cut=cut, delay=None)
    server.script(turn, turn)
    with pytest.raises(ProviderError):
        await our_reading(provider, REQUEST)
    with pytest.raises(Exception, match="peer closed connection"):  # of its own transport
        await their_reading(client)


TYPES: dict[str, Any] = {
    "systemInstruction": types.Content,
    "toolConfig": types.ToolConfig,
    "generationConfig": types.GenerationConfig,
}


def as_typed(body: Json) -> Json:
    """A request as the vendor's types know it; they refuse fields that they do not know."""
    typed: Json = {name: _dumped(TYPES[name], body[name]) for name in TYPES if name in body}
    typed["contents"] = [_dumped(types.Content, turn) for turn in body["contents"]]
    if "tools" in body:
        typed["tools"] = [_dumped(types.Tool, tool) for tool in body["tools"]]
    return typed


def _dumped(kind: type[BaseModel], value: object) -> object:
    parsed = kind.model_validate(value)
    return parsed.model_dump(mode="json", by_alias=True, exclude_unset=True)


@settings(max_examples=200)
@given(request=requests())
@pytest.mark.parametrize("model", ["gemini-2.0-flash", MODEL, "gemini-3-pro-preview"])
def test_our_requests_fit_the_vendor_s_types_and_rules(model: str, request: ChatRequest) -> None:
    config = ProviderConfig(name="gemini", model=model, http=ModelHttp())
    body = json.loads(request_bytes(request, config, model_hints(model)))
    assert request_problem(body) is None
    assert in_one_alphabet(as_typed(body)) == in_one_alphabet(body)


def in_one_alphabet(body: Json) -> str:
    """Base64 has two; the vendor's client writes the other one."""
    return json.dumps(body, sort_keys=True).translate(str.maketrans("-_", "+/"))


class Weather(BaseModel):
    city: str


def weather(city: str) -> str:
    """The weather of a city."""
    return f"fine in {city}"


async def test_the_vendor_s_client_can_use_our_server(
    server: LlmServer, client: genai.Client
) -> None:
    server.script(says('{"city": ', '"Bonn"}'))
    said = [
        types.Content(role="user", parts=[types.Part(text="hi")]),
        types.Content(
            role="model",
            parts=[
                types.Part(
                    function_call=types.FunctionCall(id="a", name="weather", args={"my_city": 1}),
                    thought_signature=b"sig",
                )
            ],
        ),
        types.Content(
            role="user",
            parts=[
                types.Part(
                    function_response=types.FunctionResponse(
                        id="a", name="weather", response={"the_output": "fine"}
                    )
                )
            ],
        ),
    ]
    config = types.GenerateContentConfig(
        system_instruction="Be brief.",
        tools=[weather],
        tool_config=types.ToolConfig(
            function_calling_config=types.FunctionCallingConfig(
                mode=types.FunctionCallingConfigMode.ANY, allowed_function_names=["weather"]
            )
        ),
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        response_mime_type="application/json",
        response_schema=Weather,
        thinking_config=types.ThinkingConfig(include_thoughts=True, thinking_budget=100),
        max_output_tokens=9,
        temperature=0.5,
        stop_sequences=["END"],
    )
    stream = await client.aio.models.generate_content_stream(
        model=MODEL, contents=said, config=config
    )
    text = "".join([response.text or "" async for response in stream])
    assert (json.loads(text), server.refused) == ({"city": "Bonn"}, [])


async def test_the_vendor_s_client_knows_our_server_s_errors_and_models(
    server: LlmServer, client: genai.Client
) -> None:
    stream = await client.aio.models.generate_content_stream(model=MODEL, contents=" ")
    with pytest.raises(errors.ClientError) as caught:
        await anext(stream)
    assert (caught.value.code, caught.value.status) == (400, "INVALID_ARGUMENT")
    listed = [model.name async for model in await client.aio.models.list()]
    assert listed == ["models/scripted"]
