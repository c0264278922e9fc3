from __future__ import annotations

import json
from contextlib import suppress
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
from octo_lab.llm.tool_calls import MAX_ARGUMENTS, MAX_CALLS
from octo_lab.llm.wires.responses.output import MAX_PARTS
from octo_lab.llm.wires.responses.reader import ResponsesReader

Json = dict[str, Any]


def data(value: object) -> bytes:
    text = value if isinstance(value, str) else json.dumps(value)
    return f"data: {text}\n\n".encode()


def event(kind: str, **fields: Any) -> bytes:
    return data({"type": f"response.{kind}", **fields})


def text_delta(piece: str, index: int = 0, part: int = 0) -> bytes:
    at = {"output_index": index, "item_id": f"m{index}", "content_index": part}
    return event("output_text.delta", delta=piece, **at)


def completed(*output: Json, **fields: Any) -> bytes:
    return event("completed", response={"status": "completed", "output": list(output), **fields})


def incomplete(reason: str | None, *output: Json) -> bytes:
    response = {"incomplete_details": reason and {"reason": reason}, "output": list(output)}
    return event("incomplete", response=response)


def said(*texts: str, id: str = "m0") -> Json:
    parts = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
    return {"type": "message", "id": id, "role": "assistant", "content": parts}


def called(id: str, name: str = "f", arguments: str = "{}", item: str = "") -> Json:
    item = item or f"fc_{id}"
    return {
        "type": "function_call",
        "id": item,
        "call_id": id,
        "name": name,
        "arguments": arguments,
    }


def thought(*summary: str, **fields: Any) -> Json:
    parts = [{"type": "summary_text", "text": text} for text in summary]
    return {"type": "reasoning", "id": "rs", "summary": parts, **fields}


def read(*parts: bytes, **options: Any) -> list[StreamEvent]:
    reader = ResponsesReader("lab", "m", **options)
    return [event for part in parts for event in reader.feed(part)] + reader.close()


def tool(id: str, name: str = "f", arguments: str = "{}") -> ToolCalled:
    return ToolCalled(ToolCall(id=id, name=name, arguments=arguments))


def test_text_that_came_in_pieces_is_not_said_again() -> None:
    item = said("hello")
    events = read(
        text_delta("hel"),
        text_delta("lo"),
        event("output_text.done", text="hello", output_index=0, content_index=0),
        event("output_item.done", item=item, output_index=0),
        completed(item),
    )
    assert events == [TextDelta("hel"), TextDelta("lo"), Done("end_turn")]


@pytest.mark.parametrize(
    "parts",
    [
        [event("output_item.done", item=said("hello"), output_index=0), completed()],
        [event("output_item.done", item=said("hello"), output_index=0), completed(said("hello"))],
        [completed(said("hello"))],
        [completed(said("hel", "lo"))],
    ],
)
def test_text_that_came_only_whole_is_said_once(parts: list[bytes]) -> None:
    *told, done = read(*parts)
    assert "".join(e.text for e in told if isinstance(e, TextDelta)) == "hello"
    assert done == Done("end_turn")


def test_the_end_that_the_pieces_lacked_is_taken_from_the_whole() -> None:
    assert read(text_delta("hel"), completed(said("hello"))) == [
        TextDelta("hel"),
        TextDelta("lo"),
        Done("end_turn"),
    ]


def test_two_messages_are_two_paragraphs_and_two_parts_are_one() -> None:
    events = read(text_delta("a"), text_delta("b", part=1), text_delta("c", index=1), completed())
    assert events == [TextDelta("a"), TextDelta("b"), TextDelta("\n\nc"), Done("end_turn")]


def test_thinking_comes_as_summary_and_as_text() -> None:
    at = {"item_id": "rs", "output_index": 0}
    item = thought("one", "two")
    events = read(
        event("reasoning_summary_text.delta", delta="one", summary_index=0, **at),
        event("reasoning_summary_text.delta", delta="two", summary_index=1, **at),
        event("output_item.done", item=item, output_index=0),
        event("reasoning_text.delta", delta="raw", content_index=0, output_index=1),
        completed(item, {"type": "reasoning", "content": [{"text": "raw!"}]}),
    )
    assert events == [
        ReasoningDelta("one"),
        ReasoningDelta("\n\ntwo"),
        ReasoningDelta("\n\nraw"),
        ReasoningDelta("!"),
        Done("end_turn"),
    ]


