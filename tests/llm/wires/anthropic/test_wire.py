"""Anthropic's dialect over real sockets, against a server as strict as the vendor."""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import Any

import pytest

from octo_lab.core.errors import (
    AuthRejected,
    BadRequest,
    ContextOverflow,
    ModelNotFound,
    ProviderError,
    QuotaExceeded,
    RateLimited,
    StreamCut,
    Unavailable,
)
from octo_lab.core.messages import (
    ChatRequest,
    Media,
    Message,
    ProviderState,
    ToolCall,
    ToolSpec,
    Usage,
)
from octo_lab.core.stream import Done, StreamEvent, TextDelta, UsageReported
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.model_lists import ModelLists
from octo_lab.llm.provider import collect
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.providers import anthropic, zai
from octo_lab.llm.registry import ModelSetup, builtin_providers, resolve_model
from octo_lab.llm.secret import Secret
from octo_lab.llm.wires.anthropic.request import VERSION
from octo_lab.llm.wires.anthropic.wire import ANTHROPIC
from octo_lab.llm.wires.streaming import Streaming
from octo_lab.testing.llm_script import Turn, call, calls, fails, says
from octo_lab.testing.llm_server import LlmServer
from octo_lab.testing.wires.anthropic import named

pytestmark = pytest.mark.anyio

KEY = Secret("sk-ant-test-0123456789abcdef")
MODEL = "claude-sonnet-4-20250514"
ODD = "mcp.server/read file"
TOOLS = (
    ToolSpec(name="read_file", description="reads", schema={"type": "object"}),
    ToolSpec(name=ODD, description="reads too", schema={"type": "object"}),
)
HI = Message(role="user", content="hi there")
REQUEST = ChatRequest(messages=[HI], tools=TOOLS)
USAGE = Usage(input_tokens=10, output_tokens=5, requests=1)


def provider(server: LlmServer, http: ModelHttp, **more: Any) -> Streaming:
    facts = {"name": "anthropic", "model": MODEL, "base_url": server.base_url, "api_key": KEY}
    return Streaming(ProviderConfig(http=http, **{**facts, **more}), ANTHROPIC)


async def events(made: Streaming, request: ChatRequest = REQUEST) -> list[StreamEvent]:
    async with aclosing(made.stream(request)) as stream:
        return [event async for event in stream]


async def test_text_arrives_in_its_pieces(server: LlmServer, http: ModelHttp) -> None:
    server.script(says("Hel", "lo"))
    assert await events(provider(server, http)) == [
        TextDelta("Hel"),
        TextDelta("lo"),
        UsageReported(USAGE),
        Done("end_turn"),
    ]


@pytest.mark.parametrize("end", ["", "/v1", "/v1/"])
async def test_key_and_version_travel_as_the_vendor_wants_them(
    end: str, server: LlmServer, http: ModelHttp
) -> None:
    base = server.base_url.removesuffix("/v1") + end
    await events(provider(server, http, base_url=base))
    received = server.requests[0]
    sent = {name: received.headers.get(name) for name in ("x-api-key", "anthropic-version")}
    assert (received.path, sent, "authorization" in received.headers) == (
        "/v1/messages",
        {"x-api-key": KEY.reveal(), "anthropic-version": VERSION},
        False,
    )


async def test_without_a_key_no_header_is_sent(server: LlmServer, http: ModelHttp) -> None:
    await events(provider(server, http, api_key=None))
    headers = server.requests[0].headers
    assert ("x-api-key" in headers, headers["anthropic-version"]) == (False, VERSION)


async def test_a_whole_turn_with_thinking_tools_and_pictures(
    server: LlmServer, http: ModelHttp
) -> None:
    made = (call("read_file", path="a.txt"), call("read_file", id="call_2", path="b.txt"))
    first = calls(*made, text=["Let me look."], reasoning=["hm, ", "files"], signature="c2ln/+=")
    server.script(first, says("Done."))
    asked = ChatRequest(messages=[HI], tools=TOOLS, effort="low")
    said, usage = await collect(provider(server, http).stream(asked))
    state = ProviderState(
        provider="anthropic",
        model=MODEL,
        blob='[{"type":"thinking","thinking":"hm, files","signature":"c2ln/+="},12,null,null]',
    )
    assert (said, usage) == (
        Message(
            role="assistant",
            content="Let me look.",
            reasoning="hm, files",
            tool_calls=tuple(ToolCall(id=c.id, name=c.name, arguments=c.arguments) for c in made),
            provider_state=state,
        ),
        USAGE,
    )
    results = [
        Message(role="tool", tool_call_id="call_2", content="gone", outcome="error"),
        Message(role="tool", tool_call_id="call_1", media=(Media(mime="image/png", data=b"png"),)),
    ]
    again = ChatRequest(messages=[HI, said, *results], tools=TOOLS, effort="low")
    answer, _ = await collect(provider(server, http).stream(again))
    replayed = server.requests[1].body["messages"][1]["content"]
    assert (answer.content, server.refused) == ("Done.", [])
    assert replayed[0] == {"type": "thinking", "thinking": "hm, files", "signature": "c2ln/+="}
    assert server.requests[1].body["thinking"] == {"type": "enabled", "budget_tokens": 4096}


