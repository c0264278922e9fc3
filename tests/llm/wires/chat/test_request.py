from __future__ import annotations

import json

import pytest

from octo_lab.core.messages import ChatRequest, Media, Message, ToolCall, ToolSpec
from octo_lab.llm.hints import ModelHints
from octo_lab.llm.tool_names import alias
from octo_lab.llm.wires.chat.request import chat_request, is_strict, request_bytes

HI = Message(role="user", content="hi")
PLAIN = ModelHints()
TOOL = ToolSpec(name="f", description="does f", schema={"type": "object", "properties": {}})
PICTURE = Media(mime="image/png", data=b"png", name="plot.png")


def messages(*history: Message, hints: ModelHints = PLAIN) -> list[object]:
    body = chat_request(ChatRequest(messages=history), "m", hints)
    sent: list[object] = body["messages"]
    return sent


def test_only_fields_that_mean_something_are_sent() -> None:
    request = ChatRequest(messages=[HI], tool_choice="required", max_tokens=0, stop=("",))
    assert chat_request(request, "m", PLAIN) == {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_every_choice_has_its_field() -> None:
    request = ChatRequest(
        messages=[HI],
        tools=[TOOL],
        tool_choice="required",
        max_tokens=9,
        temperature=0.0,
        stop=("END",),
        response_schema={"type": "object"},
    )
    body = chat_request(request, "m", PLAIN)
    assert {name: body[name] for name in body if name not in ("messages", "model")} == {
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "f",
                    "description": "does f",
                    "parameters": {"type": "object", "properties": {}},
                },
            }
        ],
        "tool_choice": "required",
        "max_tokens": 9,
        "temperature": 0.0,
        "stop": ["END"],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": {"type": "object"}, "strict": False},
        },
    }


def test_hints_rename_the_limit_and_drop_the_temperature() -> None:
    hints = ModelHints(completion_tokens=True, fixed_temperature=True)
    body = chat_request(ChatRequest(messages=[HI], max_tokens=9, temperature=0.5), "o3", hints)
    assert (body["max_completion_tokens"], "max_tokens" in body, "temperature" in body) == (
        9,
        False,
        False,
    )


def test_a_pair_of_call_and_result() -> None:
    call = ToolCall(id="a", name="f.g", arguments='{"x":1}')
    sent = messages(
        HI,
        Message(role="assistant", content=" ", tool_calls=(call,), reasoning="secret"),
        Message(role="tool", content="1", tool_call_id="a"),
    )
    assert sent[1:] == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "a",
                    "type": "function",
                    "function": {"name": alias("f.g"), "arguments": '{"x":1}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "1"},
    ]


def test_arguments_that_are_no_json_object_are_marked() -> None:
    call = ToolCall(id="a", name="f", arguments='{"x')
    body = chat_request(
        ChatRequest(
            messages=[
                HI,
                Message(role="assistant", tool_calls=(call,)),
                Message(role="tool", content="bad", tool_call_id="a"),
            ]
        ),
        "m",
        PLAIN,
    )
    arguments = body["messages"][1]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(arguments) == {"invalid_json": '{"x'}


def test_a_picture_of_the_user_is_inlined_and_a_file_mentioned() -> None:
    file = Media(mime="application/pdf", data=b"pdf", name="a.pdf")
    assert messages(Message(role="user", content="see", media=(PICTURE, file))) == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "see\n[application/pdf: a.pdf]"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}},
            ],
        }
    ]


def test_a_picture_whose_file_is_gone_is_mentioned() -> None:
    gone = Media(mime="image/png", data=b"", name="gone.png")
    sent = messages(Message(role="user", content="see", media=(gone,)))
    assert sent == [{"role": "user", "content": "see\n[image/png: gone.png]"}]


FIELD = {"type": "string"}
CLOSED = {"type": "object", "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (CLOSED, True),
        ({**CLOSED, "properties": {"a": FIELD}, "required": ["a"]}, True),
        ({**CLOSED, "properties": {"a": FIELD}}, False),
        ({"type": "object", "properties": {"a": FIELD}, "required": ["a"]}, False),
        ({**CLOSED, "properties": {"a": {"type": "object"}}, "required": ["a"]}, False),
        ({"anyOf": [CLOSED, {"type": "object"}]}, False),
    ],
)
def test_only_a_closed_schema_is_enforced_to_the_letter(schema: object, strict: bool) -> None:
    assert is_strict(schema) is strict


def test_a_model_without_eyes_gets_a_mention() -> None:
    sent = messages(Message(role="user", media=(PICTURE,)), hints=ModelHints(vision=False))
    assert sent == [{"role": "user", "content": "[image/png: plot.png]"}]


def test_pictures_of_tool_results_follow_the_whole_block() -> None:
    calls = tuple(ToolCall(id=id, name="f", arguments="{}") for id in "ab")
    sent = messages(
        HI,
        Message(role="assistant", tool_calls=calls),
        Message(role="tool", content="1", tool_call_id="a", media=(PICTURE,)),
        Message(role="tool", content="2", tool_call_id="b"),
    )
    assert sent[2:] == [
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "tool", "tool_call_id": "b", "content": "2"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "The pictures that the tools returned:"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}},
            ],
        },
    ]


def test_lone_surrogates_never_reach_the_wire() -> None:
    body = request_bytes(
        ChatRequest(messages=[Message(role="user", content="a\ud800b")]), "m", PLAIN
    )
    assert json.loads(body)["messages"] == [{"role": "user", "content": "a\ufffdb"}]
