from __future__ import annotations

import json
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octo_lab.core.errors import (
    AuthRejected,
    BadRequest,
    ContentFiltered,
    ContextOverflow,
    ModelNotFound,
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
    StopReason,
    StreamEvent,
    TextDelta,
    ToolCalled,
    UsageReported,
)
from octo_lab.llm.secret import Secret
from octo_lab.llm.tool_calls import MAX_CALLS
from octo_lab.llm.wires.anthropic.blocks import MAX_BLOCKS
from octo_lab.llm.wires.anthropic.reader import MessagesReader

Json = dict[str, Any]


def event(kind: str, /, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def start(**usage: Any) -> bytes:
    message = {"type": "message", "role": "assistant", "content": [], "usage": usage}
    return event("message_start", message=message)


def block(index: int, begun: Json, *deltas: Json) -> bytes:
    return b"".join(
        [
            event("content_block_start", index=index, content_block=begun),
            *(event("content_block_delta", index=index, delta=delta) for delta in deltas),
            event("content_block_stop", index=index),
        ]
    )


def text(index: int, *parts: str) -> bytes:
    begun = {"type": "text", "text": ""}
    return block(index, begun, *({"type": "text_delta", "text": part} for part in parts))


def thinking(index: int, signature: str, *parts: str) -> bytes:
    deltas = [{"type": "thinking_delta", "thinking": part} for part in parts]
    signed = [{"type": "signature_delta", "signature": signature}] if signature else []
    return block(index, {"type": "thinking", "thinking": ""}, *deltas, *signed)


def tool(index: int, id: str, name: str, *parts: str, given: Json | None = None) -> bytes:
    begun = {"type": "tool_use", "id": id, "name": name, "input": given or {}}
    deltas = [{"type": "input_json_delta", "partial_json": part} for part in parts]
    return block(index, begun, *deltas)


def end(reason: str | None = "end_turn", usage: Json | None = None, **details: Any) -> bytes:
    delta = {"stop_reason": reason, "stop_sequence": None, **details}
    told = {} if usage is None else {"usage": usage}
    return event("message_delta", delta=delta, **told) + event("message_stop")


BODY = b"".join(
    [
        start(input_tokens=4, cache_read_input_tokens=8, cache_creation_input_tokens=1),
        thinking(0, "c2ln", "h", "m"),
        event("ping"),
        text(1, "h\u00e9llo ", "\U0001f419 w\u00f6rld"),
        tool(2, "a", "f", "", '{"x"', ":1}"),
        block(3, {"type": "redacted_thinking", "data": "ZGF0YQ=="}),
        tool(4, "b", "g", given={"y": 2}),
        text(5, " and more"),
        end("tool_use", {"output_tokens": 3, "output_tokens_details": {"thinking_tokens": 1}}),
    ]
)
STATE = (
    '[{"type":"thinking","thinking":"hm","signature":"c2ln"},13,null,'
    '{"type":"redacted_thinking","data":"ZGF0YQ=="},null,9]'
)


def read(*parts: bytes, key: str = "", **options: Any) -> list[StreamEvent]:
    reader = MessagesReader("lab", "m", key=Secret(key) if key else None, **options)
    return [one for part in parts for one in reader.feed(part)] + reader.close()


def merged(events: list[StreamEvent]) -> tuple[str, str, list[StreamEvent]]:
    said = "".join(e.text for e in events if isinstance(e, TextDelta))
    thought = "".join(e.text for e in events if isinstance(e, ReasoningDelta))
    return said, thought, [e for e in events if not isinstance(e, TextDelta | ReasoningDelta)]


WHOLE = (
    "h\u00e9llo \U0001f419 w\u00f6rld and more",
    "hm",
    [
        ToolCalled(ToolCall(id="a", name="f", arguments='{"x":1}')),
        ToolCalled(ToolCall(id="b", name="g", arguments='{"y": 2}')),
        StateKept(ProviderState(provider="lab", model="m", blob=STATE)),
        UsageReported(
            Usage(
                input_tokens=13,
                output_tokens=3,
                cached_tokens=8,
                written_tokens=1,
                reasoning_tokens=1,
                requests=1,
            )
        ),
        Done("tool_use"),
    ],
)


def test_a_whole_stream_becomes_its_events_and_no_text_block_overwrites_another() -> None:
    assert merged(read(BODY)) == WHOLE


def test_one_byte_at_a_time_becomes_the_same_events() -> None:
    assert merged(read(*(BODY[i : i + 1] for i in range(len(BODY))))) == WHOLE


@given(st.lists(st.integers(0, len(BODY)), max_size=8))
def test_any_cut_gives_the_same_events(cuts: list[int]) -> None:
    bounds = sorted({0, len(BODY), *cuts})
    assert merged(read(*(BODY[a:b] for a, b in pairwise(bounds)))) == WHOLE


@pytest.mark.parametrize("size", range(0, len(BODY) - len(event("message_stop")) + 20, 41))
def test_a_stream_that_ends_before_message_stop_is_cut_and_calls_nothing(size: int) -> None:
    reader = MessagesReader("lab", "m")
    events = reader.feed(BODY[:size])
    assert not any(isinstance(one, ToolCalled | Done) for one in events)
    with pytest.raises(StreamCut, match="'lab' ended before it was whole"):
        reader.close()


@pytest.mark.parametrize(
    ("reason", "meant"),
    [
        ("end_turn", "end_turn"),
        ("stop_sequence", "stop_sequence"),
        ("max_tokens", "max_tokens"),
        ("model_context_window_exceeded", "max_tokens"),
        ("pause_turn", "end_turn"),
        ("of_tomorrow", "end_turn"),
        (None, "end_turn"),
    ],
)
def test_the_reason_is_translated(reason: str | None, meant: StopReason) -> None:
    assert read(start(), text(0, "x"), end(reason)) == [TextDelta("x"), Done(meant)]


def test_a_refusal_is_content_filtered_and_says_what_the_vendor_says() -> None:
    details = {"type": "refusal", "category": "bio", "explanation": "Too dangerous."}
    with pytest.raises(ContentFiltered, match="'lab' refused to answer: Too dangerous"):
        read(start(), text(0, "I"), end("refusal", stop_details=details))
    with pytest.raises(ContentFiltered, match="'lab' refused to answer \\("):
        read(start(), end("refusal"))


def test_a_call_cut_by_the_token_limit_is_no_call() -> None:
    events = read(start(), tool(0, "a", "f", "{}"), tool(1, "b", "g", '{"y":'), end("max_tokens"))
    assert events == [
        ToolCalled(ToolCall(id="a", name="f", arguments="{}")),
        Done("max_tokens"),
    ]


def test_a_call_whose_block_never_ended_is_no_call_unless_it_is_whole() -> None:
    whole, cut = tool(0, "a", "f", '{"x":1}'), tool(1, "b", "g", '{"y"')
    stop = len(event("content_block_stop", index=0))
    events = read(start(), whole[:-stop], cut[:-stop], end("tool_use"))
    assert events == [
        ToolCalled(ToolCall(id="a", name="f", arguments='{"x":1}')),
        Done("tool_use"),
    ]


def test_arguments_that_are_no_json_are_handed_on_for_the_tool_to_refuse() -> None:
    events = read(start(), tool(0, "a", "f", '{"x": nonsense}'), end("tool_use"))
    assert events[0] == ToolCalled(ToolCall(id="a", name="f", arguments='{"x": nonsense}'))


def test_blank_and_repeated_ids_are_made_unique_and_names_are_the_true_ones() -> None:
    body = (start(), *(tool(n, id, "s_1", "{}") for n, id in enumerate(["a", "a", ""])), end())
    calls = [e.call for e in read(*body, names={"s_1": "s.1"}) if isinstance(e, ToolCalled)]
    assert [call.name for call in calls] == ["s.1"] * 3
    assert len({call.id for call in calls}) == 3
    assert all(call.id for call in calls)


def test_a_server_that_gives_every_block_one_index_is_understood() -> None:
    events = read(start(), text(0, "a"), tool(0, "x", "f", "{}"), text(0, "b"), end("tool_use"))
    assert merged(events)[:2] == ("ab", "")
    assert ToolCalled(ToolCall(id="x", name="f", arguments="{}")) in events


def test_blocks_whose_pieces_come_by_turns_are_told_apart_by_their_index() -> None:
    begun = {"type": "tool_use", "name": "f", "input": {}}
    opened = [
        event("content_block_start", index=n, content_block={**begun, "id": id})
        for n, id in ((1, "b"), (0, "a"))
    ]
    parts = [(0, '{"x'), (1, '{"y'), (0, '":1}'), (1, '":2}')]
    deltas = [
        event(
            "content_block_delta",
            index=n,
            delta={"type": "input_json_delta", "partial_json": part},
        )
        for n, part in parts
    ]
    closed = [event("content_block_stop", index=n) for n in (0, 1)]
    events = read(start(), *opened, *deltas, *closed, end())
    calls = [e.call for e in events if isinstance(e, ToolCalled)]
    assert calls == [
        ToolCall(id="b", name="f", arguments='{"y":2}'),
        ToolCall(id="a", name="f", arguments='{"x":1}'),
    ]


def test_text_without_a_beginning_of_its_block_is_text_all_the_same() -> None:
    delta = event("content_block_delta", index=0, delta={"type": "text_delta", "text": "hi"})
    assert read(start(), delta, end()) == [TextDelta("hi"), Done("end_turn")]


def test_what_nobody_knows_is_passed_over() -> None:
    begun = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}
    events = read(
        start(),
        block(0, begun, {"type": "input_json_delta", "partial_json": '{"query":'}),
        block(1, found),
        block(
            2,
            {"type": "text", "text": "given ", "citations": None},
            {"type": "citations_delta", "citation": {}},
            {"type": "text_delta", "text": "and told"},
            {"type": "delta_of_tomorrow"},
        ),
        event("event_of_tomorrow", anything=1),
        b"data: [DONE]\n\n",
        end(),
    )
    assert events == [TextDelta("given "), TextDelta("and told"), Done("end_turn")]


