from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octo_lab.core.messages import ChatRequest, Media, Message, Role, ToolCall, ToolSpec
from octo_lab.llm.hints import ModelHints
from octo_lab.llm.repair import EMPTY, NO_RESULT, OMITTED, repair
from octo_lab.llm.wires.chat.request import chat_request
from octo_lab.llm.wires.chat.validate import request_problem


def user(content: str) -> Message:
    return Message(role="user", content=content)


def says(content: str, *calls: ToolCall) -> Message:
    return Message(role="assistant", content=content, tool_calls=calls)


def call(id: str, arguments: str = "{}", name: str = "f") -> ToolCall:
    return ToolCall(id=id, name=name, arguments=arguments)


def result(id: str, content: str = "ok") -> Message:
    return Message(role="tool", content=content, tool_call_id=id, tool_name="f")


def lost(id: str) -> Message:
    return Message(
        role="tool", content=NO_RESULT, tool_call_id=id, tool_name="f", outcome="cancelled"
    )


HI = user("hi")
SHORT = "x" * 31 + "-" + hashlib.sha256(b"x" * 50).hexdigest()[:8]


@pytest.mark.parametrize(
    ("history", "repaired"),
    [
        pytest.param([], [user(EMPTY)], id="nothing"),
        pytest.param([HI, says("yo"), HI], [HI, says("yo"), HI], id="sound"),
        pytest.param(
            [HI, says("", call("a"), call("b")), result("b"), result("a")],
            [HI, says("", call("a"), call("b")), result("a"), result("b")],
            id="results come in the order of the calls",
        ),
        pytest.param(
            [HI, says("", call("a"), call("b")), result("a"), HI],
            [HI, says("", call("a"), call("b")), result("a"), lost("b"), HI],
            id="a whole call without result gets one",
        ),
        pytest.param(
            [HI, says("", call("a", '{"x')), HI],
            [user("hi\n\nhi")],
            id="a call never finished goes",
        ),
        pytest.param(
            [HI, says("", call("a", '{"x')), result("a", "no JSON"), HI],
            [HI, says("", call("a", '{"x')), result("a", "no JSON"), HI],
            id="a bad call that was answered stays: the model reads why",
        ),
        pytest.param(
            [result("a"), says("yo"), HI], [user(OMITTED), says("yo"), HI], id="orphan, user first"
        ),
        pytest.param(
            [HI, says("", call("a")), HI, result("a")],
            [HI, says("", call("a")), result("a"), HI],
            id="a late result moves behind its call",
        ),
        pytest.param(
            [HI, says("", call("x")), result("x"), result("x"), result("y")],
            [HI, says("", call("x")), result("x")],
            id="one result for one call",
        ),
        pytest.param(
            [HI, says("", call("a", name=" ")), result("a"), says("yo")],
            [HI, says("yo")],
            id="a call without a name is none",
        ),
        pytest.param(
            [HI, says("", call(""), call("")), result(""), result("")],
            [HI, says("", call("call-1"), call("call-2")), result("call-1"), result("call-2")],
            id="blank ids are filled",
        ),
        pytest.param(
            [HI, says("", call("x"), call("x")), result("x", "1"), result("x", "2")],
            [HI, says("", call("x"), call("x-2")), result("x", "1"), result("x-2", "2")],
            id="equal ids are told apart",
        ),
        pytest.param(
            [HI, says("", call("x")), says("", call("x")), result("x")],
            [HI, says("", call("x")), lost("x"), says("", call("x-2")), result("x-2")],
            id="an id used again means the newer call, and gets a name of its own",
        ),
        pytest.param(
            [HI, says("", call("x" * 50)), result("x" * 50)],
            [HI, says("", call(SHORT)), result(SHORT)],
            id="a long id is shortened",
        ),
        pytest.param(
            [HI, says("", call("a\ud800"), call("a\ud801")), result("a\ud801"), result("a\ud800")],
            [
                HI,
                says("", call("a\ufffd"), call("a\ufffd-2")),
                result("a\ufffd"),
                result("a\ufffd-2"),
            ],
            id="ids that are equal when sent are told apart",
        ),
        pytest.param([user(" \n"), says(" "), says("")], [user(EMPTY)], id="blank"),
        pytest.param(
            [Message(role="system", content="A"), HI, Message(role="system", content="B")],
            [Message(role="system", content="A\n\nB"), HI],
            id="one system message, first",
        ),
        pytest.param(
            [HI, HI, says("a"), says("b")], [user("hi\n\nhi"), says("a\n\nb")], id="merge"
        ),
    ],
)
def test_a_damaged_history_is_repaired(history: list[Message], repaired: list[Message]) -> None:
    assert [strip(m) for m in repair(history)] == [strip(m) for m in repaired]


def strip(message: Message) -> tuple[object, ...]:
    return (message.role, message.content, message.tool_calls, message.tool_call_id)


IDS = st.sampled_from(["a", "b", "c", "", "a-2", "call-1"])
TEXTS = st.sampled_from(["", " ", "\n", "text", "sur\ud800rogate", "<think>"])
CALLS = st.builds(
    ToolCall,
    id=IDS,
    name=st.sampled_from(["f", "", "no good name!", "x" * 80]),
    arguments=st.sampled_from(["{}", '{"x": 1}', "", '{"x', "[1]", "null"]),
)
ROLES: list[Role] = ["system", "user", "assistant", "tool"]
PICTURE = Media(mime="image/png", data=b"png", name="p.png")
FILE = Media(mime="application/pdf", data=b"pdf")
MESSAGES = st.builds(
    Message,
    role=st.sampled_from(ROLES),
    content=TEXTS,
    tool_calls=st.lists(CALLS, max_size=3).map(tuple),
    tool_call_id=IDS,
    media=st.sampled_from([(), (PICTURE,), (FILE, PICTURE)]),
)
HISTORIES = st.lists(MESSAGES, max_size=12)


@settings(max_examples=300)
@given(HISTORIES, st.booleans())
def test_any_history_becomes_a_request_that_the_strict_validator_accepts(
    history: list[Message], vision: bool
) -> None:
    tools = [ToolSpec(name="f", description="", schema={"type": "object"})]
    request = ChatRequest(messages=history, tools=tools)
    assert request_problem(chat_request(request, "m", ModelHints(vision=vision))) is None


@settings(max_examples=150)
@given(HISTORIES)
def test_repairing_twice_changes_nothing(history: list[Message]) -> None:
    once = repair(history)
    assert repair(once) == once


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6), st.data())
def test_a_cut_at_any_place_keeps_all_complete_pairs(sizes: list[int], data: st.DataObject) -> None:
    history: list[Message] = []
    for turn, size in enumerate(sizes):
        calls = [call(f"t{turn}c{n}") for n in range(size)]
        history += [user(f"ask {turn}"), says(f"say {turn}", *calls)]
        history += [result(c.id, f"result {c.id}") for c in calls]
    kept = history[data.draw(st.integers(0, len(history))) :]
    asked = {c.id for m in kept for c in m.tool_calls}
    answered = {m.tool_call_id for m in kept if m.role == "tool"}
    pairs = {m.tool_call_id: m.content for m in repair(kept) if m.role == "tool"}
    assert pairs == {id: f"result {id}" for id in asked & answered}
