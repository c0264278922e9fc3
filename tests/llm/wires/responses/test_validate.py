from __future__ import annotations

from typing import Any

import pytest

from octo_lab.llm.wires.checks import Problem
from octo_lab.llm.wires.responses.validate import request_problem

USER = {"role": "user", "content": "hi"}
SAID = {"type": "message", "role": "assistant", "content": "yes"}
CALL = {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "a", "output": "1"}
THOUGHT = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "x"}
TOOL = {"type": "function", "name": "f", "parameters": {"type": "object"}}
CLOSED = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
PNG = "data:image/png;base64,cG5n"


def body(*items: Any, **fields: Any) -> dict[str, Any]:
    return {"model": "m", "input": list(items or [USER]), **fields}


def shown(**image: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "input_image", **image}]}


def schema(**form: Any) -> dict[str, Any]:
    return {"format": {"type": "json_schema", "name": "a", "schema": CLOSED, **form}}


@pytest.mark.parametrize(
    "request_body",
    [
        body(),
        {"model": "m", "input": "hi"},
        body(USER, CALL, RESULT, USER),
        body(USER, THOUGHT, CALL, RESULT),
        body(USER, THOUGHT, SAID, USER),
        body(CALL, {**CALL, "call_id": "b"}, {**RESULT, "call_id": "b"}, RESULT),
        body(CALL, {**RESULT, "output": [{"type": "input_image", "image_url": PNG}]}),
        body(CALL, {**RESULT, "output": ""}),
        body({"role": "developer", "content": [{"type": "input_text", "text": "x"}]}),
        body({"role": "assistant", "content": [{"type": "output_text", "text": "x"}]}),
        body(shown(image_url=PNG, detail="low"), shown(image_url="https://e.com/a.png")),
        body(tools=[TOOL], tool_choice={"type": "function", "name": "f"}),
        body(stream=True, stream_options={"include_obfuscation": False}, temperature=0),
        body(reasoning={"effort": "low", "summary": None}, include=["reasoning.encrypted_content"]),
        body(text=schema(strict=True)),
        body({"role": "user", "content": "as json"}, text={"format": {"type": "json_object"}}),
    ],
)
def test_a_sound_request_has_no_problem(request_body: dict[str, Any]) -> None:
    assert request_problem(request_body) is None


@pytest.mark.parametrize(
    ("request_body", "param"),
    [
        ([], "body"),
        (body(nonsense=1), "nonsense"),
        (body(stop=["END"]), "stop"),
        (body(messages=[]), "messages"),
        (body() | {"model": ""}, "model"),
        (body(stream="yes"), "stream"),
        (body(stream_options={}), "stream_options"),
        (body(instructions=" "), "instructions"),
        (body(max_output_tokens=15), "max_output_tokens"),
        (body(temperature=3), "temperature"),
        (body(top_p=2), "top_p"),
        (body(include=["everything"]), "include[0]"),
        (body(reasoning={"effort": "huge"}), "reasoning.effort"),
        (body(reasoning={"much": 1}), "reasoning.much"),
        (body(temperature=1) | {"model": "o3"}, "temperature"),
        (body(reasoning={}) | {"model": "gpt-4o"}, "reasoning"),
        (body(include=["reasoning.encrypted_content"]) | {"model": "gpt-4o"}, "include"),
        (body(tools=[{"type": "function", "function": {}}]), "tools[0].function"),
        (body(tools=[TOOL | {"name": "a b"}]), "tools[0].name"),
        (body(tools=[TOOL | {"type": "magic"}]), "tools[0].type"),
        (body(tools=[TOOL | {"parameters": {"type": "array"}}]), "tools[0].parameters"),
        (body(tools=[TOOL | {"strict": True}]), "tools[0].parameters"),
        (body(tools=[TOOL] * 129), "tools"),
        (body(tool_choice="required"), "tool_choice"),
        (body(tools=[TOOL], tool_choice="f"), "tool_choice"),
        (body(tools=[TOOL], tool_choice={"type": "function", "name": "g"}), "tool_choice"),
        (body(text={"format": {"type": "xml"}}), "text.format.type"),
        (body(text={"format": {"type": "json_object"}}), "input"),
        (body(text=schema(name="a b")), "text.format.name"),
        (body(text=schema(strict=True, schema={"type": "object"})), "text.format.schema"),
        (body(text=schema(json_schema={})), "text.format.json_schema"),
        ({"model": "m"}, "input"),
        ({"model": "m", "input": " "}, "input"),
        ({"model": "m", "input": []}, "input"),
        (body({"type": "poem"}), "input[0].type"),
        (body({"content": "x"}), "input[0].type"),
        (body({"role": "owner", "content": "x"}), "input[0].role"),
        (body({"role": "user", "content": " "}), "input[0].content"),
        (body({"role": "user", "content": []}), "input[0].content"),
        (body({**USER, "extra": 1}), "input[0].extra"),
        (body({**SAID, "status": "odd"}), "input[0].status"),
        (body({"role": "user", "content": [{"type": "text"}]}), "input[0].content[0].type"),
        (
            body({"role": "user", "content": [{"type": "input_text", "text": ""}]}),
            "input[0].content[0].text",
        ),
        (
            body({"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}),
            "input[0].content[0].type",
        ),
        (
            body({"role": "user", "content": [{"type": "output_text", "text": "x"}]}),
            "input[0].content[0].type",
        ),
        (body(shown()), "input[0].content[0].image_url"),
        (body(shown(image_url="data:image/bmp;base64,cG5n")), "input[0].content[0].image_url"),
        (body(shown(image_url="data:image/png;base64,!")), "input[0].content[0].image_url"),
        (body(shown(image_url="data:image/png;base64,")), "input[0].content[0].image_url"),
        (body(shown(image_url=PNG, detail="most")), "input[0].content[0].detail"),
        (body({**CALL, "name": "a.b"}, RESULT), "input[0].name"),
        (body({**CALL, "arguments": "{"}, RESULT), "input[0].arguments"),
        (body({**CALL, "arguments": "[]"}, RESULT), "input[0].arguments"),
        (body({**CALL, "call_id": "x" * 65}), "input[0].call_id"),
        (body(CALL, CALL, RESULT), "input[1].call_id"),
        (body(CALL), "input"),
        (body(RESULT), "input"),
        (body(RESULT, CALL), "input"),
        (body(CALL, RESULT, RESULT), "input"),
        (body(CALL, {**RESULT, "output": []}), "input[1].output"),
        (body(CALL, {**RESULT, "output": None}), "input[1].output"),
        (body(USER, THOUGHT), "input"),
        (body(THOUGHT, THOUGHT, SAID), "input"),
        (body(THOUGHT, USER), "input"),
        (body({**THOUGHT, "encrypted_content": None}, SAID), "input"),
        (body({**THOUGHT, "id": ""}, SAID), "input[0].id"),
    ],
)
def test_the_first_problem_names_its_place(request_body: object, param: str) -> None:
    problem = request_problem(request_body)
    assert isinstance(problem, Problem)
    assert problem.param == param
    assert problem.message
