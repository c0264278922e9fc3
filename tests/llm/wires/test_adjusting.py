"""Servers with quirks over real sockets: each refuses as its vendor does until asked its way."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import pytest

from octo_lab.core.errors import BadRequest, ContextOverflow
from octo_lab.core.messages import ChatRequest, Media, Message, ToolCall, ToolSpec
from octo_lab.core.stream import Remarked, StreamEvent
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.provider import collect
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.wires.chat.wire import CHAT
from octo_lab.llm.wires.streaming import Streaming
from octo_lab.testing.llm_script import Turn, call, calls, fails, says
from octo_lab.testing.llm_server import LlmServer

pytestmark = pytest.mark.anyio

Json = dict[str, Any]
Quirk = Callable[[Json], str]  # why a request is refused, or ''

HI = Message(role="user", content="hi")
TOOL = ToolSpec(name="look", description="looks", schema={"type": "object"})
PICTURE = Media(mime="image/png", data=b"png", name="p.png")


def refusing(quirk: Quirk, answer: Turn | None = None) -> Callable[[Json], Turn]:
    def respond(request: Json) -> Turn:
        why = quirk(request)
        return fails(400, why) if why else answer or says("fine")

    return respond


def provider(
    server: LlmServer, http: ModelHttp, model: str = "m", **hints: bool | str
) -> Streaming:
    config = ProviderConfig(
        name="lab", model=model, http=http, base_url=server.base_url, hints=tuple(hints.items())
    )
    return Streaming(config, CHAT)


async def said(made: Streaming, request: ChatRequest) -> str:
    return (await collect(made.stream(request)))[0].content


async def events(made: Streaming, request: ChatRequest) -> list[StreamEvent]:
    async with aclosing(made.stream(request)) as stream:
        return [event async for event in stream]


def moonshot(request: Json) -> str:
    wrong = "temperature" in request
    return "invalid temperature: only 1 is allowed for this model" if wrong else ""


@pytest.mark.parametrize(("model", "asked"), [("kimi-k2.5", 2), ("gateway-model", 3)])
async def test_moonshot_gets_no_temperature_by_hint_else_by_learning(
    http: ModelHttp, model: str, asked: int
) -> None:
    async with LlmServer(then=refusing(moonshot)) as server:
        made = provider(server, http, model)
        request = ChatRequest(messages=[HI], temperature=0.6)
        assert [await said(made, request) for _ in range(2)] == ["fine", "fine"]
        assert len(server.requests) == asked


def completions_only(request: Json) -> str:
    if "max_tokens" not in request:
        return ""
    return (
        "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead."
    )


@pytest.mark.parametrize("limit", [None, 0, 1])
@pytest.mark.parametrize(("model", "more"), [("o3", 0), ("renamed", 1)])
async def test_a_limit_has_the_name_the_server_wants(
    http: ModelHttp, model: str, more: int, limit: int | None
) -> None:
    async with LlmServer(then=refusing(completions_only)) as server:
        request = ChatRequest(messages=[HI], max_tokens=limit)
        assert await said(provider(server, http, model), request) == "fine"
        assert len(server.requests) == 1 + (more if limit else 0)
        assert server.requests[-1].body.get("max_completion_tokens", 0) == (limit or 0)


def old_server(request: Json) -> str:
    wrong = next((n for n in ("max_completion_tokens", "stream_options") if n in request), "")
    return f"Unrecognized request argument supplied: {wrong}" if wrong else ""


async def test_several_lessons_of_one_request_are_all_remembered(http: ModelHttp) -> None:
    async with LlmServer(then=refusing(old_server)) as server:
        made = provider(server, http, "o3")
        request = ChatRequest(messages=[HI], max_tokens=9)
        assert [await said(made, request) for _ in range(3)] == ["fine"] * 3
        assert [sorted(set(r.body) - {"messages", "model", "stream"}) for r in server.requests] == [
            ["max_completion_tokens", "stream_options"],
            ["max_tokens", "stream_options"],
            ["max_tokens"],
            ["max_tokens"],
            ["max_tokens"],
        ]


def deepseek(rule: str) -> Quirk:
    def refused(request: Json) -> str:
        replies = [m for m in request["messages"] if m["role"] == "assistant"]
        if rule == "required" and any("reasoning_content" not in m for m in replies):
            return "The reasoning_content in the thinking mode must be passed back to the API."
        if rule == "forbidden" and any("reasoning_content" in m for m in replies):
            return "Please remove the reasoning_content from your message."
        return ""

    return refused


@pytest.mark.parametrize("thinks", [True, False])
@pytest.mark.parametrize("rule", ["required", "ignored", "forbidden"])
async def test_deepseek_gets_its_thinking_back_as_it_wants_it(
    http: ModelHttp, rule: str, thinks: bool
) -> None:
    """Three turns, each with a call and its result."""
    thought = ["because ", "so"] if thinks else []
    refused = deepseek(rule)

    def respond(request: Json) -> Turn:
        why = refused(request)
        if why:
            return fails(400, why)
        number = len(request["messages"])
        if request["messages"][-1]["role"] == "tool":
            return says("done", reasoning=thought)
        return calls(call("look", id=f"c{number}"), reasoning=thought)

    async with LlmServer(then=respond) as server:
        made = provider(server, http, "deepseek-chat")
        history: list[Message] = []
        for turn in range(3):
            history.append(Message(role="user", content=f"turn {turn}"))
            message, _ = await collect(made.stream(ChatRequest(messages=history, tools=[TOOL])))
            result = Message(role="tool", tool_call_id=message.tool_calls[0].id, content="ok")
            history += [message, result]
            message, _ = await collect(made.stream(ChatRequest(messages=history, tools=[TOOL])))
            history.append(message)
        assert [m.content for m in history if m.role == "assistant"] == ["", "done"] * 3
        lessons = {"required": not thinks, "ignored": False, "forbidden": thinks}[rule]
        assert len(server.requests) == 6 + lessons
        sent = [
            m.get("reasoning_content")
            for m in server.requests[-1].body["messages"]
            if m["role"] == "assistant"
        ]
        kept = {"required": "because so" if thinks else " ", "forbidden": None}
        assert sent == [kept.get(rule, "because so" if thinks else None)] * 5


async def test_a_model_without_tools_answers_without_and_says_so(http: ModelHttp) -> None:
    def no_tools(request: Json) -> str:
        return "llama does not support tools" if "tools" in request else ""

    async with LlmServer(then=refusing(no_tools)) as server:
        made = provider(server, http)
        request = ChatRequest(messages=[HI], tools=[TOOL], tool_choice="required")
        assert (await events(made, request))[0] == Remarked(
            "lab/m cannot use tools: it answers without them."
        )
        assert "tool_choice" not in server.requests[-1].body
        assert not any(isinstance(e, Remarked) for e in await events(made, request))


async def test_a_model_without_eyes_gets_a_mention_and_says_so(http: ModelHttp) -> None:
    def blind(request: Json) -> str:
        parts = [m["content"] for m in request["messages"] if isinstance(m["content"], list)]
        return "unknown variant `image_url`, expected `text`" if parts else ""

    async with LlmServer(then=refusing(blind)) as server:
        request = ChatRequest(messages=[Message(role="user", content="see", media=(PICTURE,))])
        first, *_ = await events(provider(server, http), request)
        assert first == Remarked("lab/m takes no pictures: they are only mentioned.")
        assert server.requests[-1].body["messages"][0]["content"] == "see\n[image/png: p.png]"


HISTORY = [
    HI,
    Message(role="assistant", tool_calls=(ToolCall(id="a", name="look", arguments="{}"),)),
    Message(role="tool", tool_call_id="a", content="saw it"),
    Message(role="user", content="and now?"),
]


def hates_calls(request: Json) -> str:
    odd = any(m["role"] == "tool" for m in request["messages"])
    return "messages.2 is malformed (request id 8f3a9b2c1d)" if odd else ""


async def test_a_conversation_refused_twice_is_told_in_words_and_the_person_knows(
    http: ModelHttp,
) -> None:
    async with LlmServer(then=refusing(hates_calls)) as server:
        made = provider(server, http)
        request = ChatRequest(messages=HISTORY, tools=[TOOL])
        first, *_ = await events(made, request)
        assert isinstance(first, Remarked)
        assert "refused the conversation twice" in first.text
        assert len(server.requests) == 3
        assert server.requests[-1].body["messages"] == [
            {
                "role": "user",
                "content": "hi\n\n[The tool look was called with {} and returned: saw it]"
                "\n\nand now?",
            }
        ]
        assert await said(made, request) == "fine"
        assert len(server.requests) == 5  # it was refused before: once is enough


async def test_five_turns_go_on_after_a_conversation_that_no_server_takes(
    http: ModelHttp,
) -> None:
    async with LlmServer(then=refusing(hates_calls)) as server:
        made = provider(server, http)
        history = list(HISTORY)
        for _ in range(5):
            message, _ = await collect(made.stream(ChatRequest(messages=history)))
            history += [message, HI]
        assert [m.content for m in history if m.content == "fine"] == ["fine"] * 5


@pytest.mark.parametrize(
    ("messages", "asked"),
    [([HI], 1), (HISTORY, 3)],
    ids=["only text", "with calls"],
)
async def test_a_refusal_that_nothing_helps_is_raised(
    http: ModelHttp, messages: list[Message], asked: int
) -> None:
    async with LlmServer(then=fails(400, "no reason")) as server:
        with pytest.raises(BadRequest, match="no reason"):
            await said(provider(server, http), ChatRequest(messages=messages))
        assert len(server.requests) == asked


async def test_a_server_that_objects_to_everything_is_asked_four_times(http: ModelHttp) -> None:
    def objects(request: Json) -> str:
        names = ("temperature", "stop", "stream_options", "response_format")
        wrong = next((name for name in names if name in request), "")
        return f"{wrong} is not supported" if wrong else ""

    async with LlmServer(then=refusing(objects)) as server:
        request = ChatRequest(
            messages=[HI], temperature=0.1, stop=("x",), response_schema={"type": "object"}
        )
        with pytest.raises(BadRequest, match="response_format"):
            await said(provider(server, http), request)
        assert len(server.requests) == 4


async def test_an_overflow_is_not_asked_again(http: ModelHttp) -> None:
    async with LlmServer(then=fails(400, "temperature: prompt is too long")) as server:
        with pytest.raises(ContextOverflow):
            await said(provider(server, http), ChatRequest(messages=HISTORY))
        assert len(server.requests) == 1


async def test_nothing_is_asked_again_once_words_were_shown(http: ModelHttp) -> None:
    broken = Turn(
        events=[
            {"choices": [{"delta": {"content": "so far"}}]},
            {"error": {"code": 400, "message": "temperature is not supported"}},
        ]
    )
    async with LlmServer(broken) as server:
        with pytest.raises(BadRequest):
            await said(provider(server, http), ChatRequest(messages=[HI], temperature=0.5))
        assert len(server.requests) == 1


async def test_a_refusal_under_status_200_is_heeded_too(http: ModelHttp) -> None:
    refusal = Turn(events=[{"error": {"code": 400, "message": "temperature is not supported"}}])
    async with LlmServer(refusal) as server:
        request = ChatRequest(messages=[HI], temperature=0.5)
        assert await said(provider(server, http), request) == "echo: hi"
        assert "temperature" not in server.requests[1].body
