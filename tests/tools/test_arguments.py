from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_lab.core.errors import ToolFailed
from octo_lab.core.messages import ToolCall
from octo_lab.tools.arguments import read_arguments, storable


def call(arguments: str, name: str = "t") -> ToolCall:
    return ToolCall(id="1", name=name, arguments=arguments)


@pytest.mark.parametrize(
    ("text", "value"), [("", {}), (" \n", {}), ("{}", {}), ('{"a": [1]}', {"a": [1]})]
)
def test_an_object_or_nothing_is_read(text: str, value: object) -> None:
    assert read_arguments(call(text), 100) == value


@pytest.mark.parametrize(
    "text", ["null", "5", '"x"', "[]", "{", "{'a': 1}", "NaN", '{"a": Infinity}', "[" * 90_000]
)
def test_everything_else_is_refused(text: str) -> None:
    with pytest.raises(ToolFailed, match="The arguments of 't'"):
        read_arguments(call(text), 100_000)


@given(st.text(), st.text())
def test_a_storable_call_is_an_object_under_a_plain_name(arguments: str, name: str) -> None:
    stored = storable(call(arguments, name))

    assert isinstance(json.loads(stored.arguments), dict)
    assert 1 <= len(stored.name) <= 64
    assert stored.name.replace("_", "a").replace("-", "a").isalnum()
    assert stored.name.isascii()
    assert storable(stored) == stored


def test_a_valid_call_is_stored_byte_for_byte() -> None:
    made = call('{ "a" :1}')

    assert storable(made) is made
