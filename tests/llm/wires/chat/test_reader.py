from __future__ import annotations

import json
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octo_lab.core.errors import (
    BadRequest,
    ContentFiltered,
    ContextOverflow,
    OctoError,
    ProviderError,
    QuotaExceeded,
    RateLimited,
    StreamCut,
    Unavailable,
)
from octo_lab.core.messages import ProviderState, ToolCall, Usage
from octo_lab.core.stream import (
    Done,
    ReasoningDelta,
    StateKept,
    StreamEvent,
    TextDelta,
    ToolCalled,
    UsageReported,
)
from octo_lab.llm.secret import Secret
from octo_lab.llm.wires.chat.reader import ChatReader


def data(value: object) -> bytes:
    text = value if isinstance(value, str) else json.dumps(value)
    return f"data: {text}\n\n".encode()


def delta(finish: str | None = None, **fields: Any) -> bytes:
    return data({"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]})


def tool(index: int, id: str | None, name: str | None, arguments: str) -> dict[str, Any]:
    return {"index": index, "id": id, "function": {"name": name, "arguments": arguments}}


DONE = data("[DONE]")
USAGE = data(
    {
        "choices": [],
        "usage": {
            "prompt_tokens": 12,
            "completion_tokens": 3,
            "prompt_tokens_details": {"cached_tokens": 8},
        },
    }
)
BODY = b"".join(
    [
        b": ping\n\n",
        delta(role="assistant", content=""),
        delta(reasoning_content="hm"),
        delta(content="<think>well</think>\nh\u00e9llo "),
        delta(content="\U0001f419 w\u00f6rld"),
        delta(tool_calls=[tool(0, "a", "f", ""), tool(1, "b", "g", "{")]),
        delta(tool_calls=[tool(0, None, None, '{"x":1}'), tool(1, None, None, "}")]),
        delta("tool_calls"),
        USAGE,
        DONE,
    ]
)


def read(*parts: bytes, name: str = "lab", key: str = "") -> list[StreamEvent]:
    reader = ChatReader(name, Secret(key) if key else None, model="m")
    return [event for part in parts for event in reader.feed(part)] + reader.close()


def merged(events: list[StreamEvent]) -> tuple[str, str, list[StreamEvent]]:
    text = "".join(e.text for e in events if isinstance(e, TextDelta))
    thinking = "".join(e.text for e in events if isinstance(e, ReasoningDelta))
    return text, thinking, [e for e in events if not isinstance(e, TextDelta | ReasoningDelta)]


WHOLE = (
    "h\u00e9llo \U0001f419 w\u00f6rld",
    "hmwell",
    [
        ToolCalled(ToolCall(id="a", name="f", arguments='{"x":1}')),
        ToolCalled(ToolCall(id="b", name="g", arguments="{}")),
        StateKept(ProviderState(provider="lab", model="m", blob='{"reasoning_content": "hm"}')),
        UsageReported(Usage(input_tokens=12, output_tokens=3, cached_tokens=8, requests=1)),
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


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ("stop", "end_turn"),
        ("eos", "end_turn"),
        ("tool_calls", "tool_use"),
        ("function_call", "tool_use"),
        ("length", "max_tokens"),
        ("max_tokens", "max_tokens"),
        ("model_length", "max_tokens"),
        ("model_context_window_exceeded", "max_tokens"),
        ("stop_sequence", "stop_sequence"),
    ],
)
def test_the_reason_is_translated(finish: str, reason: str) -> None:
    assert read(delta(content="x"), delta(finish), DONE) == [TextDelta("x"), Done(reason)]  # type: ignore[arg-type]


def test_calls_under_another_finish_reason_are_calls_all_the_same() -> None:
    events = read(delta(tool_calls=[tool(0, "a", "f", "{}")]), delta("stop"))
    assert events[-1] == Done("tool_use")


def test_a_call_cut_by_the_token_limit_is_no_call() -> None:
    events = read(
        delta(tool_calls=[tool(0, "a", "f", '{"x":1}'), tool(1, "b", "g", '{"y":')]),
        delta("length"),
    )
    assert events == [
        ToolCalled(ToolCall(id="a", name="f", arguments='{"x":1}')),
        Done("max_tokens"),
    ]


def test_done_without_a_finish_reason_ends_the_answer() -> None:
    assert read(delta(content="x"), DONE) == [TextDelta("x"), Done("end_turn")]


def test_the_reasoning_field_of_openrouter_is_read() -> None:
    assert read(delta(reasoning="why"), DONE) == [
        ReasoningDelta("why"),
        StateKept(ProviderState(provider="lab", model="m", blob='{"reasoning": "why"}')),
        Done("end_turn"),
    ]


def test_a_stream_without_its_end_is_cut() -> None:
    with pytest.raises(StreamCut, match="'lab' ended before"):
        read(delta(content="half of"))


def test_nulls_and_odd_shapes_are_survived() -> None:
    events = read(
        data(
            {"choices": [{"delta": {"content": None, "tool_calls": None}, "finish_reason": None}]}
        ),
        data({"choices": [{"delta": None}], "usage": None}),
        data({"choices": [{"delta": {"content": [{"type": "text", "text": "parts"}]}}]}),
        data({"choices": [{"message": {"content": " whole"}, "finish_reason": "stop"}]}),
        data({"choices": [], "prompt_filter_results": []}),
    )
    assert events == [TextDelta("parts"), TextDelta(" whole"), Done("end_turn")]


def test_lone_surrogates_are_replaced() -> None:
    events = read(data('{"choices":[{"delta":{"content":"a\\ud83db"}}]}'), DONE)
    assert events == [TextDelta("a\ufffdb"), Done("end_turn")]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"error": {"message": "slow down", "code": 429}}, RateLimited),
        ({"error": {"message": "Rate limit reached", "type": "rate_limit_exceeded"}}, RateLimited),
        ({"error": {"code": "context_length_exceeded", "message": "too long"}}, ContextOverflow),
        ({"object": "error", "message": "bad", "code": 400}, BadRequest),
        ({"error": "overloaded"}, Unavailable),
        ({"detail": "broken"}, Unavailable),
        (
            {"choices": [{"delta": {}, "finish_reason": "error", "error": {"code": 502}}]},
            Unavailable,
        ),
    ],
)
def test_an_error_inside_the_stream_is_raised(error: object, kind: type[ProviderError]) -> None:
    with pytest.raises(kind):
        read(delta(content="so far"), data(error))


