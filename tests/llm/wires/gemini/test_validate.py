from __future__ import annotations

from typing import Any

import pytest

from octo_lab.llm.wires.gemini.validate import request_problem

Json = dict[str, Any]


def turn(role: str, *parts: Json) -> Json:
    return {"role": role, "parts": list(parts)}


def call(name: str = "f", id: str = "a", **more: Any) -> Json:
    return {"functionCall": {"id": id, "name": name, "args": {}}, **more}


def answer(name: str = "f", id: str = "a") -> Json:
    return {"functionResponse": {"id": id, "name": name, "response": {"output": "1"}}}


HI = turn("user", {"text": "hi"})
F: Json = {"name": "f", "description": "does f"}
TOOLS: Json = {"tools": [{"functionDeclarations": [F]}]}
PNG: Json = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}


def asked(*contents: Json, **more: Any) -> Json:
    return {"contents": list(contents or [HI]), **more}


def calling(**config: Any) -> Json:
    return {"toolConfig": {"functionCallingConfig": config}}


@pytest.mark.parametrize(
    "body",
    [
        asked(),
        asked(HI, turn("model", {"text": "a"}, call()), turn("user", answer())),
        asked(HI, turn("model", call(), call("g", "b")), turn("user", answer("g", "b"), answer())),
        asked(HI, turn("model", call(thoughtSignature="c2ln")), turn("user", answer()), HI),
        asked(turn("user", PNG), turn("model", {"text": "", "thoughtSignature": "c2_-"})),
        asked(**TOOLS, **calling(mode="ANY", allowedFunctionNames=["f"])),
        asked(systemInstruction={"parts": [{"text": "Be brief."}]}),
        asked(
            generationConfig={"thinkingConfig": {"thinkingLevel": "LOW"}, "stopSequences": ["a"]}
        ),
    ],
)
def test_what_the_vendor_takes_is_taken(body: Json) -> None:
    assert request_problem(body) is None


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ([], "expected an object"),
        ({}, "expected an array"),
        ({"contents": []}, "contents are required"),
        (asked(model="m"), 'Unknown name "model"'),
        (asked({**HI, "name": "x"}), "Unknown name \"name\" at 'contents[0]'"),
        (asked(turn("assistant", {"text": "a"})), "valid role"),
        (asked(turn("model", {"text": "a"})), "immediately after a user turn"),
        (
            asked(HI, turn("model", {"text": "a"}), turn("model", {"text": "b"})),
            "after a user turn",
        ),
        (asked(turn("user")), "at least one parts field"),
        (asked(turn("user", {"text": " "})), "must not be empty"),
        (asked(turn("user", {})), "must have one"),
        (asked(turn("user", {"text": "a", **PNG})), "must have one"),
        (asked(turn("user", {"text": "a", "type": "text"})), 'Unknown name "type"'),
        (asked(HI, turn("model", call())), "number of function response parts"),
        (asked(HI, turn("model", call()), HI), "number of function response parts"),
        (asked(HI, turn("user", answer())), "number of function response parts"),
        (asked(HI, turn("model", call()), turn("user", answer("g"))), "number of function"),
        (asked(HI, turn("model", call(), call("f", "b")), turn("user", answer())), "number of"),
        (asked(HI, turn("model", call()), turn("user", answer(), {"text": "a"})), "mixed"),
        (asked(turn("user", call())), "not allowed with the role 'user'"),
        (asked(HI, turn("model", PNG)), "not allowed with the role 'model'"),
        (asked(HI, turn("model", call(thoughtSignature="c2l"))), "TYPE_BYTES"),
        (asked(HI, turn("model", call("no name"))), "Invalid function name"),
        (asked(turn("user", {"inlineData": {"mimeType": "image/gif", "data": "aGk="}})), "MIME"),
        (asked(turn("user", {"inlineData": {"mimeType": "image/png", "data": ""}})), "TYPE_BYTES"),
        (asked(systemInstruction={"parts": [PNG]}), "only text"),
        (asked(tools=[{"functionDeclarations": []}]), "at least one"),
        (asked(tools=[{"functionDeclarations": [F, F]}]), "Duplicate"),
        (asked(tools=[{"functionDeclarations": [{"name": "9", "description": "a"}]}]), "name"),
        (asked(tools=[{"functionDeclarations": [{"name": "f"}]}]), "description is missing"),
        (
            asked(tools=[{"functionDeclarations": [{**F, "parameters": {"type": "OBJECT"}}]}]),
            "should be non-empty for OBJECT type",
        ),
        (asked(**calling(mode="ANY")), "without function_declarations"),
        (asked(**TOOLS, **calling(mode="required")), "Invalid value"),
        (asked(**TOOLS, **calling(mode="ANY", allowedFunctionNames=["g"])), "declared"),
        (asked(**TOOLS, **calling(mode="AUTO", allowedFunctionNames=["f"])), "mode is ANY"),
        (asked(generationConfig={"max_tokens": 1}), 'Unknown name "max_tokens"'),
        (asked(generationConfig={"maxOutputTokens": 0}), "must be positive"),
        (asked(generationConfig={"temperature": 3}), "range"),
        (asked(generationConfig={"stopSequences": list("abcdef")}), "at most 5"),
        (asked(generationConfig={"responseMimeType": "text/html"}), "unsupported"),
        (asked(generationConfig={"responseSchema": {"type": "STRING"}}), "needs JSON"),
        (asked(generationConfig={"thinkingConfig": {"thinkingLevel": "MAX"}}), "Invalid value"),
        (
            asked(
                generationConfig={"thinkingConfig": {"thinkingLevel": "LOW", "thinkingBudget": 1}}
            ),
            "only set only one",
        ),
        (asked(generationConfig={"thinkingConfig": {"thinkingBudget": 10**6}}), "out of range"),
    ],
)
def test_what_the_vendor_refuses_is_refused(body: object, message: str) -> None:
    problem = request_problem(body)
    assert problem is not None
    assert message in problem.message
