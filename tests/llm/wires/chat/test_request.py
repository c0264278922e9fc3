from __future__ import annotations

import json
from typing import Any

import pytest

from octo_lab.core.errors import UsageError
from octo_lab.core.messages import (
    ChatRequest,
    Effort,
    Media,
    Message,
    OneTool,
    ToolCall,
    ToolChoice,
    ToolSpec,
)
from octo_lab.llm.hints import ModelHints
from octo_lab.llm.tool_names import alias
from octo_lab.llm.wires.body import is_strict
from octo_lab.llm.wires.chat.request import chat_request, request_bytes
from octo_lab.llm.wires.chat.validate import request_problem

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


DOTTED = ToolSpec(name="server.tool", description="d", schema={"type": "object"})
SCHEMA = {"type": "object", "properties": {"a": FIELD}}


def sent(request: ChatRequest, **hints: Any) -> dict[str, Any]:
    body = chat_request(request, "m", ModelHints(**hints), "lab")
    assert request_problem(body, extended=True) is None
    return body


@pytest.mark.parametrize("choice", ["auto", "required", "none", OneTool("f")])
def test_without_tools_nothing_is_said_of_their_choice(choice: ToolChoice) -> None:
    body = sent(ChatRequest(messages=[HI], tool_choice=choice))
    assert not {"tools", "tool_choice"} & set(body)


@pytest.mark.parametrize(
    ("level", "choice", "names", "said"),
    [
        ("name", "auto", ["f", "server.tool"], None),
        ("name", "none", ["f", "server.tool"], "none"),
        ("name", "required", ["f", "server.tool"], "required"),
        (
            "name",
            OneTool("server.tool"),
            ["f", "server.tool"],
            {"type": "function", "function": {"name": alias("server.tool")}},
        ),
        ("required", "required", ["f", "server.tool"], "required"),
        ("required", OneTool("server.tool"), ["server.tool"], "required"),
        ("auto", "required", ["f", "server.tool"], None),
        ("auto", OneTool("server.tool"), ["server.tool"], None),
        ("auto", "none", [], None),
    ],
)
def test_a_choice_is_demanded_as_far_as_the_server_lets(
    level: str, choice: ToolChoice, names: list[str], said: object
) -> None:
    body = sent(
        ChatRequest(messages=[HI], tools=[TOOL, DOTTED], tool_choice=choice), tool_choice=level
    )
    assert [tool["function"]["name"] for tool in body.get("tools", [])] == [*map(alias, names)]
    assert body.get("tool_choice") == said


def test_a_demanded_tool_that_is_not_offered_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(UsageError, match=r"'g' is not offered \(offered: f\)"):
        sent(ChatRequest(messages=[HI], tools=[TOOL], tool_choice=OneTool("g")))


@pytest.mark.parametrize(
    ("effort", "hints", "said"),
    [
        ("high", {"effort": True}, "high"),
        ("minimal", {"effort": True}, "low"),
        ("minimal", {"effort": True, "minimal": True}, "minimal"),
        ("high", {}, None),
        (None, {"effort": True}, None),
    ],
)
def test_effort_is_told_to_who_takes_it(
    effort: Effort | None, hints: dict[str, bool], said: str | None
) -> None:
    body = sent(ChatRequest(messages=[HI], effort=effort), **hints)
    assert body.get("reasoning_effort") == said


@pytest.mark.parametrize("limit", [None, 0, 1])
@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_no_limit_is_no_field(limit: int | None, name: str) -> None:
    long = name == "max_completion_tokens"
    body = sent(ChatRequest(messages=[HI], max_tokens=limit), completion_tokens=long)
    assert {n: v for n, v in body.items() if n.startswith("max_")} == ({name: 1} if limit else {})


@pytest.mark.parametrize(
    ("schema", "level", "form", "words"),
    [
        ({}, "schema", {"type": "json_object"}, "one JSON object"),
        (SCHEMA, "object", {"type": "json_object"}, 'JSON Schema: {"type": "object"'),
        (SCHEMA, "words", None, 'JSON Schema: {"type": "object"'),
        ({}, "words", None, "one JSON object"),
    ],
)
def test_json_that_no_schema_binds_is_asked_for_in_words(
    schema: dict[str, Any], level: str, form: object, words: str
) -> None:
    request = ChatRequest(
        messages=[Message(role="system", content="Be brief."), HI], response_schema=schema
    )
    body = sent(request, structured=level)
    assert body.get("response_format") == form
    system, user = body["messages"]
    assert system["content"].startswith("Be brief.\n\nAnswer with")
    assert words in system["content"]
    assert user == {"role": "user", "content": "hi"}


def test_a_server_that_knows_no_strictness_is_not_told_of_it() -> None:
    body = sent(ChatRequest(messages=[HI], response_schema=SCHEMA), strict=False)
    assert body["response_format"]["json_schema"] == {"name": "answer", "schema": SCHEMA}


def test_hints_leave_out_what_a_server_refuses() -> None:
    body = sent(ChatRequest(messages=[HI], stop=("x",)), stop=False, stream_usage=False)
    assert body == {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
    }
