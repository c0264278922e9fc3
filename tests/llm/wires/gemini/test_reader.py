from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_lab.core.errors import (
    BadRequest,
    ContentFiltered,
    OctoError,
    ProviderError,
    RateLimited,
    StreamCut,
    Unavailable,
)
from octo_lab.core.messages import ChatRequest, Message, ProviderState, ToolCall, ToolSpec, Usage
from octo_lab.core.stream import (
    Done,
    ReasoningDelta,
    Remarked,
    StateKept,
    StreamEvent,
    TextDelta,
    ToolCalled,
    UsageReported,
)
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.tool_names import alias
from octo_lab.llm.wires.gemini.reader import GeminiReader

REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])
CONFIG = ProviderConfig(name="lab", model="gemini-3-flash", http=ModelHttp())


def data(value: object) -> bytes:
    return f"data: {value if isinstance(value, str) else json.dumps(value)}\n\n".encode()


def chunk(*parts: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    return {"candidates": [candidate | ({"finishReason": finish} if finish else {})], **more}


def said(*parts: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
    return data(chunk(*parts, finish=finish, **more))


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"text": words, **more}


def call(name: str, id: str | None = None, signature: str = "", **args: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"name": name, "args": args} | ({"id": id} if id else {})
    return {"functionCall": made} | ({"thoughtSignature": signature} if signature else {})


def usage(prompt: int, given: int, thoughts: int = 0, cached: int = 0) -> dict[str, int]:
    return {
        "promptTokenCount": prompt,
        "candidatesTokenCount": given,
        "thoughtsTokenCount": thoughts,
        "cachedContentTokenCount": cached,
        "totalTokenCount": prompt + given + thoughts,
    }


STOP = said(text(""), finish="STOP")


def read(*parts: bytes, request: ChatRequest = REQUEST) -> list[StreamEvent]:
    reader = GeminiReader(request, CONFIG)
    return [event for part in parts for event in reader.feed(part)] + reader.close()


def merged(events: list[StreamEvent]) -> tuple[str, str, list[StreamEvent]]:
    words = "".join(e.text for e in events if isinstance(e, TextDelta))
    thinking = "".join(e.text for e in events if isinstance(e, ReasoningDelta))
    return words, thinking, [e for e in events if not isinstance(e, TextDelta | ReasoningDelta)]


BODY = b"".join(
    [
        b": ping\r\n\r\n",
        said(text("h\u00f6", thought=True), usageMetadata=usage(12, 0, 1)),
        said(text("h\u00e9llo "), usageMetadata=usage(12, 1, 2)),
        said(text("\U0001f419 { w\u00f6rld\n{")),
        said(call("f", "a", "c2ln", x=[1, {"y": "\u00fc"}]), call("g")),
        said(text(""), finish="STOP", usageMetadata=usage(12, 3, 2, 8)),
    ]
)
STATE = ProviderState(
    provider="lab",
    model="gemini-3-flash",
    blob='[["text",17,""],["call","a","c2ln"],["call","call_1",""]]',
)
WHOLE = (
    "h\u00e9llo \U0001f419 { w\u00f6rld\n{",
    "h\u00f6",
    [
        ToolCalled(ToolCall(id="a", name="f", arguments='{"x":[1,{"y":"\u00fc"}]}')),
        ToolCalled(ToolCall(id="call_1", name="g", arguments="{}")),
        UsageReported(
            Usage(input_tokens=12, output_tokens=5, cached_tokens=8, reasoning_tokens=2, requests=1)
        ),
        StateKept(STATE),
        Done("tool_use"),
    ],
)


def test_a_whole_stream_becomes_its_events() -> None:
    assert merged(read(BODY)) == WHOLE


def test_one_byte_at_a_time_becomes_the_same_events() -> None:
    assert merged(read(*(BODY[i : i + 1] for i in range(len(BODY))))) == WHOLE


@given(st.lists(st.integers(0, len(BODY)), max_size=8))
def test_any_cut_gives_the_same_events(cuts: list[int]) -> None:
    bounds = sorted({0, len(BODY), *cuts})
    assert merged(read(*(BODY[a:b] for a, b in pairwise(bounds)))) == WHOLE


@given(st.integers(0, len(BODY) - 1))
def test_a_body_that_ends_anywhere_before_its_reason_to_finish_is_cut(size: int) -> None:
    reader = GeminiReader(REQUEST, CONFIG)
    reader.feed(BODY[:size])
    with pytest.raises(StreamCut, match="'lab' ended before it was whole"):
        reader.close()


@pytest.mark.parametrize("form", ["array", "object"])
def test_an_answer_that_is_no_event_stream_is_read_too(form: str) -> None:
    chunks = [chunk(text("a ")), chunk(text("b"), finish="STOP")]
    body = chunks if form == "array" else chunk(text("a "), text("b"), finish="STOP")
    reader = GeminiReader(REQUEST, CONFIG)
    events = reader.read_whole(json.dumps(body, indent=1).encode())
    assert (reader.begun, reader.whole) == (True, True)
    assert events + reader.close() == [TextDelta("a "), TextDelta("b"), Done("end_turn")]


@pytest.mark.parametrize(
    ("finish", "reason"),
    [("STOP", "end_turn"), ("MAX_TOKENS", "max_tokens"), ("SOMETHING_NEW", "end_turn")],
)
def test_the_reason_is_translated(finish: str, reason: Any) -> None:
    assert read(said(text("x"), finish=finish)) == [TextDelta("x"), Done(reason)]


def test_a_limit_that_thinking_used_up_is_an_answer() -> None:
    assert read(said(finish="MAX_TOKENS")) == [Done("max_tokens")]


@pytest.mark.parametrize(
    "finish",
    [
        *("SAFETY", "RECITATION", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE"),
        *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "NO_IMAGE"),
    ],
)
def test_a_refusal_is_told_as_one(finish: str) -> None:
    with pytest.raises(ContentFiltered, match=f"'lab' stopped the answer: {finish}"):
        read(said(text("half"), finish=finish))


def test_a_refused_prompt_names_its_reason() -> None:
    blocked = {"promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": "not this"}}
    reader = GeminiReader(REQUEST, CONFIG)
    reader.feed(data(blocked))
    assert reader.whole
    with pytest.raises(ContentFiltered, match="'lab' refused to answer: SAFETY: not this"):
        reader.close()