@pytest.mark.parametrize(
    "parts",
    [
        [delta("content_filter")],
        [delta(refusal="I can"), delta(refusal="not"), delta("stop")],
    ],
)
def test_a_refusal_is_content_filtered(parts: list[bytes]) -> None:
    with pytest.raises(ContentFiltered):
        read(*parts)


@pytest.mark.parametrize("bad", ["{not json", "[1]", '"text"', "[" * 100_000])
def test_what_is_no_json_object_is_one_clear_error(bad: str) -> None:
    with pytest.raises(Unavailable, match="sent what is no JSON") as caught:
        read(data(bad))
    assert isinstance(caught.value, OctoError)


# fmt: off
NAMES = (
    "choices", "delta", "message", "content", "tool_calls", "index", "id", "function", "name",
    "arguments", "finish_reason", "usage", "prompt_tokens", "error", "code", "refusal", "reasoning",
)
# fmt: on
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(NAMES),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@settings(max_examples=150)
@given(st.lists(st.builds(lambda delta: {"choices": [delta], "usage": delta}, JSON) | JSON))
def test_whatever_a_server_sends_gives_events_or_one_of_our_errors(chunks: list[object]) -> None:
    with suppress(OctoError):
        read(*map(data, chunks), DONE)


def test_a_null_error_is_none_and_a_chunk_error_is_shown() -> None:
    assert read(data({"error": None, "choices": []}), DONE) == [Done("end_turn")]
    with pytest.raises(Unavailable, match="overloaded"):
        read(data({"error": "overloaded", "choices": [{"finish_reason": "error"}]}))


def test_a_key_that_a_server_repeats_is_not_shown() -> None:
    with pytest.raises(ProviderError) as caught:
        read(data({"error": {"message": "bad key secret-1234567890 !"}}), key="secret-1234567890")
    assert "secret-1234567890" not in str(caught.value)
    assert "bad key" in str(caught.value)


