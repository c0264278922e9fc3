"""A turn may be stopped at any moment: what is stored is always whole."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial

import anyio
import anyio.lowlevel
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from octo_lab.agent.limits import Limits
from octo_lab.agent.loop import TurnInput
from octo_lab.agent.transcript import CloseReason
from octo_lab.core.errors import ProviderError, RateLimited, StreamCut, ToolFailed
from octo_lab.core.events import Decision, ToolFinished, ToolQueued
from octo_lab.core.messages import Message, ToolCall
from octo_lab.core.stream import Done, ReasoningDelta, StreamEvent, TextDelta, ToolCalled
from octo_lab.testing.providers import Pause, ScriptedProvider, says
from octo_lab.testing.transcripts import transcript_faults
from tests.agent.turns import INPUT, USER, Turn, tool

Item = StreamEvent | ProviderError | Pause


class Gate:
    """Passed at every await of a turn; cancels it at the chosen one."""

    def __init__(self, stop_at: int) -> None:
        self.scope = anyio.CancelScope()
        self.passed = 0
        self._stop_at = stop_at

    async def __call__(self) -> None:
        self.passed += 1
        if self.passed == self._stop_at:
            self.scope.cancel()
        await anyio.lowlevel.checkpoint()


class Approving:
    def __init__(self, gate: Gate, decision: Decision) -> None:
        self._gate = gate
        self._decision: Decision = decision

    async def approve(self, question: object) -> Decision:
        await self._gate()
        return self._decision


class Stopped(Turn):
    """A turn with a gate at each await."""

    def __init__(self, script: Sequence[Sequence[Item]], gate: Gate, decision: Decision) -> None:
        async def work(ctx: object, args: dict[str, object]) -> str:
            try:
                for _ in range(3):
                    await gate()
            finally:
                with anyio.CancelScope(shield=True):
                    await gate()
            return "x" * 300

        async def fail(ctx: object, args: object) -> str:
            await gate()
            raise ToolFailed("no")

        async def crash(ctx: object, args: object) -> str:
            await gate()
            raise RuntimeError("bug")

        async def swallow(ctx: object, args: object) -> str:
            try:
                await gate()
                await anyio.lowlevel.checkpoint()
            except anyio.get_cancelled_exc_class():
                return "swallowed"  # a tool that does what it must not
            return "ok"

        super().__init__(
            ScriptedProvider(*(self._gated(step, gate) for step in script)),
            *(tool("work", work), tool("asks", work, asks=True), tool("fail", fail)),
            *(tool("crash", crash), tool("swallow", swallow)),
            *(tool("slow", self._sleep, timeout=0.001), tool("exit", self._exit)),
            limits=Limits(parallel=3, output=100, iterations=6, empty_waits=(0.0,)),
            approver=Approving(gate, decision),
        )
        self.gate = gate

    @staticmethod
    async def _sleep(ctx: object, args: object) -> str:
        await anyio.sleep_forever()
        return ""

    @staticmethod
    async def _exit(ctx: object, args: object) -> str:
        raise SystemExit(3)

    @staticmethod
    def _gated(step: Sequence[Item], gate: Gate) -> list[Item]:
        return [part for item in step for part in (gate, item)]

    async def keep(self, step: Sequence[Message]) -> None:
        await self.gate()
        self.kept.append(tuple(step))

    async def play(self) -> list[Message]:
        """Run to the end, a failure or the stop; gives everything that is stored then."""
        reason: CloseReason = "cancelled"
        final: tuple[Message, ...] = ()
        with self.gate.scope:
            try:
                final = (await self()).final
            except ProviderError:
                reason = "failed"
        closing = self.transcript.close(reason)
        assert final in ((), closing)
        return self.stored(*closing)


def check(turn: Stopped, stored: list[Message]) -> None:
    assert transcript_faults([USER, *stored]) == []
    queued = [event.call.id for event in turn.events if isinstance(event, ToolQueued)]
    shown = [(e.call_id, e.output) for e in turn.events if isinstance(e, ToolFinished)]
    kept = [(m.tool_call_id, m.content) for m in stored if m.role == "tool"]
    assert sorted(queued) == sorted(id for id, _ in shown)
    assert sorted(shown) == sorted(kept)


async def next_turn(stored: Sequence[Message]) -> None:
    provider = ScriptedProvider(says("fine"))
    history = [USER, *stored]

    ending = await Turn(provider)(TurnInput(system="", history=history, user=USER))

    assert ending.final == (Message(role="assistant", content="fine"),)
    assert transcript_faults([*history, USER, *ending.final]) == []


def call(name: str, id: str, arguments: str = "{}") -> ToolCalled:
    return ToolCalled(ToolCall(id=id, name=name, arguments=arguments))


THREE_TOOLS: list[list[Item]] = [
    [TextDelta("Let me "), TextDelta("look."), call("work", "a"), call("asks", "b"),
     call("swallow", "c"), Done("tool_use")],
    [ReasoningDelta("hm"), call("fail", "d"), call("crash", "e"), Done("tool_use")],
    [TextDelta("All "), TextDelta("done."), Done("end_turn")],
]  # fmt: skip


@pytest.mark.anyio
async def test_a_stop_at_every_await_of_a_turn_leaves_a_whole_transcript() -> None:
    stopped_at: list[int] = []
    for stop_at in range(1, 1000):
        turn = Stopped(THREE_TOOLS, Gate(stop_at), "once")
        stored = await turn.play()
        check(turn, stored)
        await next_turn(stored)
        if turn.gate.passed < stop_at:
            break
        stopped_at.append(stop_at)

    assert len(stopped_at) > 25


NAMES = ("work", "asks", "fail", "crash", "swallow", "slow", "exit", "nope", "bad name", "")
CALLS = st.builds(
    call,
    st.sampled_from(NAMES),
    st.sampled_from(["", "a", "b", "c", "\ud800"]),
    st.sampled_from(["{}", "", "[]", "{", "NaN", '{"a": NaN}', '{"a": "\\ud800"}', "\ud800"]),
)
TEXTS = st.builds(TextDelta, st.sampled_from(["", " ", "a", "\ud83d", "\ude00", "long " * 50]))
ERRORS = st.sampled_from([RateLimited("slow"), StreamCut("cut")])
ENDS = st.builds(Done, st.sampled_from(["end_turn", "tool_use", "max_tokens", "stop_sequence"]))
ITEMS = st.one_of(TEXTS, TEXTS, CALLS, CALLS, st.builds(ReasoningDelta, st.just("r")), ERRORS)
STEPS = st.builds(
    lambda items, end: [*items, *end], st.lists(ITEMS, max_size=6), st.lists(ENDS, max_size=1)
)


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    script=st.lists(STEPS, min_size=1, max_size=4),
    stop_at=st.integers(0, 60),
    decision=st.sampled_from(["once", "session", "deny"]),
)
def test_no_script_of_calls_failures_and_stops_breaks_a_transcript(
    script: list[list[Item]], stop_at: int, decision: Decision
) -> None:
    logging.getLogger("octo_lab.tools.call").setLevel(logging.CRITICAL)
    end: list[Item] = [TextDelta("end"), Done("end_turn")]

    async def scenario() -> None:
        turn = Stopped([*script, *[end] * 6], Gate(stop_at), decision)
        stored = await turn.play()
        check(turn, stored)
        await next_turn(stored)

    anyio.run(partial(scenario))


def test_the_check_of_transcripts_finds_what_is_wrong() -> None:
    made = ToolCall(id="a", name="x", arguments="[]")
    said = Message(role="assistant", tool_calls=(made, made))
    result = Message(role="tool", tool_call_id="b")

    assert transcript_faults([INPUT.user, said, result, Message(role="assistant")]) == [
        "1: arguments '[]'",
        "1: id 'a' again",
        "1: arguments '[]'",
        "2: result of 'b', expected of ['a']",
        "3: calls ['a', 'a'] have no result",
        "3: blank",
    ]
