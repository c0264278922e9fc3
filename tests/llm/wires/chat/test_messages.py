from __future__ import annotations

import json
from typing import Any

import pytest

from octo_lab.core.messages import ChatRequest, Media, Message, ProviderState, ToolCall, ToolSpec
from octo_lab.llm.hints import ModelHints
from octo_lab.llm.wires.chat.request import chat_request
from octo_lab.llm.wires.chat.validate import request_problem

HI = Message(role="user", content="hi")
TOOL = ToolSpec(name="f", description="does f", schema={"type": "object", "properties": {}})
PICTURE = Media(mime="image/png", data=b"png", name="plot.png")


def sent(request: ChatRequest, **hints: Any) -> dict[str, Any]:
    body = chat_request(request, "m", ModelHints(**hints), "lab")
    assert request_problem(body, extended=True) is None
    return body


TOLD = [
    Message(role="system", content="A"),
    Message(role="system", content="B"),
    HI,
]


@pytest.mark.parametrize(
    ("hints", "messages"),
    [
        ({}, [("system", "A\n\nB"), ("user", "hi")]),
        ({"merge_system": False}, [("system", "A"), ("system", "B"), ("user", "hi")]),
        ({"system": "developer"}, [("developer", "A\n\nB"), ("user", "hi")]),
        ({"system": "user"}, [("user", "A\n\nB\n\nhi")]),
    ],
)
def test_instructions_go_where_the_model_reads_them(
    hints: dict[str, Any], messages: list[tuple[str, str]]
) -> None:
    body = sent(ChatRequest(messages=TOLD), **hints)
    assert [(m["role"], m["content"]) for m in body["messages"]] == messages


def state(provider: str = "lab", model: str = "m", **kept: object) -> ProviderState:
    return ProviderState(provider=provider, model=model, blob=json.dumps(kept))


@pytest.mark.parametrize(
    ("kept", "hints", "fields"),
    [
        (state(reasoning_content="why"), {}, {}),
        (
            state(reasoning_content=" why\n"),
            {"reasoning": "kept"},
            {"reasoning_content": " why\n"},
        ),
        (state(reasoning="why"), {"reasoning": "kept"}, {"reasoning": "why"}),
        (None, {"reasoning": "kept"}, {}),
        (None, {"reasoning": "stubbed"}, {"reasoning_content": " "}),
        (state(reasoning="why"), {"reasoning": "stubbed"}, {"reasoning": "why"}),
        (
            state(model="other", reasoning_content="why"),
            {"reasoning": "stubbed"},
            {"reasoning_content": " "},
        ),
        (state(provider="other", reasoning_content="why"), {"reasoning": "kept"}, {}),
        (state(reasoning_details=[{"data": "x"}]), {}, {"reasoning_details": [{"data": "x"}]}),
        (state(reasoning_details=[{"data": "x"}]), {"replay_state": False}, {}),
        (ProviderState(provider="lab", model="m", blob="{"), {"reasoning": "kept"}, {}),
    ],
)
def test_thinking_goes_back_verbatim_to_the_model_that_thought_it(
    kept: ProviderState | None, hints: dict[str, Any], fields: dict[str, Any]
) -> None:
    answer = Message(role="assistant", content="so", reasoning="why", provider_state=kept)
    body = sent(ChatRequest(messages=[HI, answer, HI]), **hints)
    assert body["messages"][1] == {"role": "assistant", "content": "so", **fields}


def test_a_model_without_tools_reads_of_earlier_calls_in_words() -> None:
    call = ToolCall(id="a", name="f", arguments="{}")
    history = [
        HI,
        Message(role="assistant", tool_calls=(call,)),
        Message(role="tool", content="1", tool_call_id="a"),
    ]
    body = sent(ChatRequest(messages=history, tools=[TOOL]), tools=False)
    assert "tools" not in body
    assert body["messages"] == [
        {"role": "user", "content": "hi\n\n[The tool f was called with {} and returned: 1]"}
    ]


def test_pictures_of_results_join_what_the_user_says_next() -> None:
    call = ToolCall(id="a", name="f", arguments="{}")
    history = [
        HI,
        Message(role="assistant", tool_calls=(call,)),
        Message(role="tool", content="1", tool_call_id="a", media=(PICTURE,)),
        Message(role="user", content="and?"),
    ]
    last = sent(ChatRequest(messages=history))["messages"][-1]
    assert [part["type"] for part in last["content"]] == ["text", "image_url"]
    assert last["content"][0]["text"] == "The pictures that the tools returned:\n\nand?"


@pytest.mark.parametrize("blank", ["", " ", "\n"])
def test_no_text_that_is_blank_is_sent(blank: str) -> None:
    call = ToolCall(id="a", name="f", arguments="{}")
    history = [
        Message(role="user", content=blank),
        Message(role="assistant", content=blank, tool_calls=(call,)),
        Message(role="tool", content=blank, tool_call_id="a"),
        Message(role="assistant", content=blank),
        Message(role="user", content=blank),
    ]
    contents = [m["content"] for m in sent(ChatRequest(messages=history))["messages"]]
    assert contents == ["[empty message]", None, blank, "[empty message]"]
