from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_lab.llm.wires.checks import Refused
from octo_lab.llm.wires.gemini.schema import MOST_NODES, downgraded, tool_parameters
from octo_lab.llm.wires.gemini.validate_schema import check_schema

Json = dict[str, Any]
TYPES = ("string", "number", "integer", "boolean", "array", "object", "null", "STRING", "any")
NAMES = st.sampled_from(["a", "b", "type", "title", "$ref", "x-own", "properties"])
REFS = st.sampled_from(
    ["#", "#/$defs/A", "#/$defs/B", "#/definitions/C", "#/$defs/none", "http://x/y", "#/$defs/a~1b"]
)
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.floats(), st.sampled_from(["", "x", "\ud800"])
)


def _node(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    fields = {
        "type": st.sampled_from(TYPES) | st.lists(st.sampled_from(TYPES), max_size=3),
        "properties": st.dictionaries(NAMES, inner, max_size=3),
        "required": st.lists(NAMES, max_size=3),
        "propertyOrdering": st.lists(NAMES, max_size=3),
        "additionalProperties": st.booleans() | inner,
        "items": inner | st.lists(inner, max_size=2) | st.booleans(),
        "prefixItems": st.lists(inner, max_size=2),
        "anyOf": st.lists(inner, max_size=3),
        "oneOf": st.lists(inner, max_size=3),
        "allOf": st.lists(inner, max_size=3),
        "not": inner,
        "enum": st.lists(VALUES, max_size=3),
        "const": VALUES,
        "$ref": REFS,
        "$schema": st.just("https://json-schema.org/draft/2020-12/schema"),
        "$id": st.just("me"),
        "x-own": st.just(1),
        "format": st.sampled_from(["date-time", "uri", "int32", "float", "enum", "email"]),
        "description": st.sampled_from(["", "what it is", " "]),
        "title": st.just("T"),
        "default": VALUES,
        "nullable": st.booleans(),
        "pattern": st.sampled_from(["^a$", "(?=a)", r"(a)\1", ""]),
        "minimum": VALUES,
        "maximum": VALUES,
        "minLength": VALUES,
        "maxItems": VALUES,
        "minProperties": VALUES,
        "exclusiveMinimum": VALUES,
    }
    return st.fixed_dictionaries({}, optional=fields)


NODES: st.SearchStrategy[Any] = st.recursive(
    st.booleans() | st.just({}) | _node(st.just({})), _node, max_leaves=8
)
SCHEMAS = st.builds(
    lambda root, defs, old: {
        **(root if isinstance(root, dict) else {}),
        "$defs": defs,
        "definitions": old,
    },
    NODES,
    st.fixed_dictionaries({"A": NODES, "B": NODES, "a/b": NODES}),
    st.fixed_dictionaries({"C": NODES}),
)


@given(SCHEMAS)
def test_whatever_the_schema_the_vendor_takes_what_becomes_of_it(schema: Json) -> None:
    before = copy.deepcopy(schema)
    written = downgraded(schema)
    check_schema(written, "parameters")
    assert repr(schema) == repr(before)
    assert downgraded(written) == written


def fields(**properties: Any) -> Json:
    return {"type": "object", "properties": properties}


def written(schema: Json) -> Json:
    """What becomes of one property."""
    out: Json = downgraded(fields(p=schema))["properties"]["p"]
    return out


def test_a_reference_is_replaced_by_what_it_means() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {
            "Place": {
                "type": "object",
                "title": "Place",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
                "additionalProperties": False,
            }
        },
        **fields(to={"$ref": "#/$defs/Place", "description": "where to"}),
        "additionalProperties": False,
    }
    assert downgraded(schema) == {
        "type": "OBJECT",
        "properties": {
            "to": {
                "type": "OBJECT",
                "properties": {"city": {"type": "STRING"}},
                "required": ["city"],
                "description": "where to",
            }
        },
    }


def test_a_schema_that_refers_to_itself_ends_in_a_bare_object() -> None:
    schema = {
        "$defs": {"Node": fields(next={"$ref": "#/$defs/Node"}, value={"type": "number"})},
        "$ref": "#/$defs/Node",
    }
    assert downgraded(schema) == {
        "type": "OBJECT",
        "properties": {"next": {"type": "OBJECT"}, "value": {"type": "NUMBER"}},
    }