def test_parallel_calls_in_turns_are_joined_by_their_place() -> None:
    events = read(
        event("output_item.added", item=called("a", arguments=""), output_index=0),
        event("output_item.added", item=called("b", "g", ""), output_index=1),
        event("function_call_arguments.delta", delta='{"x"', output_index=0, item_id="fc_a"),
        event("function_call_arguments.delta", delta='{"y"', output_index=1, item_id="fc_b"),
        event("function_call_arguments.delta", delta=":1}", output_index=0, item_id="fc_a"),
        event("function_call_arguments.delta", delta=":2}", output_index=1, item_id="fc_b"),
        completed(),
    )
    assert events == [tool("a", "f", '{"x":1}'), tool("b", "g", '{"y":2}'), Done("tool_use")]


def test_without_an_index_the_item_s_id_tells_the_call() -> None:
    events = read(
        event("output_item.added", item=called("a", arguments="")),
        event("output_item.added", item=called("b", arguments="")),
        event("function_call_arguments.delta", delta='{"y":2}', item_id="fc_b"),
        event("function_call_arguments.done", arguments='{"x":1}', item_id="fc_a"),
        completed(),
    )
    assert events == [tool("a", "f", '{"x":1}'), tool("b", "f", '{"y":2}'), Done("tool_use")]


def test_the_whole_arguments_win_over_their_pieces() -> None:
    events = read(
        event("output_item.added", item=called("a", arguments=""), output_index=0),
        event("function_call_arguments.delta", delta='{"x"', output_index=0),
        event("output_item.done", item=called("a", arguments='{"x":1}'), output_index=0),
        completed(called("a", arguments='{"x":1}')),
    )
    assert events == [tool("a", "f", '{"x":1}'), Done("tool_use")]


def test_a_call_known_by_its_id_keeps_its_place_though_indexes_have_gaps() -> None:
    events = read(
        event("output_item.added", item=called("a", arguments=""), output_index=3),
        event("function_call_arguments.delta", delta='{"x":1}', output_index=3),
        completed(called("a", arguments='{"x":1}')),
    )
    assert events == [tool("a", "f", '{"x":1}'), Done("tool_use")]


def test_a_call_whose_item_changes_its_id_is_one_call() -> None:
    events = read(
        event("output_item.added", item=called("a", arguments="", item="i1"), output_index=0),
        event("output_item.done", item=called("a", item="i2"), output_index=0),
        completed(called("a", item="i3")),
    )
    assert events == [tool("a"), Done("tool_use")]


def test_ids_are_made_unique_and_blank_arguments_are_an_empty_object() -> None:
    events = read(completed(called("a", arguments=" "), called("a", item="other"), called("")))
    calls = [e.call for e in events if isinstance(e, ToolCalled)]
    assert [call.arguments for call in calls] == ["{}"] * 3
    assert (calls[0].id, len({call.id for call in calls} - {""})) == ("a", 3)


def test_names_of_tools_are_given_back() -> None:
    events = read(completed(called("a", "x_1")), names={"x_1": "x.1"})
    assert events == [tool("a", "x.1"), Done("tool_use")]


def test_usage_is_read_to_the_full() -> None:
    usage = {
        "input_tokens": 12,
        "input_tokens_details": {"cached_tokens": 8, "cache_write_tokens": 2},
        "output_tokens": 3,
        "output_tokens_details": {"reasoning_tokens": 1},
    }
    assert read(completed(usage=usage))[0] == UsageReported(
        Usage(
            input_tokens=12,
            output_tokens=3,
            cached_tokens=8,
            written_tokens=2,
            reasoning_tokens=1,
            requests=1,
        )
    )


def test_a_part_is_never_more_than_the_whole_it_is_of() -> None:
    usage = {
        "input_tokens": 9,
        "output_tokens": 4,
        "input_tokens_details": {"cached_tokens": 99, "cache_write_tokens": 7},
        "output_tokens_details": {"reasoning_tokens": 50},
    }
    assert read(completed(usage=usage))[0] == UsageReported(
        Usage(input_tokens=9, output_tokens=4, cached_tokens=9, reasoning_tokens=4, requests=1)
    )


@pytest.mark.parametrize(
    "usage", ["many", [1], {"input_tokens_details": 5, "output_tokens_details": "x"}]
)
def test_usage_of_an_odd_shape_costs_no_answer(usage: object) -> None:
    assert read(completed(usage=usage))[0] == UsageReported(Usage(requests=1))


