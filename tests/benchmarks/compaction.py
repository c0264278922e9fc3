"""CPU of making a conversation of 1,000 messages short: in a request, and of a session by rules."""

from __future__ import annotations

import statistics
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import anyio

from octo_lab.agent.compaction import WithinWindow
from octo_lab.agent.model_call import ModelCall
from octo_lab.agent.ports import NO_HOOKS
from octo_lab.core.messages import ChatRequest, Message, ToolCall
from octo_lab.session.compact import RULES, SessionCompaction, sum_up
from octo_lab.session.history import Earlier
from octo_lab.storage.history import TurnRecord, TurnRow
from octo_lab.testing.providers import ScriptedProvider

TURNS, OF_A_TURN, WINDOW, ROUNDS, GOAL_MS = 250, 4, 32_000, 15, 20.0
SYSTEM = Message(role="system", content="be octo")
BY_RULES = SessionCompaction(by="rules")


def said(number: int) -> tuple[Message, ...]:
    """A question, a call, its result and an answer."""
    name = f"src/part_{number}.py"
    call = ToolCall(id=f"call-{number}", name="read_file", arguments=f'{{"path": "{name}"}}')
    lines = "\n".join(f"{n}|def function_{n}(value: int) -> int: ..." for n in range(1, 40))
    return (
        Message(role="user", content=f"What does {name} do, and who calls it?"),
        Message(role="assistant", content="I look into it.", tool_calls=(call,)),
        Message(
            role="tool",
            content=lines,
            tool_call_id=call.id,
            tool_name="read_file",
            outcome="ok",
            seconds=0.01,
        ),
        Message(role="assistant", content=f"It has 39 functions, `function_{number}` is used."),
    )


def record(number: int) -> TurnRecord:
    messages = said(number)
    row = TurnRow(
        id=f"t{number}",
        session_id="s",
        parent=f"t{number - 1}" if number else None,
        depth=number + 1,
        state="completed",
        prompt=messages[0].content,
        slot="",
        message_id=f"m{number}",
        model="m",
        provider="p",
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        owner="me",
    )
    return TurnRecord(turn=row, messages=messages)


async def in_a_request() -> None:
    messages = [SYSTEM, *(message for n in range(TURNS) for message in said(n))]
    request = ChatRequest(messages=[*messages, Message(role="user", content="Go on.")])
    made = await WithinWindow(WINDOW).compact(request, refused=0)
    assert made.note
    assert len(made.messages) < len(messages)


async def of_a_session() -> None:
    earlier = Earlier(turns=[record(n) for n in range(TURNS)])
    assert BY_RULES.due(earlier.turns, WINDOW)
    call = ModelCall(provider=ScriptedProvider(), hooks=NO_HOOKS)
    made = await sum_up(call, earlier, BY_RULES, WINDOW)
    assert made is not None
    assert made.model == RULES


async def nothing() -> None:
    """The same conversation, only made."""
    assert len([record(n) for n in range(TURNS)]) == TURNS


WAYS: dict[str, Callable[[], Awaitable[None]]] = {
    "only made": nothing,
    "in a request": in_a_request,
    "of a session": of_a_session,
}


async def main() -> None:
    times: dict[str, list[float]] = {name: [] for name in WAYS}
    for _ in range(ROUNDS):
        for name, way in WAYS.items():
            began = time.process_time()
            await way()
            times[name].append((time.process_time() - began) * 1e3)
    took = {name: statistics.median(values) for name, values in times.items()}
    made = took.pop("only made")
    print(f"\nCPU of compaction, {TURNS * OF_A_TURN:,} messages, ms, median of {ROUNDS} rounds")
    for name, milliseconds in took.items():
        spent = milliseconds - made
        met = "met" if spent <= GOAL_MS else "MISSED"
        print(f"  {name:<14} {spent:7.2f}   goal <= {GOAL_MS:.0f} ms: {met}")


if __name__ == "__main__":
    anyio.run(main)
