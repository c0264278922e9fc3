from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_lab.agent.inline_calls import HoldAll, Recovered, TailGate, recover_calls
from octo_lab.core.messages import ToolCall, ToolSpec

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}, "n": {"type": "integer"}}}
TOOLS = {"read": ToolSpec(name="read", description="", schema=SCHEMA)}


def read(**arguments: object) -> ToolCall:
    return ToolCall(id="", name="read", arguments=json.dumps(arguments))


INVOKE = '<invoke name="read"><parameter name="path">7</parameter></invoke>'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('<tool_call>{"name": "read", "arguments": {"n": 1}}</tool_call>', ("", [read(n=1)])),
        ('Look: <tool_call>{"name": "read"}', ("Look:", [read()])),
        (
            '<tool_call>{"name": "read", "parameters": {"n": 1}}</tool_call>\n'
            '<tool_call>{"name": "read", "arguments": "{\\"n\\": 2}"}</tool_call>\n',
            ("", [read(n=1), read(n=2)]),
        ),
        (INVOKE, ("", [read(path="7")])),
        (
            f"ok\n<function_calls>\n{INVOKE}{INVOKE}\n</function_calls>",
            ("ok", [read(path="7")] * 2),
        ),
        ('<invoke name="read"><parameter name="n">7</parameter></invoke>', ("", [read(n=7)])),
        ('<invoke name="read">\n</invoke>', ("", [read()])),
    ],
)
def test_calls_at_the_end_are_recovered(text: str, expected: tuple[str, list[ToolCall]]) -> None:
    assert recover_calls(text, TOOLS) == Recovered(expected[0], tuple(expected[1]))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nothing here",
        f"{INVOKE} and then I went on",
        f"```\n{INVOKE}\n```",
        '<tool_call>{"name": "unknown"}</tool_call>',
        '<tool_call>{"name": "read"',
        '<tool_call>["read"]</tool_call>',
        '<tool_call>{"name": 1}</tool_call>',
        '<invoke name="read">words</invoke>',
        '<invoke name="rm"></invoke>',
        f'{INVOKE}<tool_call>{{"name": "unknown"}}</tool_call>',
        "<tool_call>" * 50,
    ],
)
def test_anything_else_stays_text(text: str) -> None:
    assert recover_calls(text, TOOLS) is None


def test_without_tools_nothing_is_a_call() -> None:
    assert recover_calls(INVOKE, {}) is None


def test_a_call_is_found_behind_words_about_calls() -> None:
    found = recover_calls(f"I write <tool_call> now. {INVOKE}", TOOLS)

    assert found == Recovered("I write <tool_call> now.", (read(path="7"),))


PIECES = st.lists(
    st.sampled_from(["a", "<", "<tool_", "call>", "<invoke ", "</invoke>", "x", " ", "\n", "<b>"])
)


@given(PIECES)
def test_a_gate_loses_and_changes_nothing(pieces: list[str]) -> None:
    for gate in (TailGate(), HoldAll()):
        assert "".join(map(gate.feed, pieces)) + gate.end() == "".join(pieces)


def test_a_gate_holds_back_what_may_be_a_call_and_lets_go_of_what_is_none() -> None:
    gate = TailGate()

    assert [gate.feed(part) for part in ("a <", "b> <to", "ol_call>{", "}</tool_call> ")] == [
        "a ",
        "<b> ",
        "",
        "",
    ]
    assert gate.feed("and so on") == "<tool_call>{}</tool_call> and so on"
    assert gate.feed("!") == "!"