def test_usage_that_no_one_can_believe_is_0() -> None:
    usage = {"input_tokens": -1, "output_tokens": 2**60, "input_tokens_details": None}
    assert read(completed(usage=usage))[0] == UsageReported(Usage(requests=1))


def test_an_answer_cut_by_the_limit_loses_the_call_that_lacks_its_end() -> None:
    events = read(incomplete("max_output_tokens", called("a"), called("b", arguments='{"x')))
    assert events == [tool("a"), Done("max_tokens")]


def test_an_answer_that_the_filter_stopped_is_an_error() -> None:
    with pytest.raises(ContentFiltered, match="filter"):
        read(text_delta("I"), incomplete("content_filter"))


def test_a_refusal_is_an_error_with_its_words_once() -> None:
    part = {"type": "refusal", "refusal": "I cannot."}
    item = {"type": "message", "id": "m0", "content": [part]}
    with pytest.raises(ContentFiltered, match=r"refused to answer: I cannot\. \("):
        read(
            event("refusal.delta", delta="I can", output_index=0, content_index=0),
            event("output_item.done", item=item, output_index=0),
            completed(item),
        )


def test_encrypted_thinking_is_kept_with_the_items_around_it() -> None:
    items = [thought("hm", encrypted_content="x"), said("hi"), called("a")]
    events = read(completed(*items))
    assert [e for e in events if isinstance(e, StateKept)] == [
        StateKept(
            ProviderState(provider="lab", model="m", blob=json.dumps(items, separators=(",", ":")))
        )
    ]


@pytest.mark.parametrize(
    "items",
    [
        [said("hi")],
        [thought("hm"), said("hi")],
        [thought("hm", encrypted_content="x"), {"type": "web_search_call", "id": "w"}],
    ],
)
def test_nothing_is_kept_that_need_not_or_cannot_come_back(items: list[Json]) -> None:
    assert not [e for e in read(completed(*items)) if isinstance(e, StateKept)]


def test_phases_are_kept() -> None:
    kept = read(completed({**said("hi"), "phase": "final_answer"}))[-2]
    assert isinstance(kept, StateKept)
    assert json.loads(kept.state.blob)[0]["phase"] == "final_answer"


def test_an_incomplete_answer_keeps_nothing() -> None:
    item = thought("hm", encrypted_content="x")
    assert read(incomplete("max_output_tokens", item))[1:] == [Done("max_tokens")]


def failed(code: str, message: str = "no") -> bytes:
    return event("failed", response={"error": {"code": code, "message": message}})


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        (failed("server_error"), Unavailable),
        (failed("rate_limit_exceeded"), RateLimited),
        (failed("invalid_prompt"), ContentFiltered),
        (failed("image_too_large"), BadRequest),
        (failed("context_length_exceeded"), ContextOverflow),
        (event("failed", response={"error": None}), Unavailable),
        (data({"type": "error", "code": "insufficient_quota", "message": "no"}), QuotaExceeded),
        (data({"type": "error", "error": {"type": "rate_limit_error"}}), RateLimited),
        (data({"error": {"message": "no", "code": 400}}), BadRequest),
        (data({"message": "busy"}), Unavailable),
    ],
)
def test_an_error_inside_the_stream_has_its_kind(part: bytes, kind: type[ProviderError]) -> None:
    with pytest.raises(kind) as caught:
        read(text_delta("a"), part)
    assert type(caught.value) is kind


def test_an_error_shows_no_key() -> None:
    with pytest.raises(Unavailable) as caught:
        read(failed("server_error", "key sk-12345678 is odd"), key=Secret("sk-12345678"))
    assert "sk-12345678" not in str(caught.value)


@pytest.mark.parametrize(
    "parts",
    [
        [],
        [text_delta("a")],
        [text_delta("a"), data("[DONE]")],
        [event("output_item.done", item=called("a"), output_index=0)],
        [completed()[:-1]],
    ],
)
def test_without_a_terminal_event_the_answer_is_cut(parts: list[bytes]) -> None:
    with pytest.raises(StreamCut):
        read(*parts)


def test_what_comes_after_the_end_is_ignored() -> None:
    events = read(text_delta("a") + completed() + text_delta("b"), text_delta("c"), b"data: x\n\n")
    assert events == [TextDelta("a"), Done("end_turn")]


def test_events_that_nobody_knows_are_ignored() -> None:
    events = read(
        event("created", response={}),
        event("in_progress"),
        event("output_item.added", item=None, output_index=0),
        event("a_new_one", delta=1),
        data({"type": "keepalive"}),
        data({"something": "else"}),
        data("[DONE]"),
        data(" "),
        completed(),
    )
    assert events == [Done("end_turn")]


