from __future__ import annotations

from datetime import UTC, datetime

from octo_lab.core.events import (
    ApprovalAsked,
    ApprovalSettled,
    IterationStarted,
    Noticed,
    ToolFinished,
    ToolProgressed,
    ToolQueued,
    ToolStarted,
)
from octo_lab.core.frames import patch_frame
from octo_lab.core.messages import Media, ToolCall, Usage
from octo_lab.core.stream import ReasoningDelta, TextDelta, UsageReported
from octo_lab.core.turns import (
    ErrorBlock,
    NoticeBlock,
    ReasoningBlock,
    TextBlock,
    ToolBlock,
)
from octo_lab.session.turn import PREVIEW, TurnController, TurnFacts

CALL = ToolCall(id="c1", name="grep", arguments='{"pattern": "x"}')


def controller() -> TurnController:
    facts = TurnFacts(
        turn_id="t",
        message_id="m",
        session="s",
        prompt="find x",
        model="scripted/script",
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    return TurnController(facts)


def test_events_become_blocks_in_the_order_they_happened() -> None:
    turn = controller()
    for event in (
        IterationStarted(1),
        ReasoningDelta("let me "),
        ReasoningDelta("look"),
        TextDelta("Loo"),
        TextDelta("king."),
        ToolQueued(CALL),
        ToolStarted("c1"),
        ToolProgressed("c1", "half "),
        UsageReported(Usage(input_tokens=3, output_tokens=2, requests=1)),
    ):
        turn.emit(event)
    running = turn.snapshot()
    picture = Media(mime="image/png", data=b"p")
    turn.emit(ToolFinished(call_id="c1", state="ok", output="found", seconds=0.5, media=(picture,)))
    turn.emit(IterationStarted(2))
    turn.emit(TextDelta("Done."))
    turn.emit(UsageReported(Usage(input_tokens=4, output_tokens=1, requests=1)))
    turn.emit(Noticed("that was long"))
    turn.end("completed")
    ended = turn.snapshot()

    assert running.blocks == (
        ReasoningBlock("let me look"),
        TextBlock("Looking."),
        ToolBlock(
            call_id="c1", name="grep", arguments=CALL.arguments, state="running", output="half "
        ),
    )
    assert ended.blocks == (
        ReasoningBlock("let me look"),
        TextBlock("Looking."),
        ToolBlock(
            call_id="c1",
            name="grep",
            arguments=CALL.arguments,
            state="ok",
            output="found",
            seconds=0.5,
            media=(picture,),
        ),
        TextBlock("Done."),
        NoticeBlock("that was long"),
    )
    assert (running.state, ended.state) == ("running", "completed")
    assert ended.usage == Usage(input_tokens=7, output_tokens=3, requests=2)
    assert running.revision < ended.revision
    assert running.seconds is None
    assert ended.seconds is not None


def test_text_of_two_replies_stays_apart() -> None:
    turn = controller()
    for event in (IterationStarted(1), TextDelta("a"), IterationStarted(2), TextDelta("b")):
        turn.emit(event)

    assert turn.snapshot().blocks == (TextBlock("a"), TextBlock("b"))


def test_blocks_that_did_not_change_are_the_same_objects() -> None:
    turn = controller()
    turn.emit(TextDelta("a"))
    turn.emit(ToolQueued(CALL))
    turn.emit(TextDelta("b"))
    before = turn.snapshot()
    same = turn.snapshot()
    turn.emit(TextDelta("c"))
    after = turn.snapshot()

    assert all(a is b for a, b in zip(before.blocks, same.blocks, strict=True))
    assert after.blocks[0] is before.blocks[0]
    assert after.blocks[1] is before.blocks[1]
    assert patch_frame(before, after)["ops"] == [["append", 2, "c"]]


def test_a_question_is_a_state_of_its_tool() -> None:
    turn = controller()
    turn.emit(ToolQueued(CALL))
    turn.emit(
        ApprovalAsked(approval_id="a", call_id="c1", tool="grep", detail="grep x", risk="read")
    )
    asking = turn.snapshot().blocks
    turn.emit(ApprovalSettled("a", "c1", "deny"))
    denied = turn.snapshot().blocks

    asked = ToolBlock(
        call_id="c1",
        name="grep",
        arguments=CALL.arguments,
        state="asking",
        approval_id="a",
        detail="grep x",
        risk="read",
    )
    assert asking == (asked,)
    [block] = denied
    assert isinstance(block, ToolBlock)
    assert (block.state, block.approval_id) == ("denied", "")


def test_output_is_a_bounded_preview_while_it_runs_and_at_the_end() -> None:
    turn = controller()
    turn.emit(ToolQueued(CALL))
    for _ in range(100):
        turn.emit(ToolProgressed("c1", "x" * 1000))
    [running] = turn.snapshot().blocks
    turn.emit(ToolFinished(call_id="c1", state="ok", output="y" * 1_000_000, seconds=1.0))
    [ended] = turn.snapshot().blocks

    assert isinstance(running, ToolBlock)
    assert isinstance(ended, ToolBlock)
    assert len(running.output) <= PREVIEW
    assert len(ended.output) <= PREVIEW + 100


def test_a_failed_turn_shows_the_error_and_closes_open_calls() -> None:
    turn = controller()
    turn.emit(TextDelta("so far"))
    turn.emit(ToolQueued(CALL))
    turn.end("failed", error="the server is down", hint="start it")
    ended = turn.snapshot()

    cancelled = ToolBlock(call_id="c1", name="grep", arguments=CALL.arguments, state="cancelled")
    assert ended.blocks == (
        TextBlock("so far"),
        cancelled,
        ErrorBlock("the server is down", "start it"),
    )


def test_nothing_changes_after_the_end() -> None:
    turn = controller()
    turn.end("cancelled")
    ended = turn.snapshot()
    turn.emit(TextDelta("late"))
    turn.end("completed")

    assert turn.snapshot() == ended


def test_events_of_an_unknown_call_are_ignored() -> None:
    turn = controller()
    turn.emit(ToolStarted("nobody"))

    assert turn.snapshot().blocks == ()