@pytest.mark.parametrize(
    ("first", "last", "usage"),
    [
        ({"input_tokens": 5, "output_tokens": 1}, {"output_tokens": 3}, (5, 3)),
        ({"input_tokens": 0, "output_tokens": 0}, {"input_tokens": 7, "output_tokens": 3}, (7, 3)),
        ({"input_tokens": 5, "output_tokens": 1}, None, (5, 1)),
        ({}, {"input_tokens": 7, "output_tokens": 3}, (7, 3)),
        ({"input_tokens": -1, "output_tokens": "x"}, {"output_tokens": 2**50}, None),
        ({}, None, None),
    ],
)
def test_usage_is_read_from_whichever_event_has_it(
    first: Json, last: Json | None, usage: tuple[int, int] | None
) -> None:
    events = read(start(**first), end("end_turn", last))
    told = [e.usage for e in events if isinstance(e, UsageReported)]
    wanted = [Usage(input_tokens=usage[0], output_tokens=usage[1], requests=1)] if usage else []
    assert told == wanted


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        ({"type": "overloaded_error", "message": "Overloaded"}, Unavailable, "529: Overloaded"),
        ({"type": "rate_limit_error", "message": "slow down"}, RateLimited, "slow down"),
        ({"type": "api_error", "message": "oops"}, Unavailable, "oops"),
        ({"type": "timeout_error", "message": "late"}, Unavailable, "late"),
        ({"type": "authentication_error", "message": "who?"}, AuthRejected, "who?"),
        ({"type": "permission_error", "message": "not you"}, AuthRejected, "not you"),
        ({"type": "billing_error", "message": "pay"}, QuotaExceeded, "pay"),
        ({"type": "not_found_error", "message": "model: x"}, ModelNotFound, "model: x"),
        ({"type": "invalid_request_error", "message": "bad"}, BadRequest, "bad"),
        (
            {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens"},
            ContextOverflow,
            "prompt is too long",
        ),
        ({"type": "error_of_tomorrow", "message": "hm"}, Unavailable, "hm"),
        ("all broken", Unavailable, "all broken"),
    ],
)
def test_an_error_under_status_200_is_raised_as_what_it_is(
    error: object, kind: type[ProviderError], message: str
) -> None:
    with pytest.raises(kind, match=message) as caught:
        read(start(), text(0, "so far"), event("error", error=error), end())
    assert type(caught.value) is kind


