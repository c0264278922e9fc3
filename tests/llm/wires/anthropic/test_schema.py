from __future__ import annotations

from typing import Any

import pytest

from octo_lab.llm.wires.anthropic.schema import closed_schema

Json = dict[str, Any]
TEXT = {"type": "string"}


def closed(**properties: Any) -> Json:
    return {"type": "object", "properties": properties, "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        ({"type": "object", "properties": {"a": TEXT}}, closed(a=TEXT)),
        ({"properties": {"a": TEXT}, "additionalProperties": False}, closed(a=TEXT)),
        (
            {"type": "object", "properties": {"a": TEXT}, "required": ["a"], "$schema": "x"},
            {**closed(a=TEXT), "required": ["a"]},
        ),
        (closed(a={"type": "array", "items": {"properties": {}}}),) * 1
        + (closed(a={"type": "array", "items": closed()}),),
        (closed(a={"oneOf": [TEXT, {"const": 1}]}), closed(a={"anyOf": [TEXT, {"const": 1}]})),
        (
            closed(a={"type": "integer", "minimum": 1, "maximum": 9, "description": "how many"}),
            closed(a={"type": "integer", "description": "how many (minimum: 1, maximum: 9)"}),
        ),
        (
            closed(a={**TEXT, "format": "email"}, b={**TEXT, "format": "color"}),
            closed(
                a={**TEXT, "format": "email"}, b={**TEXT, "description": "(format: color)"}
            ),
        ),
        (
            {
                **closed(a={"$ref": "#/$defs/A"}, b={"$ref": "#/$defs/A"}),
                "$defs": {"A": {"type": "object", "properties": {"x": TEXT}}},
            },
            closed(a=closed(x=TEXT), b=closed(x=TEXT)),
        ),
        ({"$ref": "#/$defs/A", "$defs": {"A": closed(x=TEXT)}}, closed(x=TEXT)),
    ],
)  # fmt: skip
def test_an_equal_schema_within_the_limits(schema: Json, sent: Json) -> None:
    assert closed_schema(schema) == sent


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"type": "array", "items": TEXT},
        {"type": "object", "properties": {}, "additionalProperties": True},
        {"type": "object", "properties": {"a": {"type": "object"}}},
        closed(a={"patternProperties": {}}),
        closed(a=True),
        closed(a={"anyOf": TEXT}),
        closed(a={"$ref": "#/$defs/gone"}),
        closed(a={"$ref": "http://x/y"}),
        {**closed(a={"$ref": "#/$defs/A"}), "$defs": {"A": {"$ref": "#/$defs/A"}}},
        {
            **closed(a={"$ref": "#/$defs/A0"}),
            "$defs": {f"A{n}": {"anyOf": [{"$ref": f"#/$defs/A{n + 1}"}] * 2} for n in range(30)},
        },
    ],
)
def test_there_is_none_for_what_the_vendor_cannot_enforce(schema: Json) -> None:
    assert closed_schema(schema) is None