@pytest.mark.parametrize("finish", ["insufficient_system_resource", "network_error", "abort"])
def test_an_answer_its_server_gave_up_may_be_asked_for_again(finish: str) -> None:
    with pytest.raises(Unavailable, match=f"'lab' gave the answer up: {finish}"):
        read(delta(content="so far"), delta(finish), DONE)


@pytest.mark.parametrize("finish", ["content_filter", "sensitive"])
def test_an_answer_the_filter_stopped_is_filtered(finish: str) -> None:
    with pytest.raises(ContentFiltered, match="its filter objects"):
        read(delta(content="so far"), delta(finish), DONE)


def test_a_second_answer_that_nobody_asked_for_is_ignored() -> None:
    events = read(
        data({"choices": [{"index": 1, "delta": {"content": "B"}}]}),
        data(
            {
                "choices": [
                    {"index": 1, "delta": {"content": "B"}, "finish_reason": "stop"},
                    {"index": 0, "delta": {"content": "A"}},
                ]
            }
        ),
        DONE,
    )
    assert events == [TextDelta("A"), Done("end_turn")]


def test_the_call_of_the_time_before_tools_is_a_call() -> None:
    *_, called, done = read(
        delta(function_call={"name": "f", "arguments": '{"x"'}),
        delta(function_call={"arguments": ":1}"}),
        delta("function_call"),
    )
    assert isinstance(called, ToolCalled)
    assert (called.call.name, called.call.arguments, bool(called.call.id)) == ("f", '{"x":1}', True)
    assert done == Done("tool_use")


def test_a_tool_sent_under_another_name_gets_its_own_back() -> None:
    reader = ChatReader("lab", names={"server_tool_1": "server.tool"})
    reader.feed(delta("tool_calls", tool_calls=[tool(0, "a", "server_tool_1", "{}")]))
    assert reader.close()[0] == ToolCalled(ToolCall(id="a", name="server.tool", arguments="{}"))


def test_parts_of_reasoning_are_joined_and_kept_as_they_were() -> None:
    text = {"type": "reasoning.text", "index": 0, "format": "anthropic-claude-v1"}
    events = read(
        delta(reasoning="be", reasoning_details=[{**text, "text": "be"}]),
        delta(reasoning="cause", reasoning_details=[{**text, "text": "cause"}]),
        delta(reasoning_details=[{**text, "text": None, "signature": "sig"}]),
        delta(reasoning_details=[{"type": "reasoning.encrypted", "index": 1, "data": "xx"}]),
        delta(content="so"),
        DONE,
    )
    kept = next(event.state for event in events if isinstance(event, StateKept))
    assert json.loads(kept.blob) == {
        "reasoning": "because",
        "reasoning_details": [
            {**text, "text": "because", "signature": "sig"},
            {"type": "reasoning.encrypted", "index": 1, "data": "xx"},
        ],
    }
    assert merged(events)[:2] == ("so", "because")


def test_parts_of_reasoning_alone_are_shown() -> None:
    part = {"type": "reasoning.summary", "summary": "why"}
    assert read(delta(reasoning_details=[part]), DONE)[0] == ReasoningDelta("why")


def test_thinking_in_tags_is_shown_but_no_state() -> None:
    assert read(delta(content="<think>hm</think>so"), DONE) == [
        ReasoningDelta("hm"),
        TextDelta("so"),
        Done("end_turn"),
    ]


@pytest.mark.parametrize(
    ("chunk", "kind"),
    [
        ({"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}, QuotaExceeded),
        ({"choices": None, "base_resp": {"status_code": 1002, "status_msg": "slow"}}, RateLimited),
        ({"code": "Arrearage", "message": "Access denied"}, QuotaExceeded),
        ({"choices": [], "error": {"code": 502, "message": "upstream"}}, Unavailable),
    ],
)
def test_an_error_under_status_200_is_of_its_kind(
    chunk: dict[str, Any], kind: type[ProviderError]
) -> None:
    with pytest.raises(kind):
        read(data(chunk))


def test_a_base_resp_that_says_all_is_well_is_no_error() -> None:
    chunk = {"choices": [{"delta": {"content": "hi"}}], "base_resp": {"status_code": 0}}
    assert read(data(chunk), DONE) == [TextDelta("hi"), Done("end_turn")]
