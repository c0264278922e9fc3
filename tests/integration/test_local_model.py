from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from octo_lab.core.errors import RateLimited, StreamCut
from octo_lab.core.messages import ChatRequest, Message, OneTool, ToolCall, ToolChoice, ToolSpec
from octo_lab.core.stream import Done, Remarked, StreamEvent, TextDelta, ToolCalled, UsageReported
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.local.desk import ModelDesk
from octo_lab.llm.local.policy import LocalPolicy
from octo_lab.llm.local.process import LlamaProcess, read_spec
from octo_lab.llm.local.schema import answer_schema
from octo_lab.llm.provider import Provider, collect
from octo_lab.llm.providers.local import Local
from octo_lab.llm.registry import (
    ModelSetup,
    builtin_providers,
    replay_model,
    resolve_model,
)
from octo_lab.tools.registry import builtin_tools
from tests.integration.llama_server import model_file

pytestmark = [pytest.mark.anyio, pytest.mark.llama]

READ = ToolSpec(
    name="read_file",
    description="Read a text file.",
    schema={
        "type": "object",
        "properties": {"path": {"type": "string"}},
        "required": ["path"],
    },
)


@pytest.fixture
async def http() -> AsyncGenerator[ModelHttp]:
    async with ModelHttp() as client:
        yield client


def model(http: ModelHttp, path: Path | None = None) -> Provider:
    """The model as ``local.model`` in the config connects it, without the retries."""
    local = LocalPolicy(model=str(path or model_file()), context=2048, threads=1)
    choice = resolve_model(None, ModelSetup(http=http, local=local), builtin_providers())
    return choice.entry.open(choice.config)


def ask(text: str, limit: int = 40, tools: tuple[ToolSpec, ...] = (), **more: Any) -> ChatRequest:
    messages = [
        Message(role="system", content="You answer in one short sentence."),
        Message(role="user", content=text),
    ]
    return ChatRequest(messages=messages, temperature=0.0, max_tokens=limit, tools=tools, **more)


QUESTION = ask("What is the capital of France?")
STORY = ask("Tell a very long story.", 1500)


async def events_of(provider: Provider, request: ChatRequest) -> list[StreamEvent]:
    async with aclosing(provider.stream(request)) as stream:
        return [event async for event in stream]


async def test_text_streams_after_the_model_was_loaded_and_nothing_is_printed(
    http: ModelHttp, capfd: pytest.CaptureFixture[str]
) -> None:
    provider = model(http)

    first = await events_of(provider, QUESTION)
    second = await events_of(provider, QUESTION)

    texts = [event.text for event in first if isinstance(event, TextDelta)]
    assert first[0] == Remarked("loading the model SmolLM2-135M-Instruct.Q4_1 (94 MiB) …")
    assert "Paris" in "".join(texts)
    assert len(texts) > 3
    assert isinstance(first[-1], Done)
    assert not any(isinstance(event, Remarked) for event in second)
    assert sum(isinstance(event, UsageReported) for event in second) == 1
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("choice", ["required", OneTool("read_file")])
async def test_a_demanded_call_is_made_as_the_schema_says(
    http: ModelHttp, choice: ToolChoice
) -> None:
    other = ToolSpec(name="get_time", description="The time.", schema={"type": "object"})
    tools = (READ,) if choice == "required" else (other, READ)
    request = ask("Read the file notes.txt.", 100, tools, tool_choice=choice)

    events = await events_of(model(http), request)

    (call,) = [event.call for event in events if isinstance(event, ToolCalled)]
    assert (call.name, list(json.loads(call.arguments))) == ("read_file", ["path"])
    assert events[-1] == Done("tool_use")
    assert not any(isinstance(event, TextDelta) for event in events)


async def test_the_result_of_a_call_is_answered_in_words_or_by_a_call(http: ModelHttp) -> None:
    call = ToolCall(id="a", name="read_file", arguments='{"path": "notes.txt"}')
    history = [
        Message(role="user", content="Read notes.txt"),
        Message(role="assistant", tool_calls=(call,)),
        Message(role="tool", content="Buy milk.", tool_call_id="a", tool_name="read_file"),
    ]
    request = ChatRequest(messages=history, tools=[READ], temperature=0.0, max_tokens=200)

    message, usage = await collect(model(http).stream(request))

    assert message.content or message.tool_calls
    assert '"answer"' not in message.content
    assert usage.requests == 1