def test_an_error_in_the_words_of_another_dialect_is_raised_too() -> None:
    with pytest.raises(RateLimited, match="slow"):
        read(b'data: {"error": {"code": 429, "message": "slow"}}\n\n')


def test_a_key_that_a_server_repeats_is_not_shown() -> None:
    error = {"type": "authentication_error", "message": "bad key secret-1234567890 !"}
    with pytest.raises(ProviderError) as caught:
        read(event("error", error=error), key="secret-1234567890")
    assert "secret-1234567890" not in str(caught.value)
    assert "bad key" in str(caught.value)


def test_thinking_without_a_signature_is_kept_as_it_was_given() -> None:
    events = read(start(), thinking(0, "", "so"), text(1, "x"), end())
    blob = '[{"type":"thinking","thinking":"so"},1]'
    assert StateKept(ProviderState(provider="lab", model="m", blob=blob)) in events


def test_thinking_that_came_garbled_is_not_kept() -> None:
    garbled = thinking(0, "c2ln", "X").replace(b'"X"', b'"\\ud83d"')
    events = read(start(), garbled, text(1, "x"), end())
    assert events == [ReasoningDelta("\ufffd"), TextDelta("x"), Done("end_turn")]


def test_the_input_of_the_tool_that_stands_for_the_answer_is_the_answer() -> None:
    body = (start(), text(0, "Here: "), tool(1, "a", "answer", '{"x"', ": 1}"), end("tool_use"))
    assert read(*body, answer="answer") == [TextDelta('{"x": 1}'), Done("end_turn")]


