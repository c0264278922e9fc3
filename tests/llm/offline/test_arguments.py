from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octo_lab.core.messages import ToolSpec
from octo_lab.llm.offline.arguments import example, fill
from octo_lab.llm.offline.understanding import Understanding

UNDERSTANDING = Understanding()
TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
}
part = st.one_of(
    st.builds(
        lambda kind, form: {"type": kind, **({"format": form} if form else {})},
        st.sampled_from([*TYPES, "object", "null", ["string", "null"]]),
        st.sampled_from(["", "date", "email", "uri", "uuid"]),
    ),
    st.just({"enum": ["red", "light blue"], "type": "string"}),
    st.just({"anyOf": [{"type": "number"}, {"type": "null"}]}),
    st.just({"$ref": "#/$defs/Nothing"}),
    st.just({}),
)
schema = st.builds(
    lambda parts, required: {
        "type": "object",
        "properties": parts,
        "required": [*(name for name in parts if name < "n"), *required],
    },
    st.dictionaries(st.sampled_from(["city", "n", "to", "from_", "day", "a b"]), part),
    st.sampled_from([[], ["unknown"]]),
)


def spec(schema: dict[str, Any]) -> ToolSpec:
    return ToolSpec(name="tool", description="", schema=schema)


def parameters(**kinds: str) -> ToolSpec:
    parts = {name: {"type": kind} for name, kind in kinds.items()}
    return spec({"type": "object", "properties": parts, "required": list(kinds)})


def filled(text: str, tool: ToolSpec) -> dict[str, Any]:
    return dict(fill(UNDERSTANDING.read(text), tool).arguments)


@settings(max_examples=200, deadline=None)
@given(
    text=st.text(max_size=80) | st.sampled_from(["to Bonn = 3 red", "city: 'x' n=1e9"]), s=schema
)
def test_any_schema_and_any_text_give_values_of_the_right_types(
    text: str, s: dict[str, Any]
) -> None:
    tool = spec(s)
    found = fill(UNDERSTANDING.read(text), tool)
    assert set(found.missing) == set(s["required"]) - set(found.arguments)
    for name, value in found.arguments.items():
        kind = s["properties"][name].get("type")
        if isinstance(kind, str):
            assert isinstance(value, TYPES[kind]), (name, value)
    assert example(tool, found.missing).count("=") >= len(found.missing)


def test_a_schema_without_parameters_takes_none() -> None:
    assert filled("do it in Bonn", spec({"type": "object"})) == {}


@pytest.mark.parametrize(
    ("text", "tool", "arguments"),
    [
        ("tell of 1,234.5 things", parameters(n="number"), {"n": 1234.5}),
        ("tell of 3,5 things", parameters(n="number"), {"n": 3.5}),
        ("tell of -4 things", parameters(n="integer"), {"n": -4}),
        ("tell of 2.5 things", parameters(n="integer"), {}),
        (
            "3 nights for 2 people",
            parameters(people="integer", nights="integer"),
            {"nights": 3, "people": 2},
        ),
        (
            "go from Rome to Paris",
            parameters(target="string", source="string"),
            {"target": "Paris", "source": "Rome"},
        ),
        ("verbose=yes", parameters(verbose="boolean"), {"verbose": True}),
        ("describe @sales", parameters(name="string"), {"name": "sales"}),
        ("save in out/new.csv", parameters(path="string"), {"path": "out/new.csv"}),
        ("tell Bonn and Köln", parameters(city="string"), {}),
        ("tell of it", parameters(city="string"), {}),
    ],
)
def test_arguments_are_taken_and_not_guessed(
    text: str, tool: ToolSpec, arguments: dict[str, Any]
) -> None:
    assert filled(text, tool) == arguments


def test_a_date_is_told_by_its_form_and_by_nothing_else() -> None:
    day = {"type": "string", "format": "date"}
    tool = spec({"type": "object", "properties": {"day": day}, "required": ["day"]})
    assert filled("book it on 2026-05-01", tool) == {"day": "2026-05-01"}
    assert filled("book it for Friday", tool) == {}