async def test_closing_the_stream_ends_the_generation(http: ModelHttp) -> None:
    provider = model(http)
    async with aclosing(provider.stream(STORY)) as stream:
        async for event in stream:
            if isinstance(event, TextDelta):
                break
        assert await busy(http)

    with anyio.fail_after(5):
        while await busy(http):  # noqa: ASYNC110 - another process's state
            await anyio.sleep(0.05)
    assert "Paris" in (await collect(provider.stream(QUESTION)))[0].content


async def busy(http: ModelHttp) -> bool:
    server = running(http)
    headers = {"authorization": f"Bearer {server.key.reveal()}"}
    async with httpx.AsyncClient() as client:
        slots = (await client.get(f"{server.address}/slots", headers=headers)).json()
    return any(slot["is_processing"] for slot in slots)


def running(http: ModelHttp) -> LlamaProcess:
    server = http.companion(ModelDesk).server
    assert server is not None
    return server


async def test_another_model_waits_until_the_first_is_free(http: ModelHttp, tmp_path: Path) -> None:
    link = tmp_path / "other.gguf"
    link.symlink_to(model_file())
    other = model(http, link)
    async with aclosing(model(http).stream(STORY)) as stream:
        async for event in stream:
            if isinstance(event, TextDelta):
                break
        first = running(http)
        with pytest.raises(RateLimited, match="' is answering, and only one"):
            await collect(other.stream(QUESTION))

    assert "Paris" in (await collect(other.stream(QUESTION)))[0].content
    assert (running(http).spec.name, first.alive) == ("other", False)


async def test_nobody_without_the_key_is_answered(http: ModelHttp) -> None:
    await collect(model(http).stream(QUESTION))
    async with httpx.AsyncClient() as client:
        reply = await client.get(f"{running(http).address}/v1/models")

    assert reply.status_code == 401
    assert running(http).address.startswith("http://127.0.0.1:")


async def test_a_server_that_died_is_an_error_and_then_started_anew(http: ModelHttp) -> None:
    provider = model(http)
    async with aclosing(provider.stream(STORY)) as stream:
        async for event in stream:
            if isinstance(event, TextDelta):
                break
        running(http).kill()
        with pytest.raises(StreamCut):
            _ = [event async for event in stream]
    with anyio.fail_after(5):
        while running(http).alive:  # noqa: ASYNC110 - another process's state
            await anyio.sleep(0.01)

    assert "Paris" in (await collect(provider.stream(QUESTION)))[0].content


async def test_the_model_ends_with_the_connections() -> None:
    async with ModelHttp() as http:
        await collect(model(http).stream(QUESTION))
        server = running(http)
        assert server.alive

    assert not server.alive


async def test_a_recorded_answer_needs_no_model(http: ModelHttp, tmp_path: Path) -> None:
    tape = tmp_path / "tape.json"
    request = ask("Read the file notes.txt.", 100, (READ,), tool_choice="required")
    await http.record(tape)
    told = await collect(model(http).stream(request))

    async with ModelHttp() as other:
        choice = replay_model(await other.replay(tape), other)
        replayed = await collect(Local(choice.config).stream(request))
        assert other.companion(ModelDesk).server is None

    assert [call.arguments for call in replayed[0].tool_calls] == [
        call.arguments for call in told[0].tool_calls
    ]
    assert str(Path.home()) not in tape.read_text().replace(str(model_file()), "")


async def test_the_schemas_of_all_tools_are_accepted(http: ModelHttp) -> None:
    tools = [tool.spec for tool in builtin_tools()]
    request = ask("Which files are here?", 60, tuple(tools))

    assert len(tools) >= 5
    assert answer_schema(tools, {"type": "string"})["anyOf"]
    await collect(model(http).stream(request))


def test_a_spec_is_read_from_the_file() -> None:
    spec = read_spec(str(model_file()), LocalPolicy())

    assert (spec.context, spec.file.context) == (8192, 8192)
    assert 1 <= spec.threads <= max(1, (os.cpu_count() or 2) - 1)
