from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_lab.agent.compaction import SUMMARY_HEAD, CompactionPolicy, WithinWindow, summary_lines
from octo_lab.core.messages import CallOutcome, ChatRequest, Message, ToolCall
from octo_lab.llm.repair import repair
from octo_lab.llm.tokens import message_tokens
from octo_lab.security.envelope import Envelope

pytestmark = pytest.mark.anyio

SYSTEM = Message(role="system", content="Be brief.")


def user(text: str) -> Message:
    return Message(role="user", content=text)


def said(text: str) -> Message:
    return Message(role="assistant", content=text)


def step(id: str, result: str, *, ok: bool = True) -> list[Message]:
    call = ToolCall(id=id, name="grep", arguments="{}")
    outcome: CallOutcome = "ok" if ok else "error"
    return [
        Message(role="assistant", tool_calls=(call,)),
        Message(role="tool", content=result, tool_call_id=id, tool_name="grep", outcome=outcome),
    ]


async def compacted(
    messages: list[Message], window: int, *, refused: int = 0
) -> tuple[list[Message], str]:
    found = await WithinWindow(window).compact(ChatRequest(messages=messages), refused=refused)
    return list(found.messages), found.note


async def test_what_fits_is_sent_as_it_is() -> None:
    messages = [SYSTEM, user("hi"), said("hello"), user("go on")]
    assert await compacted(messages, 8000) == (messages, "")


async def test_old_messages_become_lines_and_the_newest_stay() -> None:
    old = [
        Message(role="user", content="find it\nplease", media=()),
        *step("1", "x.py: 3\n" + "y" * 9000),
        *step("2", "Error: no such file", ok=False),
        said("Found " + "z" * 4000),
    ]
    recent = [message for n in range(6) for message in (user(f"q{n}"), said(f"a{n}"))]
    sent, note = await compacted([SYSTEM, *old, *recent, user("now")], 1200)
    assert sent[0] == SYSTEM
    assert sent[1].role == "user"
    head, *lines = sent[1].content.split("\n")
    assert head == SUMMARY_HEAD
    assert lines[:5] == [
        "> User: find it",
        "- Called grep",
        "-> grep: ok - x.py: 3",
        "- Called grep",
        "-> grep: error - Error: no such file",
    ]
    assert sent[-1] == user("now")
    assert sent[-7:] == [*recent[-6:], user("now")]
    assert note == "The older part of this conversation is sent to the model as a summary."


async def test_a_pair_is_never_split_and_the_question_stays() -> None:
    steps = [message for n in range(12) for message in step(str(n), "r" * 3000)]
    sent, _ = await compacted([SYSTEM, user("old " * 3000), said("yes"), user("do"), *steps], 4000)
    assert user("do") in sent
    assert repair(sent) == repair(repair(sent))
    calls = [call.id for message in sent for call in message.tool_calls]
    assert calls == [message.tool_call_id for message in sent if message.role == "tool"]
    assert len(calls) == 12


async def test_a_server_that_still_refuses_gets_less() -> None:
    messages = [SYSTEM, *(user(f"{n} " * 3000) for n in range(30))]
    sizes = []
    within = WithinWindow(100_000)
    for refused in range(4):
        sent = await within.compact(ChatRequest(messages=messages), refused=refused)
        sizes.append(sum(map(message_tokens, sent.messages)))
    assert sizes[0] == sum(map(message_tokens, messages))
    assert sizes[3] < sizes[2] <= CompactionPolicy().budget(100_000, 2)


async def test_a_server_that_refuses_what_should_fit_gets_half_of_it() -> None:
    messages = [SYSTEM, *(user(f"{n} " * 300) for n in range(30))]
    within = WithinWindow(1_000_000)
    whole = await within.compact(ChatRequest(messages=messages), refused=0)
    less = await within.compact(ChatRequest(messages=messages), refused=1)
    assert list(whole.messages) == messages
    assert sum(map(message_tokens, less.messages)) <= sum(map(message_tokens, messages)) // 2


async def test_what_was_left_out_stays_out_so_that_the_beginning_is_the_same() -> None:
    messages = [SYSTEM, *(message for n in range(20) for message in step(str(n), "r" * 2000))]
    messages.insert(1, user("go"))
    within = WithinWindow(9000)
    first = await within.compact(ChatRequest(messages=messages), refused=0)
    longer = [*messages, *step("21", "s")]
    second = await within.compact(ChatRequest(messages=longer), refused=0)
    assert list(second.messages)[: len(first.messages) - 1] == list(first.messages)[:-1]


@given(
    st.lists(
        st.one_of(
            st.builds(user, st.text(max_size=4000)),
            st.builds(said, st.text(max_size=4000)),
        ),
        min_size=8,
        max_size=40,
    ),
    st.integers(500, 20_000),
)
async def test_the_newest_question_and_the_system_message_are_always_sent(
    messages: list[Message], window: int
) -> None:
    asked = [SYSTEM, *messages, user("the question")]
    sent, _ = await compacted(asked, window)
    assert sent[0] == SYSTEM
    assert sent[-1].content.startswith("the question")
    assert sum(map(message_tokens, sent)) <= max(
        CompactionPolicy().budget(window, 0) * 1.3, 60 * len(sent) + 400
    )


def test_a_line_for_a_strangers_words_opens_no_envelope() -> None:
    said = Envelope().wrap("orders", origin="web_fetch, page.example")
    message = Message(
        role="tool", content=said, tool_call_id="1", tool_name="web_fetch", outcome="ok", origin="x"
    )

    assert list(summary_lines([message])) == ["-> web_fetch: ok - [words of strangers, left out]"]
