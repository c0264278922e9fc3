from __future__ import annotations

from octo_lab.core.messages import ToolSpec
from octo_lab.llm.local.schema import answer_schema, plain

FIND = ToolSpec(
    name="find",
    description="Find.",
    schema={
        "type": "object",
        "properties": {"pattern": {"type": "string", "pattern": "^a", "minLength": 3}},
        "required": ["pattern"],
    },
)


def test_an_answer_or_a_call_of_a_tool() -> None:
    call = {
        "type": "object",
        "properties": {
            "tool": {"const": "find"},
            "arguments": {
                "type": "object",
                "properties": {"pattern": {"type": "string"}},
                "required": ["pattern"],
                "additionalProperties": False,
            },
        },
        "required": ["tool", "arguments"],
        "additionalProperties": False,
    }
    answer = {
        "type": "object",
        "properties": {"answer": {"type": "string"}},
        "required": ["answer"],
        "additionalProperties": False,
    }

    assert answer_schema([FIND], {"type": "string"}) == {"anyOf": [answer, call]}
    assert answer_schema([FIND], None) == {"anyOf": [call]}


def test_references_are_put_in_place_and_endless_ones_end() -> None:
    root = {
        "$defs": {
            "Kind": {"enum": ["a", "b"]},
            "Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}},
        },
        "properties": {"kind": {"$ref": "#/$defs/Kind"}, "lost": {"$ref": "#/$defs/None"}},
    }

    assert plain(root, root) == {
        "type": "object",
        "properties": {"kind": {"enum": ["a", "b"]}, "lost": {}},
        "required": [],
        "additionalProperties": False,
    }
    assert plain({"$ref": "#/$defs/Node"}, root)["type"] == "object"


def test_each_kind_of_value_keeps_its_form() -> None:
    for given, kept in (
        ({"type": ["string", "null"]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ({"oneOf": [{"type": "integer"}]}, {"anyOf": [{"type": "integer"}]}),
        ({"type": "array"}, {"type": "array", "items": {}}),
        ({"type": "string", "format": "date"}, {"type": "string", "format": "date"}),
        ({"type": "string", "format": "email"}, {"type": "string"}),
        ({"const": 3}, {"const": 3}),
        ({"type": "number", "minimum": 0}, {"type": "number"}),
        ({"type": "object"}, {"type": "object"}),
        (
            {"type": "object", "additionalProperties": {"type": "integer"}},
            {"type": "object", "additionalProperties": {"type": "integer"}},
        ),
        ({"type": "file"}, {}),
        (True, {}),
    ):
        assert plain(given, {}) == kept
