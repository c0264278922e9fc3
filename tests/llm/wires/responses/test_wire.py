from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from octo_lab.core.errors import (
    AuthRejected,
    BadRequest,
    ContentFiltered,
    ModelNotFound,
    ProviderError,
    RateLimited,
    StreamCut,
    Unavailable,
)
from octo_lab.core.messages import ChatRequest, Media, Message, ToolCall, ToolSpec, Usage
from octo_lab.core.stream import Done, TextDelta, UsageReported
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.provider import Provider, collect
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.registry import replay_model
from octo_lab.llm.secret import Secret
from octo_lab.llm.tool_names import alias
from octo_lab.llm.wires.responses.wire import PATH, RESPONSES
from octo_lab.llm.wires.streaming import Streaming
from octo_lab.testing.llm_script import Turn, call, calls, fails, says
from octo_lab.testing.llm_server import LlmServer
from octo_lab.testing.wires.responses import WIRE
from tests.llm.differential.differential import drained

pytestmark = pytest.mark.anyio

KEY = Secret("sk-test-0123456789abcdef")
TOOL = ToolSpec(name="files.read", description="reads", schema={"type": "object"})
REQUEST = ChatRequest(messages=[Message(role="user", content="hi there")], tools=[TOOL])
LENGTH = len(b"".join(WIRE.pieces(says("hello"), {"model": "o3"})))


@pytest.fixture
def provider(server: LlmServer, http: ModelHttp) -> Streaming:
    return Streaming(
        ProviderConfig(name="lab", model="o3", http=http, base_url=server.base_url, api_key=KEY),
        RESPONSES,
    )


async def test_text_arrives_in_its_pieces(server: LlmServer, provider: Streaming) -> None:
    server.script(says("Hel", "lo"))
    assert await drained(provider.stream(REQUEST)) == [
        TextDelta("Hel"),
        TextDelta("lo"),
        UsageReported(Usage(input_tokens=10, output_tokens=5, requests=1)),
        Done("end_turn"),
    ]


async def test_the_request_carries_key_and_model(server: LlmServer, provider: Streaming) -> None:
    message, _ = await collect(provider.stream(REQUEST))
    received = server.requests[0]
    assert (received.path, received.headers["authorization"]) == (
        f"/v1{PATH}",
        f"Bearer {KEY.reveal()}",
    )
    assert (received.body["model"], message.content) == ("o3", "echo: hi there")


async def test_a_dialogue_with_tools_keeps_its_thinking_and_the_tools_their_names(
    server: LlmServer, provider: Streaming
) -> None:
    made = call(alias(TOOL.name), path="a.txt")
    server.script(calls(made, text=["Let me look."], reasoning=["hm"]))
    first, _ = await collect(provider.stream(REQUEST))
    result = Message(role="tool", tool_call_id="call_1", content="1")
    await collect(provider.stream(replace(REQUEST, messages=[*REQUEST.messages, first, result])))
    assert first.tool_calls == (
        ToolCall(id="call_1", name="files.read", arguments='{"path": "a.txt"}'),
    )
    sent = server.requests[1].body["input"]
    assert ([item["type"] for item in sent], server.refused) == (
        ["message", "reasoning", "message", "function_call", "function_call_output"],
        [],
    )
    assert sent[1]["encrypted_content"]


async def test_the_whole_dialogue_passes_the_strict_server(
    server: LlmServer, provider: Streaming
) -> None:
    picture = Media(mime="image/png", data=b"png")
    history = [
        Message(role="system", content="Be brief."),
        Message(role="user", media=(picture,)),
        Message(role="assistant", tool_calls=(ToolCall(id="a", name="f", arguments='{"p'),)),
        Message(role="tool", tool_call_id="a", content="", outcome="error", media=(picture,)),
        Message(role="user", content="again"),
    ]
    message, _ = await collect(provider.stream(ChatRequest(messages=history, tools=[TOOL])))
    assert (message.content, server.refused) == ("echo: again", [])


@pytest.mark.parametrize("cut", range(0, LENGTH, 97))
async def test_a_cut_anywhere_before_the_end_is_a_cut(
    cut: int, server: LlmServer, provider: Streaming
) -> None:
    server.script(says("hello", cut=cut))
    with pytest.raises((StreamCut, Unavailable)):
        await drained(provider.stream(REQUEST))


async def test_an_answer_is_whole_at_its_terminal_event_even_if_the_server_hangs_or_dies(
    server: LlmServer, provider: Streaming
) -> None:
    server.script(says("all", hang=True), says("all", cut=10**6))
    for _ in range(2):
        message, _ = await collect(provider.stream(REQUEST))
        assert message.content == "all"


@pytest.mark.parametrize(
    ("turn", "kind"),
    [
        (fails(400, "bad"), BadRequest),
        (fails(401, "who?"), AuthRejected),
        (fails(404, "no model"), ModelNotFound),
        (fails(429, "slow down"), RateLimited),
        (fails(500, "oops"), Unavailable),
        (says("No.", finish="refusal"), ContentFiltered),
        (says("I", finish="content_filter"), ContentFiltered),
        (says("I", finish="failed", code="rate_limit_exceeded"), RateLimited),
        (says("I", finish=""), StreamCut),
        (Turn(events=[]), Unavailable),
        (Turn(raw=b"<html>", headers={"content-type": "text/html"}), Unavailable),
    ],
)
async def test_each_failure_has_its_kind(
    turn: Turn, kind: type[ProviderError], server: LlmServer, provider: Streaming
) -> None:
    server.script(turn)
    with pytest.raises(kind) as caught:
        await drained(provider.stream(REQUEST))
    assert KEY.reveal() not in str(caught.value)


async def test_a_server_that_does_not_stream_is_read_as_well(
    server: LlmServer, provider: Streaming
) -> None:
    part = {"type": "output_text", "text": "hi"}
    output = [{"type": "message", "content": [part]}]
    body = {"object": "response", "status": "completed", "output": output}
    kind = {"content-type": "application/json"}
    server.script(Turn(raw=json.dumps(body).encode(), headers=kind))
    assert await drained(provider.stream(REQUEST)) == [TextDelta("hi"), Done("end_turn")]


async def test_a_recorded_talk_is_replayed_without_the_server(
    server: LlmServer, provider: Streaming, http: ModelHttp, tmp_path: Path
) -> None:
    tape = tmp_path / "talk.json"
    await http.record(tape)
    server.script(calls(call("f"), reasoning=["hm"]), says("done"))

    async def talk(asked: Provider) -> list[Message]:
        first, _ = await collect(asked.stream(REQUEST))
        result = Message(role="tool", tool_call_id="call_1", content="1")
        again = replace(REQUEST, messages=[*REQUEST.messages, first, result])
        return [first, (await collect(asked.stream(again)))[0]]

    recorded = await talk(provider)
    choice = replay_model(await http.replay(tape), http)
    assert await talk(choice.entry.open(choice.config)) == recorded
    assert len(server.requests) == 2
