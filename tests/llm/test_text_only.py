from __future__ import annotations

from octo_lab.core.messages import Media, Message, ProviderState, ToolCall
from octo_lab.llm.repair import NO_RESULT
from octo_lab.llm.text_only import text_only

STATE = ProviderState(provider="p", model="m", blob="{}")
CALLS = (
    ToolCall(id="a", name="grep", arguments='{"x": 1}'),
    ToolCall(id="b", name="ls", arguments="{"),
    ToolCall(id="c", name="cat", arguments="{}"),
)
HISTORY = [
    Message(role="system", content="Be brief."),
    Message(role="user", content="see", media=(Media(mime="image/png", data=b"x", name="p.png"),)),
    Message(
        role="assistant", content="I look.", reasoning="hm", tool_calls=CALLS, provider_state=STATE
    ),
    Message(role="tool", tool_call_id="a", content="found"),
    Message(role="tool", tool_call_id="b", content=""),
    Message(role="assistant", content="There."),
]


def test_calls_become_notes_and_nothing_else_is_lost() -> None:
    assert text_only(HISTORY) == [
        Message(role="system", content="Be brief."),
        Message(role="user", content="see\n[image/png: p.png]"),
        Message(role="assistant", content="I look."),
        Message(
            role="user",
            content='[The tool grep was called with {"x": 1} and returned: found]\n'
            "[The tool ls was called with { and returned: nothing]\n"
            f"[The tool cat was called with {{}} and returned: {NO_RESULT}]",
        ),
        Message(role="assistant", content="There."),
    ]


def test_telling_it_twice_changes_nothing() -> None:
    once = text_only(HISTORY)
    assert text_only(once) == once


def test_an_id_that_several_calls_have_gets_each_its_own_result() -> None:
    def used(word: str) -> list[Message]:
        made = ToolCall(id="call_1", name="say", arguments=word)
        answer = Message(role="tool", tool_call_id="call_1", content=word * 2)
        return [Message(role="assistant", tool_calls=(made,)), answer]

    history = [Message(role="user", content="hi"), *used("a"), *used("b")]
    assert text_only(history)[1:] == [
        Message(role="user", content="[The tool say was called with a and returned: aa]"),
        Message(role="user", content="[The tool say was called with b and returned: bb]"),
    ]