def test_text_in_place_of_the_asked_answer_and_calls_before_it_are_kept() -> None:
    assert read(start(), text(0, "No", "."), end(), answer="answer") == [
        TextDelta("No."),
        Done("end_turn"),
    ]
    body = (start(), tool(0, "a", "f", "{}"), tool(1, "b", "answer", "{}"), end("tool_use"))
    assert read(*body, answer="answer") == [
        ToolCalled(ToolCall(id="a", name="f", arguments="{}")),
        Done("tool_use"),
    ]


def test_thinking_before_an_answer_in_words_is_kept_and_before_one_by_tool_is_not() -> None:
    words = read(start(), thinking(0, "s", "hm"), text(1, "{}"), end(), answer="answer")
    blob = '[{"type":"thinking","thinking":"hm","signature":"s"},2]'
    assert StateKept(ProviderState(provider="lab", model="m", blob=blob)) in words
    made = tool(1, "a", "answer", "{}")
    by_tool = read(start(), thinking(0, "s", "hm"), made, end("tool_use"), answer="answer")
    assert by_tool == [ReasoningDelta("hm"), TextDelta("{}"), Done("end_turn")]


def test_an_answer_that_came_as_one_body_is_read_the_same() -> None:
    message = {
        "type": "message",
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            {"type": "text", "text": "hi"},
            {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 2, "output_tokens": 3},
    }
    reader = MessagesReader("lab", "m")
    events = [*reader.read_whole(json.dumps(message).encode()), *reader.close()]
    blob = '[{"type":"thinking","thinking":"hm","signature":"c2ln"},2,null]'
    assert events == [
        ReasoningDelta("hm"),
        TextDelta("hi"),
        ToolCalled(ToolCall(id="a", name="f", arguments='{"x": 1}')),
        StateKept(ProviderState(provider="lab", model="m", blob=blob)),
        UsageReported(Usage(input_tokens=2, output_tokens=3, requests=1)),
        Done("tool_use"),
    ]