def test_references_that_multiply_stay_bounded() -> None:
    defs = {
        f"D{n}": fields(**{f"p{m}": {"$ref": f"#/$defs/D{n + 1}"} for m in range(4)})
        for n in range(20)
    }
    out = downgraded({"$defs": {**defs, "D20": {"type": "string"}}, "$ref": "#/$defs/D0"})
    check_schema(out, "parameters")
    assert json.dumps(out).count('"type"') <= 5 * MOST_NODES


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"const": "on"}, {"type": "STRING", "enum": ["on"]}),
        ({"const": 3}, {"type": "INTEGER", "description": "(one of: 3)"}),
        ({"enum": ["a", "b"]}, {"type": "STRING", "enum": ["a", "b"]}),
        ({"enum": ["a", None]}, {"type": "STRING", "enum": ["a"], "nullable": True}),
        (
            {"type": "integer", "enum": [1, 2], "description": "level"},
            {"type": "INTEGER", "description": "level (one of: 1, 2)"},
        ),
        ({"type": ["string", "null"]}, {"type": "STRING", "nullable": True}),
        (
            {"type": ["string", "integer"], "minimum": 2},
            {"anyOf": [{"type": "STRING"}, {"type": "INTEGER", "minimum": 2}]},
        ),
        (
            {"anyOf": [{"type": "string"}, {"type": "null"}], "title": "N", "default": None},
            {"type": "STRING", "nullable": True},
        ),
        (
            {"type": "string", "anyOf": [{"format": "date-time"}, {"enum": ["now"]}]},
            {
                "anyOf": [
                    {"type": "STRING", "format": "date-time"},
                    {"type": "STRING", "enum": ["now"]},
                ]
            },
        ),
        ({"type": "array"}, {"type": "ARRAY", "items": {"type": "STRING"}}),
        (
            {"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}]},
            {"type": "ARRAY", "items": {"anyOf": [{"type": "NUMBER"}, {"type": "STRING"}]}},
        ),
        ({"type": "string", "format": "uri"}, {"type": "STRING"}),
        ({"type": "string", "format": "date-time"}, {"type": "STRING", "format": "date-time"}),
        ({"type": "object", "additionalProperties": {"type": "string"}}, {"type": "OBJECT"}),
        ({"type": "string", "pattern": "^(?=x)"}, {"type": "STRING"}),
        ({"type": "string", "x-order": 1, "$id": "y"}, {"type": "STRING"}),
        ({}, {"type": "STRING"}),
        (
            {"allOf": [fields(a={"type": "string"}), fields(b={"type": "number"})]},
            {
                "type": "OBJECT",
                "properties": {"a": {"type": "STRING"}, "b": {"type": "NUMBER"}},
            },
        ),
        (
            {**fields(a={"type": "string"}), "anyOf": [{"required": ["a"]}, {"required": []}]},
            {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}},
        ),
    ],
)
def test_each_keyword_the_vendor_refuses_is_said_in_another_way(
    schema: Json, expected: Json
) -> None:
    assert written(schema) == expected


def test_only_fields_that_exist_are_required() -> None:
    schema = {**fields(a={"type": "string"}), "required": ["a", "a", "gone"]}
    assert downgraded(schema)["required"] == ["a"]


def test_a_tool_that_takes_nothing_has_no_parameters() -> None:
    assert tool_parameters({"type": "object", "properties": {}}) is None
    assert tool_parameters(fields(a={"type": "string"})) == {
        "type": "OBJECT",
        "properties": {"a": {"type": "STRING"}},
    }


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "OBJECT", "additionalProperties": False},
        {"$ref": "#/$defs/A"},
        {"type": "STRING", "const": "x"},
        {"type": "STRING", "anyOf": [{"type": "STRING"}]},
        {"anyOf": []},
        {"type": "INTEGER", "enum": ["1"]},
        {"type": "STRING", "enum": [""]},
        {"type": "STRING", "enum": [1]},
        {"type": "ARRAY"},
        {"type": "OBJECT", "properties": {}},
        {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}, "required": ["b"]},
        {"type": "STRING", "format": "uri"},
        {"type": "string"},
        {"type": "STRING", "minLength": -1},
        {"type": "STRING", "minimum": 1},
        {"type": "OBJECT", "properties": {"a": {"$schema": "x", "type": "STRING"}}},
        {"description": "no type"},
        "text",
    ],
)
def test_what_the_vendor_refuses_is_refused(schema: object) -> None:
    with pytest.raises(Refused):
        check_schema(schema, "parameters")