@pytest.mark.parametrize(
    "part",
    [
        event("output_text.delta"),
        event("output_text.delta", delta=1),
        event("output_item.done", item=[]),
        event("completed", response=None),
        event("completed", response={"output": [1]}),
        data("{"),
        data("[1]"),
    ],
)
def test_what_has_no_such_shape_is_an_error(part: bytes) -> None:
    with pytest.raises(Unavailable, match="lab"):
        read(part)


def test_lone_surrogates_are_replaced() -> None:
    events = read(data('{"type":"response.output_text.delta","delta":"a\\ud800"}'), completed())
    assert events == [TextDelta("a\ufffd"), Done("end_turn")]


def test_whether_it_has_begun_and_is_whole() -> None:
    reader = ResponsesReader("lab", "m")
    states = [(reader.begun, reader.whole)]
    for part in (b": ping\n\n", event("created", response={}), completed()):
        reader.feed(part)
        states.append((reader.begun, reader.whole))
    assert states == [(False, False), (False, False), (True, False), (True, True)]


def test_one_json_body_is_an_answer_too() -> None:
    reader = ResponsesReader("lab", "m")
    body = {"object": "response", "status": "completed", "error": None, "output": [said("hi")]}
    assert reader.read_whole(json.dumps(body).encode()) + reader.close() == [
        TextDelta("hi"),
        Done("end_turn"),
    ]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"object": "response", "status": "failed", "error": {"message": "no"}}, Unavailable),
        ({"error": {"type": "invalid_request_error", "message": "no"}}, BadRequest),
        ([], Unavailable),
    ],
)
def test_one_json_body_may_be_an_error(body: object, kind: type[ProviderError]) -> None:
    with pytest.raises(kind):
        ResponsesReader("lab", "m").read_whole(json.dumps(body).encode())


def many(count: int, **fields: Any) -> list[bytes]:
    kind = "function_call_arguments.delta"
    return [event(kind, output_index=n, delta="{}", **fields) for n in range(count)]


def test_calls_are_bounded() -> None:
    assert len(read(*many(MAX_CALLS), completed())) == MAX_CALLS + 1
    with pytest.raises(Unavailable, match="tool calls at once"):
        read(*many(MAX_CALLS + 1))


def test_arguments_are_bounded() -> None:
    piece = "x" * 500_000
    kind = "function_call_arguments.delta"
    parts = [event(kind, output_index=0, delta=piece)] * (2 * MAX_ARGUMENTS // len(piece) + 1)
    with pytest.raises(Unavailable, match="too long"):
        read(*parts)


def test_arguments_that_are_told_again_and_again_count_once() -> None:
    item = called("a", arguments=json.dumps({"x": "y" * 6_000_000}))
    done = event("function_call_arguments.done", arguments=item["arguments"], output_index=0)
    events = read(done, event("output_item.done", item=item, output_index=0), completed(item))
    assert events == [tool("a", "f", item["arguments"]), Done("tool_use")]


def test_parts_and_items_are_bounded() -> None:
    with pytest.raises(Unavailable, match="parts"):
        read(*(text_delta("a", part=n) for n in range(MAX_PARTS + 2)))
    with pytest.raises(Unavailable, match="items"):
        read(*(text_delta("a", index=n) for n in range(MAX_PARTS + 2)))


@settings(max_examples=300)
@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "type": st.sampled_from(
                    [
                        "response.output_text.delta",
                        "response.output_item.added",
                        "response.output_item.done",
                        "response.function_call_arguments.done",
                        "response.reasoning_text.delta",
                        "response.completed",
                        "response.failed",
                        "error",
                    ]
                )
            },
            optional={
                name: st.recursive(
                    st.none() | st.booleans() | st.integers(-2, 2) | st.text(max_size=2),
                    lambda inner: (
                        st.lists(inner, max_size=2)
                        | st.dictionaries(
                            st.sampled_from(["type", "content", "text", "id", "summary", "output"]),
                            inner | st.sampled_from(["message", "reasoning", "function_call"]),
                            max_size=3,
                        )
                    ),
                    max_leaves=4,
                )
                for name in ("delta", "item", "output_index", "item_id", "response", "error")
            },
        ),
        max_size=6,
    )
)
def test_whatever_comes_only_our_own_errors_are_raised(events: list[Json]) -> None:
    with suppress(OctoError):
        read(*map(data, events))
