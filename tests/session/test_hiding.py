from __future__ import annotations

import itertools
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from octo_lab.core.events import (
    ApprovalAsked,
    IterationStarted,
    Noticed,
    ToolFinished,
    ToolProgressed,
    ToolQueued,
    TurnEvent,
)
from octo_lab.core.messages import ToolCall, Usage
from octo_lab.core.stream import ReasoningDelta, TextDelta, UsageReported
from octo_lab.core.turns import ErrorBlock, NoticeBlock, ReasoningBlock, TextBlock, ToolBlock
from octo_lab.security.redact import Redactor
from octo_lab.session.hiding import HIDDEN, Hiding
from octo_lab.session.turn import TurnController, TurnFacts

SECRET = "hunter2hunter2"
MASK = Redactor([SECRET])


def told(*events: TurnEvent, mask: Redactor = MASK) -> list[TurnEvent]:
    hiding = Hiding(mask)
    return [*itertools.chain(*map(hiding.feed, events)), *hiding.end()]


def controller(prompt: str = "") -> TurnController:
    facts = TurnFacts(
        turn_id="t",
        message_id="m",
        session="s",
        prompt=prompt,
        model="p/m",
        started_at=datetime.now(UTC),
    )
    return TurnController(facts, hiding=Hiding(MASK))


def test_harmless_text_goes_through_at_once_as_the_same_events() -> None:
    events: list[TurnEvent] = [TextDelta("well: a = b, "), ReasoningDelta("sk-"), TextDelta("x-y ")]
    hiding = Hiding(MASK)

    assert [hiding.feed(event) for event in events] == [(event,) for event in events]


def test_the_beginning_of_a_secret_waits_for_what_follows() -> None:
    hiding = Hiding(MASK)

    assert hiding.feed(TextDelta("it is hunter2")) == (TextDelta("it is "),)
    assert hiding.feed(TextDelta("hunter")) == ()
    assert hiding.feed(TextDelta("3")) == (TextDelta("hunter2hunter3"),)
    assert not hiding.hid


def test_what_waited_comes_before_any_other_event() -> None:
    done = IterationStarted(2)

    assert told(TextDelta("hunter2"), done) == [TextDelta("hunter2"), done]
    assert told(TextDelta("hunter2"), ReasoningDelta("hm")) == [
        TextDelta("hunter2"),
        ReasoningDelta("hm"),
    ]


def test_a_report_of_usage_breaks_no_secret_in_two() -> None:
    used = UsageReported(Usage())

    assert told(TextDelta("hunter2"), used, TextDelta("hunter2")) == [used, TextDelta("***")]


@given(st.integers(0, 40), st.integers(0, 40))
def test_wherever_an_answer_is_cut_the_same_is_shown(one: int, two: int) -> None:
    text = f"it is {SECRET}, or sk-ant-a1b2c3d4e5f6g7h8."
    first, second = sorted((one, two))
    pieces = [text[:first], text[first:second], text[second:]]

    shown = told(*map(TextDelta, pieces))

    assert "".join(e.text for e in shown if isinstance(e, TextDelta)) == MASK(text)


def test_calls_their_progress_results_and_questions_are_masked() -> None:
    call = ToolCall(id="c", name="f", arguments=f'{{"password": 1234567890, "k": "{SECRET}"}}')
    events = told(
        ToolQueued(call),
        ApprovalAsked(approval_id="a", call_id="c", tool="f", detail=SECRET, risk="write"),
        ToolProgressed("c", "at hunter2"),
        ToolProgressed("c", "hunter2 now hunter2"),
        ToolFinished(call_id="c", state="ok", output=SECRET, seconds=1.0, diff=f"+{SECRET}"),
        Noticed(f"{SECRET}!"),
    )

    masked = ToolCall(id="c", name="f", arguments='{"password": "***", "k": "***"}')
    assert events == [
        ToolQueued(masked),
        ApprovalAsked(approval_id="a", call_id="c", tool="f", detail="***", risk="write"),
        ToolProgressed("c", "at "),
        ToolProgressed("c", "*** now "),
        ToolProgressed("c", "hunter2"),
        ToolFinished(call_id="c", state="ok", output="***", seconds=1.0, diff="+***"),
        Noticed("***!"),
    ]


def test_a_question_hides_no_part_of_what_a_command_does() -> None:
    command = f"echo password=aaaaaaaa|/tmp/evil; key={SECRET} sk-ant-a1b2c3d4e5f6g7h8"
    asked = ApprovalAsked(approval_id="a", call_id="c", tool="f", detail=command, risk="execute")

    (shown,) = told(asked)

    assert isinstance(shown, ApprovalAsked)
    assert shown.detail == "echo password=aaaaaaaa|/tmp/evil; key=*** sk-a***"


def test_a_turn_says_once_at_its_end_that_something_was_hidden() -> None:
    turn = controller(prompt=f"is it {SECRET}?")
    for event in (ReasoningDelta(SECRET), TextDelta(f"yes, {SECRET}"), Noticed(SECRET)):
        turn.emit(event)
    turn.end("failed", error=f"no {SECRET}", hint=f"not {SECRET}")

    shown = turn.snapshot()

    assert shown.prompt == "is it ***?"
    assert shown.blocks == (
        ReasoningBlock("***"),
        TextBlock("yes, ***"),
        NoticeBlock("***"),
        NoticeBlock(HIDDEN),
        ErrorBlock("no ***", "not ***"),
    )


def test_a_turn_that_hid_nothing_says_nothing_of_it_and_ends_whole() -> None:
    turn = controller()
    turn.emit(TextDelta("hunter2"))
    turn.end("completed")

    assert turn.snapshot().blocks == (TextBlock("hunter2"),)


def test_each_piece_of_a_turn_is_masked_as_the_arguments_of_its_tool_block() -> None:
    turn = controller()
    turn.emit(ToolQueued(ToolCall(id="c", name="f", arguments=f'{{"a": "{SECRET}"}}')))
    turn.end("cancelled")

    block = turn.snapshot().blocks[0]
    assert isinstance(block, ToolBlock)
    assert block.arguments == '{"a": "***"}'
