from __future__ import annotations

from typing import Any

import pytest

from octo_lab.llm.wires.chat.validate import request_problem
from octo_lab.llm.wires.checks import Problem

USER = {"role": "user", "content": "hi"}
CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CALLS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "a", "content": "1"}
ANSWER = {"role": "assistant", "content": "so"}
THOUGHT = {"reasoning_content": "why"}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}


def body(*messages: Any, **fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages or [USER]), **fields}


@pytest.mark.parametrize(
    "request_body",
    [
        body(),
        body(USER, CALLS, RESULT, USER),
        body(tools=[TOOL], tool_choice="required"),
        body(stream=True, stream_options={"include_usage": True}, stop=["a"], temperature=0),
        body({"role": "user", "content": [{"type": "text", "text": "x"}]}),
        body({"role": "developer", "content": "x"}, USER, reasoning_effort="low"),
        body(tools=[TOOL], tool_choice={"type": "function", "function": {"name": "f"}}),
        body({"role": "system", "content": "JSON"}, response_format={"type": "json_object"}),
    ],
)
def test_a_sound_request_has_no_problem(request_body: dict[str, Any]) -> None:
    assert request_problem(request_body) is None


@pytest.mark.parametrize(
    ("request_body", "param"),
    [
        ([], "body"),
        (body(nonsense=1), "nonsense"),
        (body() | {"model": ""}, "model"),
        (body(max_tokens=0), "max_tokens"),
        (body(max_tokens=1, max_completion_tokens=1), "max_tokens"),
        (body(temperature=3), "temperature"),
        (body(stop=[]), "stop"),
        (body(stop=["a"] * 5), "stop"),
        (body(stream_options={}), "stream_options"),
        (body(tools=[]), "tools"),
        (body(tool_choice="auto"), "tool_choice"),
        (body(tools=[{"type": "function", "function": {"name": "a b"}}]), "tools[0].function.name"),
        (body() | {"messages": []}, "messages"),
        (body({"role": "owner", "content": "x"}), "messages[0].role"),
        (body({"role": "user", "content": " "}), "messages[0].content"),
        (body({"role": "user", "content": "x", "extra": 1}), "messages[0].extra"),
        (body({"role": "user", "content": [{"text": "x"}]}), "messages[0].content[0].type"),
        (body({"role": "assistant", "content": ""}), "messages[0].content"),
        (body(CALLS | {"content": " "}, RESULT), "messages[0].content"),
        (body(CALLS | {"tool_calls": []}), "messages[0].tool_calls"),
        (body(CALLS | {"tool_calls": [CALL, CALL]}, RESULT), "messages[0].tool_calls"),
        (body(USER, RESULT), "messages[1].role"),
        (body(USER, CALLS), "messages"),
        (body(USER, CALLS, USER), "messages[2]"),
        (body(USER, CALLS, RESULT, RESULT), "messages[3].role"),
        (body(response_format={"type": "xml"}), "response_format.type"),
        (body(response_format={"type": "json_object"}), "messages"),
        (body(reasoning_effort="most"), "reasoning_effort"),
        (body(tools=[TOOL, TOOL]), "tools"),
        (body(tools=[TOOL], tool_choice="f"), "tool_choice"),
        (body(tools=[TOOL], tool_choice={"type": "any"}), "tool_choice.type"),
        (
            body(tools=[TOOL], tool_choice={"type": "function", "function": {"name": "g"}}),
            "tool_choice",
        ),
        (body(USER, ANSWER | THOUGHT, USER), "messages[1].reasoning_content"),
    ],
)
def test_the_first_problem_names_its_place(request_body: object, param: str) -> None:
    problem = request_problem(request_body)
    assert isinstance(problem, Problem)
    assert problem.param == param
    assert problem.message


@pytest.mark.parametrize(
    "extra",
    [THOUGHT, {"reasoning": "why"}, {"reasoning_details": [{"type": "reasoning.text"}]}],
)
def test_other_vendors_of_the_dialect_take_thinking_back(extra: dict[str, Any]) -> None:
    assert request_problem(body(USER, ANSWER | extra, USER)) is not None
    assert request_problem(body(USER, ANSWER | extra, USER), extended=True) is None


@pytest.mark.parametrize("extra", [{"reasoning_content": None}, {"reasoning_details": ["x"]}])
def test_thinking_of_another_shape_is_refused_by_all(extra: dict[str, Any]) -> None:
    assert request_problem(body(USER, ANSWER | extra, USER), extended=True) is not None
