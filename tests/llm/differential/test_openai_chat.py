from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace

import openai
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openai import AsyncOpenAI
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from pydantic import BaseModel, TypeAdapter

from octo_lab.core.errors import ProviderError
from octo_lab.core.messages import ChatRequest, Message, ToolCall, Usage
from octo_lab.llm.hints import model_hints
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.wires.chat.request import chat_request
from octo_lab.llm.wires.chat.validate import request_problem
from octo_lab.llm.wires.chat.wire import CHAT
from octo_lab.llm.wires.streaming import Streaming
from octo_lab.testing.llm_script import Call, Json, Turn, says
from octo_lab.testing.llm_server import LlmServer
from octo_lab.testing.wires.chat import WIRE
from tests.llm.differential.differential import (
    Reading,
    as_typed,
    in_utf8,
    our_reading,
    requests,
    turns,
)

pytestmark = pytest.mark.anyio

REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])
SENT = {"model": "gpt-4o", "stream_options": {"include_usage": True}}
ASKED = TypeAdapter(CompletionCreateParamsStreaming)
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
    config = ProviderConfig(name="openai", model="gpt-4o", http=http, base_url=server.base_url)
    return Streaming(config, CHAT)


async def their_reading(client: AsyncOpenAI) -> Reading:
    """The answer as the vendor's own accumulator understands it; raises what it raises.

    It takes a stream without an end for whole: no finish reason then tells what it is.
    """
    async with client.chat.completions.stream(
        model="gpt-4o",
        messages=[{"role": "user", "content": "hi"}],
        stream_options={"include_usage": True},
    ) as stream:
        try:
            return _reading(await stream.get_final_completion())
        except openai.LengthFinishReasonError as cut:
            return _reading(cut.completion)


def _reading(completion: ChatCompletion) -> Reading:
    choice = completion.choices[0]
    message, finish = choice.message, str(choice.finish_reason)
    assert finish in ("stop", "length", "tool_calls"), "the answer is not whole"
    assert not message.refusal, "the model refused"
    made = [call for call in message.tool_calls or () if call.type == "function"]
    return Reading(
        text=message.content or "",
        reasoning=(message.model_extra or {}).get("reasoning_content") or "",
        calls=tuple(
            ToolCall(id=call.id, name=call.function.name, arguments=call.function.arguments)
            for call in made
        ),
        usage=_usage(completion.usage) if completion.usage else None,
        stop="max_tokens" if finish == "length" else "tool_use" if made else "end_turn",
    )


def _usage(told: CompletionUsage) -> Usage:
    details = told.prompt_tokens_details
    return Usage(
        input_tokens=told.prompt_tokens,
        output_tokens=told.completion_tokens,
        cached_tokens=(details and details.cached_tokens) or 0,
        requests=1,
    )


@EXAMPLES
@given(turn=turns(finishes=(None, "length", "stop")), utf8=st.booleans())
async def test_both_read_the_same_answer(
    turn: Turn, utf8: bool, server: LlmServer, client: AsyncOpenAI, provider: Streaming
) -> None:
    if utf8:
        turn = replace(turn, raw=in_utf8(b"".join(WIRE.pieces(turn, SENT))))
    server.script(turn, turn)
    assert await our_reading(provider, REQUEST) == await their_reading(client)
    assert server.refused == []


CALL = Call(name="f", arguments='{"x": 1}')
PIECES = WIRE.pieces(Turn(text=["x"], calls=[CALL], usage=None), {"model": "gpt-4o"})
UNTIL_ITS_END = len(b"".join(PIECES[:-2]))  # all but the finish reason and [DONE]


def chunk(**choice: object) -> Json:
    return {
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "m",
        "choices": [{"index": 0, "delta": {}, "finish_reason": None, **choice}],
    }


@pytest.mark.parametrize(
    "turn",
    [
        Turn(text=["hello"], finish="", done=False),
        Turn(text=["hello"], finish="content_filter"),
        Turn(events=[chunk(delta={"refusal": "No."}), chunk(finish_reason="stop")]),
        Turn(events=[chunk(delta={"content": "a"}), {"error": {"message": "no", "code": 500}}]),
        Turn(events=[], done=False),
        Turn(raw=b"<html>busy</html>"),
        Turn(raw=b"data: {not json}\n\n"),
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
    with pytest.raises((openai.OpenAIError, AssertionError, ValueError)):
        await their_reading(client)


@pytest.mark.parametrize("cut", range(0, UNTIL_ITS_END, 97))
async def test_an_answer_cut_before_its_end_is_an_error_for_both(
    cut: int, server: LlmServer, client: AsyncOpenAI, provider: Streaming
) -> None:
    turn = Turn(text=["x"], calls=[CALL], usage=None, cut=cut, delay=None)
    server.script(turn, turn)
    with pytest.raises(ProviderError):
        await our_reading(provider, REQUEST)
    with pytest.raises((openai.OpenAIError, AssertionError)):
        await their_reading(client)


@settings(max_examples=200)
@given(request=requests())
@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4.1", "o3", "gpt-5"])
def test_our_requests_fit_the_vendor_s_types_and_rules(model: str, request: ChatRequest) -> None:
    body = chat_request(request, model, model_hints(model), "openai")
    assert request_problem(body) is None
    assert as_typed(ASKED, body) == body


class Weather(BaseModel):
    city: str


async def test_the_vendor_s_client_can_use_our_server(
    server: LlmServer, client: AsyncOpenAI
) -> None:
    server.script(says('{"city": ', '"Bonn"}'))
    async with client.chat.completions.stream(
        model="gpt-4o",
        messages=[
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            {
                "role": "assistant",
                "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
                ],
            },
            {"role": "tool", "tool_call_id": "a", "content": "1"},
        ],
        response_format=Weather,
        temperature=0.5,
        stop=["END"],
        max_completion_tokens=9,
    ) as stream:
        completion = await stream.get_final_completion()
    assert (completion.choices[0].message.parsed, server.refused) == (Weather(city="Bonn"), [])


async def test_the_vendor_s_client_knows_our_server_s_errors(
    server: LlmServer, client: AsyncOpenAI
) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        await client.chat.completions.create(
            model="gpt-4o", messages=[{"role": "user", "content": " "}], stream=True
        )
    assert (caught.value.param, caught.value.type) == (
        "messages[0].content",
        "invalid_request_error",
    )