@pytest.mark.parametrize(
    "finish",
    [
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "MALFORMED_RESPONSE",
    ],
)
def test_a_call_the_model_spoiled_may_be_asked_for_again(finish: str) -> None:
    body = chunk(finish=finish)
    body["candidates"][0]["finishMessage"] = "print(default_api.f())"
    with pytest.raises(Unavailable, match=f"spoiled its answer: {finish}: print") as caught:
        read(data(body))
    assert caught.value.retryable


@pytest.mark.parametrize(
    "body", [said(finish="STOP"), STOP, data({"candidates": [{"finishReason": "STOP"}]})]
)
def test_an_empty_answer_may_be_asked_for_again(body: bytes) -> None:
    with pytest.raises(Unavailable, match="'lab' answered nothing") as caught:
        read(body)
    assert caught.value.retryable


def test_a_missing_signature_is_a_complaint_to_adapt_to() -> None:
    with pytest.raises(BadRequest) as caught:
        read(said(finish="MISSING_THOUGHT_SIGNATURE"))
    assert caught.value.complaint == "a thought_signature is missing"


RATE = {"error": {"code": 429, "message": "slow down", "status": "RESOURCE_EXHAUSTED"}}


def test_an_error_inside_the_stream_is_raised() -> None:
    with pytest.raises(RateLimited, match="slow down"):
        read(said(text("a")), data(RATE))


@given(st.integers(1, 50))
def test_an_error_behind_the_stream_is_raised_too(size: int) -> None:
    body = said(text("a")) + json.dumps(RATE, indent=2).encode()
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    with pytest.raises(RateLimited, match="slow down"):
        read(*parts)


def test_the_last_count_of_tokens_holds() -> None:
    events = read(
        said(text("a"), usageMetadata=usage(7, 1)),
        said(text("b"), finish="STOP"),
        data({"usageMetadata": usage(7, 2, 30, 4) | {"toolUsePromptTokenCount": 3}}),
    )
    assert events[-2] == UsageReported(
        Usage(input_tokens=10, output_tokens=32, cached_tokens=4, reasoning_tokens=30, requests=1)
    )


def test_calls_without_ids_are_numbered_on_from_the_history() -> None:
    made = (
        ToolCall(id="call_2", name="f", arguments="{}"),
        ToolCall(id="x", name="f", arguments="{}"),
    )
    history = [Message(role="assistant", tool_calls=made)]
    events = read(
        said(call("f"), call("f", "call_3"), call("f"), finish="STOP"),
        request=ChatRequest(messages=history),
    )
    assert [e.call.id for e in events if isinstance(e, ToolCalled)] == [
        "call_3",
        "call_4",
        "call_5",
    ]


def test_names_of_tools_come_back_as_they_are_known() -> None:
    name = "mcp.server/read"
    tools = [ToolSpec(name=name, description="", schema={"type": "object"})]
    events = read(
        said(call(alias(name)), finish="STOP"),
        request=ChatRequest(messages=REQUEST.messages, tools=tools),
    )
    assert events[0] == ToolCalled(ToolCall(id="call_1", name=name, arguments="{}"))