def test_a_whole_body_that_is_an_error_is_raised() -> None:
    with pytest.raises(Unavailable, match="529"):
        MessagesReader("lab", "m").read_whole(
            b'{"type":"error","error":{"type":"overloaded_error"}}'
        )


def test_nothing_after_the_end_counts() -> None:
    assert read(start(), text(0, "x"), end(), text(1, "y"), b"data: {broken\n\n") == [
        TextDelta("x"),
        Done("end_turn"),
    ]


def test_an_endless_answer_is_refused() -> None:
    blocks = b"".join(text(n) for n in range(MAX_BLOCKS + 1))
    with pytest.raises(Unavailable, match="more than 2048 parts"):
        read(start(), blocks, end())
    calls = b"".join(tool(n, str(n), "f", "{}") for n in range(MAX_CALLS + 1))
    with pytest.raises(Unavailable, match="more than 128 tool calls"):
        read(start(), calls, end())
    long = tool(0, "a", "f", *["x" * 900_000] * 9)
    with pytest.raises(Unavailable, match="too long"):
        read(start(), long, end())


def test_an_index_of_a_thousand_million_costs_nothing() -> None:
    events = read(start(), tool(10**9, "a", "f", "{}"), end("tool_use"))
    assert events[0] == ToolCalled(ToolCall(id="a", name="f", arguments="{}"))


def test_another_dialect_is_told_apart() -> None:
    chunk = b'data: {"choices": [{"delta": {"content": "hi"}}]}\n\n'
    with pytest.raises(Unavailable, match="not Anthropic's messages"):
        read(chunk)


@pytest.mark.parametrize(
    "delta",
    [
        {"type": "text_delta", "text": ["a"]},
        {"type": "thinking_delta", "thinking": {"a": 1}},
        {"type": "text_delta"},
        {"type": "input_json_delta"},
        "text",
    ],
)
def test_a_delta_of_another_shape_is_one_clear_error(delta: object) -> None:
    with pytest.raises(Unavailable, match="not Anthropic's messages"):
        read(start(), event("content_block_delta", index=0, delta=delta))


# fmt: off
NAMES = (
    "type", "index", "delta", "content_block", "message", "usage", "text", "thinking", "signature",
    "partial_json", "id", "name", "input", "stop_reason", "stop_details", "error", "input_tokens",
)
KINDS = (
    "message_start", "content_block_start", "content_block_delta", "content_block_stop",
    "message_delta", "message_stop", "error", "text_delta", "tool_use", "thinking", "text",
    "input_json_delta", "thinking_delta", "signature_delta", "redacted_thinking",
)
# fmt: on
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(KINDS),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
        | st.builds(
            lambda kind, rest: {**rest, "type": kind},
            st.sampled_from(KINDS),
            st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
        )
    ),
    max_leaves=12,
)


@settings(max_examples=200)
@given(st.lists(JSON, max_size=6))
def test_whatever_a_server_sends_gives_events_or_one_of_our_errors(chunks: list[object]) -> None:
    with suppress(OctoError):
        read(*(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks), end())
    with suppress(OctoError):
        reader = MessagesReader("lab", "m")
        reader.read_whole(json.dumps({"type": "message", "content": chunks}).encode())
        reader.close()