async def test_another_model_or_provider_gets_no_thinking_of_the_first(
    server: LlmServer, http: ModelHttp
) -> None:
    server.script(says("x", reasoning=["hm"], signature="c2ln"))
    said, _ = await collect(provider(server, http).stream(REQUEST))
    history = ChatRequest(messages=[HI, said, HI], tools=TOOLS)
    for other in ({"model": "claude-opus-4-20250514"}, {"name": "zai"}):
        await events(provider(server, http, **other), history)
    kinds = [
        [part["type"] for part in received.body["messages"][1]["content"]]
        for received in server.requests[1:]
    ]
    assert (kinds, server.refused) == ([["text"], ["text"]], [])


async def test_a_tool_of_an_odd_name_is_called_by_its_own(
    server: LlmServer, http: ModelHttp
) -> None:
    server.script(lambda body: calls(call(body["tools"][1]["name"], path="a")))
    said, _ = await collect(provider(server, http).stream(REQUEST))
    assert [one.name for one in said.tool_calls] == [ODD]
    assert server.refused == []


async def test_a_structured_answer_comes_as_text_whatever_way_it_takes(
    server: LlmServer, http: ModelHttp
) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    request = ChatRequest(messages=[HI], response_schema=schema)
    server.script(calls(call("final_answer", a=1)), says('{"a": 1}'))
    by_tool, _ = await collect(provider(server, http).stream(request))
    by_form, _ = await collect(provider(server, http, model="claude-opus-4-6").stream(request))
    assert (by_tool.content, by_form.content, by_tool.tool_calls) == ('{"a": 1}', '{"a": 1}', ())
    assert [("tools" in r.body, "output_config" in r.body) for r in server.requests] == [
        (True, False),
        (False, True),
    ]
    assert server.refused == []


async def test_a_server_that_refuses_a_field_is_asked_again_without_it(
    server: LlmServer, http: ModelHttp
) -> None:
    server.script(
        fails(400, "output_config.format: Extra inputs are not permitted"),
        calls(call("final_answer", a=1)),
        fails(400, "messages.1.content.0: Invalid `signature` in `thinking` block"),
        says("x"),
        fails(400, "adaptive thinking is not supported on this model"),
        says("y"),
    )
    made = provider(server, http, model="claude-opus-4-6")
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    answer, _ = await collect(made.stream(ChatRequest(messages=[HI], response_schema=schema)))
    state = ProviderState(
        provider="anthropic",
        model="claude-opus-4-6",
        blob='[{"type":"thinking","thinking":"hm","signature":"s"},2]',
    )
    said = Message(role="assistant", content="so", provider_state=state)
    await events(made, ChatRequest(messages=[HI, said, HI]))
    await events(made, ChatRequest(messages=[HI], effort="high"))
    assert (answer.content, len(server.requests), server.refused) == ('{"a": 1}', 6, [])
    assert [len(r.body["messages"][1]["content"]) for r in server.requests[2:4]] == [2, 1]
    assert ["thinking" in r.body for r in server.requests[4:]] == [True, False]


async def test_any_split_of_the_bytes_gives_the_same_answer(
    server: LlmServer, http: ModelHttp
) -> None:
    answers = []
    for split in (1, 2, 3, 7, 64, 100_000):
        made = [call("read_file", path="\u00fcber")]
        whole = calls(
            *made, text=["\u00fcber ", "\U0001f419"], reasoning=["gr\u00fcbel"], split=split
        )
        server.script(whole)
        answers.append(await collect(provider(server, http).stream(REQUEST)))
    assert answers == answers[:1] * 6
    assert answers[0][0].content == "\u00fcber \U0001f419"


@pytest.mark.parametrize("cut", [0, 1, 150, 300, 600, 800])
async def test_a_cut_anywhere_before_the_end_is_a_cut(
    server: LlmServer, http: ModelHttp, cut: int
) -> None:
    server.script(calls(call("read_file", path="a.txt"), fragment=2, cut=cut))
    seen: list[StreamEvent] = []
    with pytest.raises(StreamCut, match="'anthropic'"):
        async with aclosing(provider(server, http).stream(REQUEST)) as stream:
            seen += [event async for event in stream]
    assert seen == []


async def test_without_message_stop_an_answer_is_not_whole(
    server: LlmServer, http: ModelHttp
) -> None:
    server.script(says("Hello", done=False))
    with pytest.raises(StreamCut, match="before it was whole"):
        await events(provider(server, http))


