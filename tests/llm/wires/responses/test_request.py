from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_lab.core.errors import UsageError
from octo_lab.core.messages import (
    ChatRequest,
    Effort,
    Media,
    Message,
    OneTool,
    ProviderState,
    ToolCall,
    ToolSpec,
)
from octo_lab.llm.hints import ModelHints
from octo_lab.llm.wires.responses.request import request_bytes, responses_request
from octo_lab.llm.wires.responses.validate import request_problem

EFFORTS: tuple[Effort | None, ...] = ("low", None)
HI = Message(role="user", content="hi")
PLAIN = ModelHints()
THINKS = ModelHints(effort=True, fixed_temperature=True)
TOOL = ToolSpec(name="f", description="does f", schema={"type": "object", "properties": {}})
PICTURE = Media(mime="image/png", data=b"png", name="plot.png")
SEEN = {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,cG5n"}
CALL = ToolCall(id="a", name="f", arguments='{"x":1}')
RESULT = Message(role="tool", content="1", tool_call_id="a")
ITEMS: list[dict[str, Any]] = [
    {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "secret"},
    {
        "type": "message",
        "id": "msg",
        "role": "assistant",
        "status": "completed",
        "phase": "commentary",
        "content": [{"type": "output_text", "text": "Let me look.", "annotations": []}],
    },
    {"type": "function_call", "id": "fc", "call_id": "a", "name": "f", "arguments": '{"x":1}'},
]
KEPT = Message(
    role="assistant",
    content="Let me look.",
    tool_calls=(CALL,),
    provider_state=ProviderState(provider="lab", model="m", blob=json.dumps(ITEMS)),
)


def body_of(request: ChatRequest, hints: ModelHints = PLAIN) -> dict[str, Any]:
    body = responses_request(request, "lab", "m", hints)
    assert request_problem(body) is None
    return body


def items(*history: Message, hints: ModelHints = PLAIN) -> list[Any]:
    sent: list[Any] = body_of(ChatRequest(messages=history), hints)["input"]
    return sent


def test_only_fields_that_mean_something_are_sent() -> None:
    request = ChatRequest(messages=[HI], tool_choice="required", max_tokens=0, stop=("END",))
    assert body_of(request) == {
        "model": "m",
        "input": [{"type": "message", "role": "user", "content": "hi"}],
        "store": False,
        "stream": True,
    }


def test_every_choice_has_its_field() -> None:
    request = ChatRequest(
        messages=[Message(role="system", content="Be brief."), HI],
        tools=[TOOL],
        tool_choice=OneTool("f"),
        max_tokens=99,
        temperature=0.0,
        response_schema={"type": "object"},
        effort="high",
    )
    body = body_of(request)
    assert {name: body[name] for name in body if name not in ("model", "input")} == {
        "instructions": "Be brief.",
        "store": False,
        "stream": True,
        "tools": [
            {
                "type": "function",
                "name": "f",
                "description": "does f",
                "parameters": {"type": "object", "properties": {}},
                "strict": False,
            }
        ],
        "tool_choice": {"type": "function", "name": "f"},
        "max_output_tokens": 99,
        "temperature": 0.0,
        "text": {
            "format": {
                "type": "json_schema",
                "name": "answer",
                "schema": {"type": "object"},
                "strict": False,
            }
        },
    }


def test_a_model_that_thinks_is_told_how_much_and_gives_its_thinking() -> None:
    body = body_of(ChatRequest(messages=[HI], temperature=0.5, effort="high"), THINKS)
    assert {name: body[name] for name in body if name not in ("model", "input")} == {
        "store": False,
        "stream": True,
        "reasoning": {"effort": "high", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
    }


def test_a_server_that_refuses_summaries_and_state_is_not_asked_for_them() -> None:
    hints = replace(THINKS, summaries=False, replay_state=False)
    sent = [
        sorted(body_of(ChatRequest(messages=[HI], effort=effort), hints).keys() - {"model"})
        for effort in EFFORTS
    ]
    assert sent == [["input", "reasoning", "store", "stream"], ["input", "store", "stream"]]


@pytest.mark.parametrize(
    ("effort", "minimal", "told"),
    [
        (None, False, {"summary": "auto"}),
        ("minimal", False, {"effort": "low", "summary": "auto"}),
        ("minimal", True, {"effort": "minimal", "summary": "auto"}),
    ],
)
def test_effort_is_what_the_model_knows(effort: Effort | None, minimal: bool, told: object) -> None:
    hints = replace(THINKS, minimal=minimal)
    assert body_of(ChatRequest(messages=[HI], effort=effort), hints)["reasoning"] == told


def test_the_limit_is_never_less_than_the_vendor_takes() -> None:
    assert body_of(ChatRequest(messages=[HI], max_tokens=1))["max_output_tokens"] == 16


def test_a_closed_schema_is_enforced_unless_the_model_cannot() -> None:
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    request = ChatRequest(messages=[HI], response_schema=schema)
    strict = [
        body_of(request, hints)["text"]["format"]["strict"]
        for hints in (PLAIN, ModelHints(strict=False))
    ]
    assert strict == [True, False]


def test_any_object_is_asked_for_with_the_word_the_vendor_wants() -> None:
    body = body_of(ChatRequest(messages=[HI], response_schema={}))
    assert body["text"] == {"format": {"type": "json_object"}}
    assert body["input"][0] == {
        "type": "message",
        "role": "developer",
        "content": "Answer with one JSON object and nothing else.",
    }


def test_a_schema_that_cannot_be_enforced_is_told_in_words() -> None:
    request = ChatRequest(messages=[HI], response_schema={"type": "object"})
    body = body_of(request, ModelHints(structured="words"))
    assert "text" not in body
    assert '{"type": "object"}' in body["input"][0]["content"]


@pytest.mark.parametrize(
    ("known", "sent"), [("name", {"type": "function", "name": "f"}), ("required", "required")]
)
def test_one_tool_is_demanded_as_far_as_the_server_knows(known: Any, sent: object) -> None:
    request = ChatRequest(messages=[HI], tools=[TOOL], tool_choice=OneTool("f"))
    assert body_of(request, ModelHints(tool_choice=known))["tool_choice"] == sent
    assert "tool_choice" not in body_of(request, ModelHints(tool_choice="auto"))


def test_a_tool_that_is_not_offered_cannot_be_demanded() -> None:
    request = ChatRequest(messages=[HI], tools=[TOOL], tool_choice=OneTool("g"))
    with pytest.raises(UsageError, match="'g' is not offered"):
        body_of(request)


def test_a_model_without_tools_reads_of_calls_in_words() -> None:
    request = ChatRequest(messages=[HI, KEPT, RESULT], tools=[TOOL])
    body = body_of(request, ModelHints(tools=False))
    assert "tools" not in body
    assert {item["type"] for item in body["input"]} == {"message"}


def test_a_pair_of_call_and_result() -> None:
    call = replace(CALL, name="f.g")
    sent = items(HI, Message(role="assistant", content=" ", tool_calls=(call,)), RESULT)
    name = sent[1].pop("name")
    assert name.startswith("f_g_")
    assert sent[1:] == [
        {"type": "function_call", "call_id": "a", "arguments": '{"x":1}'},
        {"type": "function_call_output", "call_id": "a", "output": "1"},
    ]


def test_arguments_that_are_no_json_object_are_marked() -> None:
    call = replace(CALL, arguments='{"x')
    sent = items(HI, Message(role="assistant", tool_calls=(call,)), RESULT)
    assert json.loads(sent[1]["arguments"]) == {"invalid_json": '{"x'}


def test_pictures_are_shown_where_they_came_up_and_files_mentioned() -> None:
    file = Media(mime="application/pdf", data=b"pdf", name="a.pdf")
    sent = items(
        Message(role="user", content="see", media=(PICTURE, file)),
        Message(role="assistant", tool_calls=(CALL,)),
        replace(RESULT, content="", media=(PICTURE,)),
    )
    assert sent[0]["content"] == [
        {"type": "input_text", "text": "see\n[application/pdf: a.pdf]"},
        SEEN,
    ]
    assert sent[2] == {"type": "function_call_output", "call_id": "a", "output": [SEEN]}


@pytest.mark.parametrize(
    ("media", "hints"), [(PICTURE, ModelHints(vision=False)), (replace(PICTURE, data=b""), PLAIN)]
)
def test_a_picture_that_cannot_be_shown_is_mentioned(media: Media, hints: ModelHints) -> None:
    sent = items(Message(role="user", content="see", media=(media,)), hints=hints)
    assert sent[0]["content"] == "see\n[image/png: plot.png]"


def test_items_go_back_verbatim_to_the_same_provider_and_model() -> None:
    assert items(HI, KEPT, RESULT)[1:-1] == ITEMS


STATE = KEPT.provider_state
assert STATE is not None
SAID = replace(KEPT, tool_calls=(), provider_state=replace(STATE, blob=json.dumps(ITEMS[:2])))
THOUGHTLESS = replace(KEPT, content="", provider_state=replace(STATE, blob=json.dumps(ITEMS[:1])))
REBUILT = [
    {"type": "message", "role": "assistant", "content": "Let me look."},
    {"type": "function_call", "call_id": "a", "name": "f", "arguments": '{"x":1}'},
]


@pytest.mark.parametrize(
    "state",
    [
        None,
        replace(STATE, provider="other"),
        replace(STATE, model="other"),
        replace(STATE, blob="{"),
        replace(STATE, blob="{}"),
        replace(STATE, blob='{"reasoning_content": "hm"}'),
        replace(STATE, blob="[1]"),
        replace(STATE, blob="[]"),
        replace(STATE, blob=json.dumps([*ITEMS, ITEMS[0]])),
        replace(STATE, blob=json.dumps(ITEMS[:2])),
        replace(STATE, blob=json.dumps(ITEMS[1:2])),
    ],
)
def test_items_of_others_and_those_that_do_not_fit_are_made_anew(
    state: ProviderState | None,
) -> None:
    assert items(HI, replace(KEPT, provider_state=state), RESULT)[1:-1] == REBUILT


@pytest.mark.parametrize(
    "changed",
    [
        replace(KEPT, content="Let me not."),
        replace(KEPT, tool_calls=(replace(CALL, arguments='{"x":2}'),)),
        replace(KEPT, tool_calls=(CALL, replace(CALL, id="b"))),
    ],
)
def test_a_message_that_was_changed_is_made_anew(changed: Message) -> None:
    assert "reasoning" not in {item["type"] for item in items(HI, changed, RESULT)}


def test_items_go_back_only_once_however_often_the_message_is_there() -> None:
    kinds = [item["type"] for item in items(HI, SAID, HI, SAID, HI)]
    assert kinds == ["message", "reasoning", "message", "message", "message", "message"]


@given(st.lists(st.sampled_from([HI, KEPT, RESULT, SAID, THOUGHTLESS]), max_size=9))
def test_items_of_any_damaged_history_are_accepted(history: list[Message]) -> None:
    assert items(*history)


def test_a_user_can_forbid_that_state_goes_back() -> None:
    assert items(HI, KEPT, RESULT, hints=ModelHints(replay_state=False))[1:-1] == REBUILT


def test_lone_surrogates_never_reach_the_wire() -> None:
    request = ChatRequest(messages=[Message(role="user", content="a\ud800b")])
    sent = json.loads(request_bytes(request, "lab", "m", PLAIN))
    assert sent["input"][0]["content"] == "a\ufffdb"