def growing(
    name: str = "", values: Mapping[str, Any] = MappingProxyType({}), *, more: bool = True
) -> dict[str, Any]:
    pieces = [
        {"jsonPath": path, **({"stringValue": v} if isinstance(v, str) else {"numberValue": v})}
        for path, v in values.items()
    ]
    begun = {"name": name, "id": "p"} if name else {}
    return {"functionCall": {**begun, "partialArgs": pieces, "willContinue": more}}


def test_arguments_that_stream_are_joined() -> None:
    events = read(
        said(growing("f")),
        said(growing("", {"$.to.city": "Par"})),
        said(growing("", {"$.to.city": "is", "$.days[0]": 3, "$.days[1]": 4, "$['a.b']": "c"})),
        said(growing(more=False)),
        said(call("g", "q"), finish="STOP"),
    )
    arguments = '{"to":{"city":"Paris"},"days":[3,4],"a.b":"c"}'
    assert events == [
        ToolCalled(ToolCall(id="p", name="f", arguments=arguments)),
        ToolCalled(ToolCall(id="q", name="g", arguments="{}")),
        Done("tool_use"),
    ]


def test_arguments_may_be_nested_deeply() -> None:
    nested: list[Any] = []
    for _ in range(400):
        nested = [nested]
    [made, _] = read(said(call("f", "q", a=nested), finish="STOP"))
    assert isinstance(made, ToolCalled)
    assert json.loads(made.call.arguments) == {"a": nested}


def test_a_call_that_the_limit_cut_is_no_call() -> None:
    events = read(said(call("g", "q")), said(growing("f"), finish="MAX_TOKENS"))
    assert events == [
        ToolCalled(ToolCall(id="q", name="g", arguments="{}")),
        Done("max_tokens"),
    ]


def test_code_the_vendor_ran_is_told_as_text() -> None:
    events = read(
        said({"executableCode": {"language": "PYTHON", "code": "print(1)"}}),
        said({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}, finish="STOP"),
    )
    assert merged(events)[0] == "\n```python\nprint(1)\n```\n\n```\n1\n```\n"


def test_a_picture_is_told_of() -> None:
    events = read(said({"inlineData": {"mimeType": "image/png", "data": "aGk="}}, finish="STOP"))
    assert events == [Remarked("'lab' also sent 'image/png', which is not shown"), Done("end_turn")]


def kept(*parts: bytes) -> list[Any]:
    states = [event.state for event in read(*parts) if isinstance(event, StateKept)]
    assert len(states) <= 1
    return json.loads(states[0].blob) if states else []


def test_without_a_signature_nothing_is_kept() -> None:
    assert kept(said(text("a"), call("f", "a"), finish="STOP")) == []


def test_every_signature_is_kept_with_its_part() -> None:
    assert kept(
        said(text("hm", thought=True)),
        said(text("ho", thought=True, thoughtSignature="dDE=")),
        said(text("a")),
        said(text("b")),
        said(text("c", thoughtSignature="dDI=")),
        said(call("f", "x", "dDM="), call("g", "y", "dDQ="), finish="STOP"),
    ) == [
        ["thought", "ho", "dDE="],
        ["text", 2, ""],
        ["text", 1, "dDI="],
        ["call", "x", "dDM="],
        ["call", "y", "dDQ="],
    ]


def test_a_signature_on_a_closing_empty_text_belongs_to_the_calls_without_one() -> None:
    assert kept(
        said(call("f", "x"), call("g", "y")),
        said(text("", thoughtSignature="dDE="), finish="STOP"),
    ) == [["call", "x", "dDE="], ["call", "y", "dDE="]]


def test_a_signature_that_closes_a_text_is_a_part_of_its_own() -> None:
    assert kept(said(text("ab")), said(text("", thoughtSignature="dDE="), finish="STOP")) == [
        ["text", 2, ""],
        ["text", 0, "dDE="],
    ]


@pytest.mark.parametrize(
    "odd",
    [
        {"candidates": {"a": 1}},
        {"candidates": [1]},
        {"candidates": [{"content": {"parts": [1]}}]},
        {"candidates": [{"content": {"parts": [{"functionCall": 1}]}}]},
        {"candidates": [{"content": []}], "usageMetadata": 1},
        chunk(growing("f", {"$.a[3]": "x"})),
        chunk(growing("f", {"$.a": 1, "$.a.b": "x"})),
    ],
)
def test_a_chunk_of_another_shape_ends_in_a_provider_error(odd: object) -> None:
    with pytest.raises(ProviderError):
        read(data(odd))


@given(st.binary(max_size=60), st.integers(0, len(BODY)))
def test_noise_never_ends_in_an_error_of_another_kind(noise: bytes, at: int) -> None:
    with suppress(OctoError):
        read(BODY[:at], noise, BODY[at:])


def test_lone_surrogates_are_replaced() -> None:
    body = json.dumps(chunk(text("a\ud83d"), finish="STOP"))
    assert "\\ud83d" in body
    assert read(data(body)) == [TextDelta("a\ufffd"), Done("end_turn")]
