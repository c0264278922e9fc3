from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from octo_lab.core.messages import CallOutcome, Message, ToolCall, Usage
from octo_lab.core.turns import (
    ErrorBlock,
    ReasoningBlock,
    TextBlock,
    ToolBlock,
    TurnSnapshot,
)
from octo_lab.session.history import (
    STORED_REVISION,
    Earlier,
    model_messages,
    stored_snapshot,
)
from octo_lab.storage.turns import TurnRecord, TurnRow

START = datetime(2026, 1, 1, tzinfo=UTC)
CALL = ToolCall(id="c1", name="grep", arguments="{}")


def record(number: int, *messages: Message, **row: Any) -> TurnRecord:
    facts: dict[str, Any] = {
        "id": f"t{number}",
        "session_id": "s",
        "parent": None,
        "depth": number,
        "state": "completed",
        "prompt": f"q{number}",
        "slot": "",
        "message_id": f"m{number}",
        "model": "script",
        "provider": "scripted",
        "started_at": START,
        "ended_at": START + timedelta(seconds=2),
        "owner": "o",
        **row,
    }
    return TurnRecord(turn=TurnRow(**facts), messages=messages)


def pair(number: int, size: int = 1) -> TurnRecord:
    return record(
        number,
        Message(role="user", content=f"q{number}"),
        Message(role="assistant", content="x" * size),
    )


def test_what_was_said_comes_in_order_after_the_summary_of_what_was_before() -> None:
    messages = Earlier(turns=[pair(1), pair(2)], summary="They met.").messages

    assert [m.role for m in messages] == ["user", "user", "assistant", "user", "assistant"]
    assert messages[0].content.endswith("\nThey met.")
    assert [m.content for m in messages[1:]] == ["q1", "x", "q2", "x"]


def test_a_dialog_that_begins_has_nothing_before_it() -> None:
    assert Earlier().messages == ()


def test_a_turn_without_an_answer_gets_a_line_for_the_model() -> None:
    asked = Message(role="user", content="q")
    stopped = record(1, asked, state="cancelled")

    assert model_messages(stopped) == (
        asked,
        Message(role="assistant", content="[This turn ended without an answer: cancelled.]"),
    )


def test_a_stored_turn_looks_as_it_looked_live() -> None:
    stored = record(
        1,
        Message(role="user", content="q1"),
        Message(role="assistant", content="Looking.", reasoning="hm", tool_calls=(CALL,)),
        Message(role="tool", content="found", tool_call_id="c1", tool_name="grep", seconds=0.5),
        Message(role="assistant", content="Done."),
        usage=Usage(input_tokens=1),
    )

    assert stored_snapshot(stored, "key") == TurnSnapshot(
        turn_id="t1",
        message_id="m1",
        session="key",
        revision=STORED_REVISION,
        state="completed",
        prompt="q1",
        blocks=(
            ReasoningBlock("hm"),
            TextBlock("Looking."),
            ToolBlock(
                call_id="c1",
                name="grep",
                arguments="{}",
                state="ok",
                output="found",
                seconds=0.5,
            ),
            TextBlock("Done."),
        ),
        usage=Usage(input_tokens=1),
        model="scripted/script",
        started_at=START,
        seconds=2.0,
    )


def test_a_failed_turn_keeps_its_error() -> None:
    failed = record(
        1,
        Message(role="user", content="q1"),
        Message(role="assistant", content="so far"),
        state="failed",
        error="cut off",
        hint="ask again",
    )

    assert stored_snapshot(failed, "key").blocks == (
        TextBlock("so far"),
        ErrorBlock("cut off", "ask again"),
    )


def test_a_turn_that_runs_elsewhere_shows_what_is_known_of_it() -> None:
    running = record(
        1, Message(role="user", content="q1"), state="running", partial="so", ended_at=None
    )
    snapshot = stored_snapshot(running, "key")

    assert (snapshot.state, snapshot.blocks, snapshot.seconds) == (
        "running",
        (TextBlock("so"),),
        None,
    )


@pytest.mark.parametrize("outcome", ["ok", "error", "denied", "cancelled"])
def test_a_stored_call_is_shown_as_it_ended(outcome: CallOutcome) -> None:
    stored = record(
        1,
        Message(role="user", content="q1"),
        Message(role="assistant", tool_calls=(CALL,)),
        Message(role="tool", content="out", tool_call_id="c1", outcome=outcome),
    )
    [block] = stored_snapshot(stored, "key").blocks

    assert isinstance(block, ToolBlock)
    assert (block.state, block.output) == (outcome, "out")