async def test_an_answer_is_whole_at_message_stop_even_if_the_server_hangs(
    server: LlmServer, http: ModelHttp
) -> None:
    server.script(says("all", hang=True))
    message, _ = await collect(provider(server, http).stream(REQUEST))
    assert message.content == "all"


@pytest.mark.parametrize(
    ("answer", "kind", "message"),
    [
        (fails(400, "bad field"), BadRequest, "'anthropic' answered 400: bad field"),
        (fails(400, "prompt is too long: 9 > 8 maximum"), ContextOverflow, "too long"),
        (fails(400, "Your credit balance is too low"), QuotaExceeded, "credit balance"),
        (fails(401, f"bad key {KEY.reveal()}"), AuthRejected, "bad key \\*\\*\\*"),
        (fails(403, "not allowed"), AuthRejected, "not allowed"),
        (fails(404, "model: x"), ModelNotFound, "model: x"),
        (fails(413, "too large"), ContextOverflow, "too large"),
        (fails(429, "slow", headers={"retry-after": "7"}), RateLimited, "slow"),
        (fails(500, "oops"), Unavailable, "oops"),
        (fails(529, "Overloaded"), Unavailable, "'anthropic' answered 529: Overloaded"),
    ],
)
async def test_an_error_is_what_its_status_and_words_mean(
    answer: Turn, kind: type[ProviderError], message: str, server: LlmServer, http: ModelHttp
) -> None:
    server.script(answer)
    with pytest.raises(kind, match=message) as caught:
        await events(provider(server, http))
    assert type(caught.value) is kind
    assert caught.value.retry_after == (7.0 if answer.status == 429 else None)


async def test_an_error_under_status_200_is_raised(server: LlmServer, http: ModelHttp) -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    server.script(Turn(events=[{"type": "ping"}, error]))
    with pytest.raises(Unavailable, match="Overloaded"):
        await events(provider(server, http))


async def test_a_server_that_does_not_stream_is_understood(
    server: LlmServer, http: ModelHttp
) -> None:
    message = {
        "type": "message",
        "content": [{"type": "text", "text": "hi"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }
    plain = {"content-type": "application/json"}
    server.script(Turn(raw=json.dumps(message).encode(), headers=plain))
    said = await events(provider(server, http))
    assert said == [TextDelta("hi"), UsageReported(USAGE), Done("end_turn")]


async def test_a_server_that_knows_the_input_only_at_the_end(
    server: LlmServer, http: ModelHttp
) -> None:
    usage = {"input_tokens": 6, "cache_read_input_tokens": 4, "output_tokens": 5}
    raw = b"".join(
        [
            named({"type": "message_start", "message": {"usage": {"input_tokens": 0}}}),
            named({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage}),
            named({"type": "message_stop"}),
        ]
    )
    server.script(Turn(raw=raw))
    _, told = await collect(provider(server, http, name="zai", model="glm-5").stream(REQUEST))
    assert told == Usage(input_tokens=10, output_tokens=5, cached_tokens=4, requests=1)


@pytest.mark.parametrize("entry", [anthropic.ENTRY, zai.ENTRY], ids=lambda entry: entry.name)
@pytest.mark.parametrize("end", ["", "/v1", "/v1/messages"])
async def test_the_list_of_models_is_asked_for_with_the_vendor_s_key(
    end: str, entry: Any, http: ModelHttp
) -> None:
    async with LlmServer(api_key=KEY.reveal(), models=["claude-a", "claude-b"]) as server:
        base = server.base_url.removesuffix("/v1") + end
        config = ProviderConfig(name=entry.name, model="", http=http, base_url=base, api_key=KEY)
        assert await ModelLists().of(entry, config) == ("claude-a", "claude-b")


@pytest.mark.parametrize(
    ("name", "variable", "meant", "base"),
    [
        (
            "claude-opus-4-6",
            "ANTHROPIC_API_KEY",
            "anthropic/claude-opus-4-6",
            "https://api.anthropic.com",
        ),
        (None, "ANTHROPIC_API_KEY", f"anthropic/{MODEL}", "https://api.anthropic.com"),
        ("zai", "ZAI_API_KEY", "zai/glm-5", "https://api.z.ai/api/anthropic"),
        ("z.ai/glm-4.6", "ZAI_API_KEY", "zai/glm-4.6", "https://api.z.ai/api/anthropic"),
    ],
)
def test_a_name_means_the_vendor(name: str | None, variable: str, meant: str, base: str) -> None:
    setup = ModelSetup(http=ModelHttp(), environ={variable: KEY.reveal()})
    choice = resolve_model(name, setup, builtin_providers())
    assert (choice.name, choice.config.base_url, choice.config.api_key) == (meant, base, KEY)
    opened = choice.entry.open(choice.config)
    assert isinstance(opened, Streaming)
    assert opened.wire is ANTHROPIC
