from __future__ import annotations

import pytest

from octo_lab.core import progress as p
from octo_lab.core.events import (
    ApprovalSettled,
    FileChanged,
    IterationStarted,
    LimitReached,
    Noticed,
    Replied,
    Steered,
    ToolFinished,
    ToolProgressed,
    ToolQueued,
    ToolStarted,
    TurnBegan,
    TurnEnded,
    TurnEvent,
)
from octo_lab.core.messages import ToolCall, Usage
from octo_lab.core.progress_forms import Console, duration, sse
from octo_lab.core.stream import ReasoningDelta, TextDelta, UsageReported

CALL = ToolCall(id="1", name="shell", arguments="{}")
USED = Usage(input_tokens=10, output_tokens=2, requests=1, cost=0.125, priced=1)
BEFORE = Usage(input_tokens=5, output_tokens=1, requests=1, cost=0.25, priced=1)
EVENTS: list[TurnEvent] = [
    TurnBegan("t1", BEFORE),
    IterationStarted(1),
    ReasoningDelta("hm"),
    TextDelta("I lo"),
    TextDelta("ok.\nNow"),
    ToolQueued(CALL),
    UsageReported(USED),
    Replied(number=1, text="I look.\nNow", calls=1),
    ToolStarted("1"),
    ToolProgressed("1", "."),
    ToolFinished(call_id="1", state="error", output="\nno\nmore", seconds=1.25),
    FileChanged("a.py"),
    Steered("wait"),
    Noticed("x"),
    ApprovalSettled("a", "1", "deny"),
    IterationStarted(2),
    Replied(number=2, text="One\ntwo\nthree\nfour", calls=0),
    LimitReached(kind="iterations", used=2, limit=2),
    LimitReached(kind="tokens", used=120, limit=100),
    LimitReached(kind="idle", used=300, limit=300),
    TurnEnded(ok=True, stopped=False, iterations=2, seconds=0.5),
    TurnEnded(ok=False, stopped=False, iterations=2, seconds=2.0),
    TurnEnded(ok=False, stopped=True, iterations=2, seconds=2.0),
]
PROGRESS: list[p.ProgressEvent] = [
    p.TaskStarted(task_id="t1"),
    p.Thinking(iteration=1),
    p.StreamChunk(text="I lo", iteration=1),
    p.StreamChunk(text="ok.\nNow", iteration=1),
    p.TokenUsage(input_tokens=10, output_tokens=2),
    p.CostUpdate(
        session_input_tokens=15,
        session_output_tokens=3,
        response_cost=0.125,
        session_cost=0.375,
    ),
    p.StreamDone(iteration=1),
    p.Response(content="I look.\nNow", iteration=1),
    p.ToolStarted(name="shell", tool_id="1"),
    p.ToolCompleted(name="shell", tool_id="1", success=False, output_preview="no", duration=1.25),
    p.FileModified(path="a.py"),
    p.Thinking(iteration=2),
    p.Response(content="One\ntwo\nthree\nfour", iteration=2),
    p.MaxIterationsReached(limit=2),
    p.TokenBudgetExceeded(used=120, limit=100),
    p.TaskCompleted(success=True, iterations=2, duration=0.5),
    p.TaskCompleted(success=False, iterations=2, duration=2.0),
    p.TaskInterrupted(iterations=2),
]


def test_events_of_a_turn_become_the_fourteen_kinds_of_progress() -> None:
    projection = p.Progress()

    assert [made for event in EVENTS for made in projection.feed(event)] == PROGRESS
    assert {type(event) for event in PROGRESS} == set(p.ProgressEvent.__args__)
    assert len(p.ProgressEvent.__args__) == 14


def test_the_console_shows_whole_lines_and_an_answer_once() -> None:
    console = Console()

    printed = [console.feed(event) for event in PROGRESS]

    assert printed == [
        "",
        "⟳ Thinking… (iteration 1)\n",
        "",
        "I look.\n",
        "",
        "Now\nTokens: 15 in, 3 out · Cost: $0.1250, $0.3750 in all\n",
        "",
        "",
        "⚙ shell\n",
        "✗ shell (1.2s)\n  no\n",
        "📝 a.py\n",
        "⟳ Thinking… (iteration 2)\n",
        "◆ One\n  two\n  three\n",
        "⚠ Reached the limit of 2 iterations\n",
        "⚠ Used 120 of 100 tokens\n",
        "✓ Done (2 iterations, 500ms)\n",
        "✗ Done (2 iterations, 2.0s)\n",
        "⚠ Interrupted after 2 iterations\n",
    ]


def test_a_verbose_console_tells_ids_tokens_and_previews_in_colours() -> None:
    console = Console(colours=True, verbose=True)
    done = p.ToolCompleted(
        name="x", tool_id="1", success=True, output_preview="fine", duration=0.0123
    )

    assert console.feed(p.TaskStarted(task_id="t")) == "\x1b[2m▶ Task t\x1b[0m\n"
    assert console.feed(p.Thinking(iteration=1)) == "\x1b[33m⟳ Thinking… (iteration 1)\x1b[0m\n"
    assert console.feed(done) == "\x1b[32m✓ x (12ms)\x1b[0m\n  fine\n"
    assert console.feed(PROGRESS[4]) == "\x1b[2mTokens: 10 in, 2 out\x1b[0m\n"
    assert console.feed(p.Response(content="a", iteration=1)) == "\x1b[36m◆ a\x1b[0m\n"


def test_a_cost_that_nobody_knows_is_not_shown_as_nothing() -> None:
    event = p.CostUpdate(
        session_input_tokens=1, session_output_tokens=2, response_cost=None, session_cost=None
    )

    assert Console().feed(event) == "Tokens: 1 in, 2 out\n"


def test_the_event_stream_has_a_json_type_for_each_kind() -> None:
    other = {"type": "other"}

    assert [sse(event) for event in PROGRESS] == [
        other,
        {"type": "thinking", "iteration": 1},
        {"type": "token", "text": "I lo"},
        {"type": "token", "text": "ok.\nNow"},
        other,
        {"type": "cost_update", "input_tokens": 15, "output_tokens": 3, "session_cost": 0.375},
        {"type": "stream_end"},
        {"type": "response", "iteration": 1},
        {"type": "tool_start", "tool": "shell"},
        {"type": "tool_end", "tool": "shell", "success": False},
        other,
        {"type": "thinking", "iteration": 2},
        {"type": "response", "iteration": 2},
        *[other] * 5,
    ]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0ms"),
        (0.0004, "0ms"),
        (0.25, "250ms"),
        (1.0, "1000ms"),
        (1.04, "1.0s"),
        (75, "75.0s"),
    ],
)
def test_durations_are_short(seconds: float, text: str) -> None:
    assert duration(seconds) == text
