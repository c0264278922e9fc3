from __future__ import annotations

import itertools
import math
from collections.abc import Awaitable, Callable

import anyio
import pytest

from octo_lab.agent.limits import Limits
from octo_lab.agent.loop import Agent, Ending
from octo_lab.agent.patience import LOADING, Patience
from octo_lab.agent.transcript import Transcript
from octo_lab.core.errors import TimedOut
from octo_lab.core.events import LimitReached
from octo_lab.core.messages import Message
from octo_lab.core.stream import Done, Remarked, StreamEvent, TextDelta
from octo_lab.testing.providers import ScriptedProvider, calls, says
from octo_lab.testing.virtual_time import VirtualTime
from octo_lab.tools.tool import ToolContext
from tests.agent.turns import ALLOW, INPUT, Turn, call, context, tool

pytestmark = pytest.mark.anyio
Item = StreamEvent | Callable[[], Awaitable[None]]
Items = list[Item]


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, object]]:
    return "asyncio", {"loop_factory": VirtualTime}


def after(seconds: float) -> Callable[[], Awaitable[None]]:
    return lambda: anyio.sleep(seconds)


class Timed(Turn):
    """A turn with some patience, and how long it took."""

    def __init__(self, patience: Patience, *items: Item):
        super().__init__(ScriptedProvider(list(items)), limits=Limits(seconds=10_000, idle=5000))
        self.agent = Agent(
            provider=ScriptedProvider(list(items)),
            tools=(),
            approver=ALLOW,
            context=context,
            limits=Limits(seconds=10_000, idle=5000),
            patience=patience,
        )

    async def took(self) -> tuple[Ending | TimedOut, float]:
        began = anyio.current_time()
        try:
            end: Ending | TimedOut = await self()
        except TimedOut as exc:
            end = exc
        return end, anyio.current_time() - began


@pytest.mark.parametrize(("tokens", "seconds"), [(0, 30.0), (50_000, 80.0), (1_000_000, 180.0)])
def test_a_long_input_may_take_longer_to_read(tokens: int, seconds: float) -> None:
    assert Patience().first(tokens) == seconds


async def test_a_model_that_does_not_begin_is_given_up() -> None:
    end, seconds = await Timed(Patience(), after(1000), TextDelta("hi"), Done("end_turn")).took()

    assert str(end) == "'scripted' sent nothing for 30 s (try again, or choose another model)"
    assert 30 <= seconds <= 30.7


async def test_a_model_that_falls_silent_is_given_up() -> None:
    items: Items = [after(29), TextDelta("a"), after(29), TextDelta("b"), after(1000)]

    end, seconds = await Timed(Patience(), *items).took()

    assert str(end) == "'scripted' sent nothing for 30 s (try again, or choose another model)"
    assert 88 <= seconds <= 89


async def test_a_slow_but_steady_model_is_heard_to_its_end() -> None:
    items: Items = [item for _ in range(50) for item in (after(20), TextDelta("x"))]

    end, seconds = await Timed(Patience(), *items, Done("end_turn")).took()

    assert isinstance(end, Ending)
    assert seconds == pytest.approx(1000)


async def test_a_remark_is_a_sign_of_life() -> None:
    items: Items = [after(29), Remarked("waiting"), after(29), TextDelta("x"), Done("end_turn")]

    end, _ = await Timed(Patience(), *items).took()

    assert isinstance(end, Ending)


async def test_a_model_of_this_machine_may_take_any_time_to_load() -> None:
    items: Items = [after(4000), TextDelta("x"), after(100), Done("end_turn")]

    end, seconds = await Timed(LOADING, *items).took()

    assert LOADING.first(0) == math.inf
    assert isinstance(end, Ending)
    assert seconds == pytest.approx(4100)


async def test_a_turn_in_which_nothing_happens_ends_and_says_so() -> None:
    async def hang(ctx: object, args: object) -> str:
        await anyio.sleep_forever()
        return ""

    turn = Turn(
        ScriptedProvider(calls(call("hang"))),
        tool("hang", hang, timeout=50_000),
        limits=Limits(seconds=10_000),
    )
    began = anyio.current_time()

    ending = await turn()

    assert ending.reason == "idle"
    assert ending.note == (
        'Stopped at the limit of 300 seconds in which nothing happens. Say "go on" to continue.'
    )
    assert ending.final[1].content == (
        "Error: Broken off, effects are unknown: nothing happened for too long."
    )
    assert LimitReached(kind="idle", used=300, limit=300) in turn.events
    assert 300 <= anyio.current_time() - began <= 310


async def test_progress_of_a_tool_keeps_a_turn_awake() -> None:
    async def work(ctx: ToolContext, args: object) -> str:
        for _ in range(50):
            await anyio.sleep(50)
            ctx.report(".")
        return "done"

    turn = Turn(
        ScriptedProvider(calls(call("work")), says("ok")),
        tool("work", work, timeout=10_000),
        limits=Limits(seconds=10_000),
    )

    assert (await turn()).reason == "end_turn"


async def test_a_person_who_thinks_for_an_hour_ends_no_turn() -> None:
    class Thinking:
        async def approve(self, question: object) -> str:
            await anyio.sleep(3600)
            return "once"

    async def quick(ctx: object, args: object) -> str:
        return "ok"

    agent = Agent(
        provider=ScriptedProvider(calls(call("quick")), says("ok")),
        tools=[tool("quick", quick, asks=True)],
        approver=Thinking(),  # type: ignore[arg-type]
        context=context,
    )

    async def keep(step: object) -> None:
        pass

    ending = await agent.run(INPUT, Transcript(), lambda event: None, keep)

    assert ending.final == (Message(role="assistant", content="ok"),)


async def test_an_empty_answer_is_asked_for_after_1_2_and_4_seconds() -> None:
    times: list[float] = []

    async def note() -> None:
        times.append(anyio.current_time())

    empty: Items = [note, Done("end_turn")]
    turn = Turn(ScriptedProvider(*[empty] * 5))

    ending = await turn()

    assert ending.note == "The model gave an empty answer."
    assert [round(b - a, 3) for a, b in itertools.pairwise(times)] == [1, 2, 4, 0]
