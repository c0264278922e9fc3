from __future__ import annotations

from contextlib import aclosing
from functools import partial
from typing import Any

import anyio
import pytest

from octo_lab.core.errors import (
    AuthRejected,
    ConfigError,
    ContentFiltered,
    ProviderError,
    StreamCut,
    Unavailable,
    UsageError,
)
from octo_lab.core.messages import ChatRequest, Usage
from octo_lab.core.stream import Remarked, TextDelta, UsageReported
from octo_lab.llm.provider import Events, Provider
from octo_lab.llm.resilience.adaptive import Adaptive
from octo_lab.testing.providers import says
from tests.llm.resilience.models import (
    REQUEST,
    VIRTUAL,
    Refusing,
    after,
    drain,
    listen,
    scripted,
    slots,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> object:
    return VIRTUAL


def hedged(*providers: Provider, **more: Any) -> Adaptive:
    return Adaptive(slots(*providers, **more), mode="hedge", clock=anyio.current_time)


async def test_the_first_to_begin_answers_and_the_other_is_closed_uncounted() -> None:
    slow, fast = scripted("a", after(9.0, "slow")), scripted("b", after(2.0, "fa", "st"))
    both = hedged(slow, fast)
    assert await listen(both) == ("fast", [])
    assert (anyio.current_time(), slow.closed) == (2.0, 1)
    assert [(one.calls, one.errors) for one in both.metrics()] == [(0, 0), (1, 0)]


async def test_the_loser_is_closed_before_the_winner_is_heard() -> None:
    slow, fast = scripted("a", after(9.0, "slow")), scripted("b", after(2.0, "fast"))
    async with aclosing(hedged(slow, fast).stream(REQUEST)) as events:
        assert await anext(events) == TextDelta("fast")
        assert slow.closed == 1


class Gated:
    """Begins to answer in the very moment the gate opens."""

    model = "m"

    def __init__(self, name: str, gate: anyio.Event) -> None:
        self.name = name
        self.closed = False
        self._gate = gate

    async def stream(self, request: ChatRequest) -> Events:
        try:
            await self._gate.wait()
            yield TextDelta(self.name)
            await anyio.sleep_forever()
        finally:
            self.closed = True


async def test_a_dead_heat_has_one_winner() -> None:
    gate = anyio.Event()
    one, other = Gated("a", gate), Gated("b", gate)

    async def open_later() -> None:
        await anyio.sleep(1.0)
        gate.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(open_later)
        async with aclosing(hedged(one, other).stream(REQUEST)) as events:
            assert await anext(events) == TextDelta("a")
            assert (one.closed, other.closed) == (False, True)


async def test_what_is_no_answer_yet_does_not_win() -> None:
    chatty = [
        Remarked("please wait"),
        UsageReported(Usage(requests=1)),
        partial(anyio.sleep, 5.0),
        *says("late"),
    ]
    both = hedged(scripted("a", chatty), scripted("b", after(1.0, "real")))
    assert await listen(both) == ("real", [])


async def test_the_winner_keeps_its_own_remarks() -> None:
    both = hedged(scripted("a", [Remarked("hm"), *says("x")]), scripted("b", after(9.0, "y")))
    assert await listen(both) == ("x", ["hm"])


async def test_when_the_first_fails_the_other_is_awaited() -> None:
    both = hedged(scripted("a", Unavailable("down")), scripted("b", after(3.0, "b")))
    assert await listen(both) == ("b", ["a/m: down; b/m answers"])


async def test_when_both_fail_the_rest_are_asked() -> None:
    three = hedged(
        scripted("a", Unavailable("down")),
        scripted("b", AuthRejected("no")),
        scripted("c", says("c")),
    )
    assert (await listen(three))[0] == "c"


async def test_when_all_fail_every_failure_is_named() -> None:
    with pytest.raises(ProviderError) as failed:
        await listen(hedged(scripted("a", Unavailable("down")), scripted("b", AuthRejected("no"))))
    assert failed.value.message == "None of 2 models answered:\n- a/m: down\n- b/m: no"


async def test_a_refusal_is_final_unless_the_other_answers() -> None:
    refused = ContentFiltered("I will not")
    both = hedged(scripted("a", refused), scripted("b", after(1.0, "b")))
    assert (await listen(both))[0] == "b"
    with pytest.raises(ContentFiltered):
        await listen(hedged(scripted("a", refused), scripted("b", Unavailable("down"))))


async def test_an_answer_cut_off_after_it_began_is_not_taken_over() -> None:
    both = hedged(
        scripted("a", [TextDelta("Hel"), StreamCut("cut")]), scripted("b", after(1.0, "b"))
    )
    with pytest.raises(StreamCut):
        await listen(both)


async def test_one_that_is_set_up_wrongly_spoils_nothing() -> None:
    wrong = Refusing(ConfigError("bad address", hint="mend it"))
    assert (await listen(hedged(wrong, scripted("b", after(1.0, "b")))))[0] == "b"
    with pytest.raises(ProviderError, match=r"- m/m: bad address \(mend it\)\n- b/m: down"):
        await listen(hedged(wrong, scripted("b", Unavailable("down"), Unavailable("down"))))


async def test_a_request_that_nobody_can_be_asked_is_told_as_one() -> None:
    with pytest.raises(UsageError, match="no such tool"):
        await listen(hedged(Refusing(UsageError("no such tool")), scripted("b", Unavailable("x"))))


async def test_stopping_the_race_closes_both() -> None:
    one, other = scripted("a", [anyio.sleep_forever]), scripted("b", [anyio.sleep_forever])
    both = hedged(one, other)
    with anyio.move_on_after(1.0) as scope:
        await drain(both.stream(REQUEST))
    assert (scope.cancelled_caught, one.closed, other.closed) == (True, 1, 1)
    assert [one.calls for one in both.metrics()] == [0, 0]


async def test_leaving_the_answer_closes_the_winner() -> None:
    fast = scripted("a", [TextDelta("a"), anyio.sleep_forever])
    async with aclosing(hedged(fast, scripted("b", after(9.0, "b"))).stream(REQUEST)) as events:
        await anext(events)
    assert fast.closed == 1


async def test_nobody_waits_longer_than_the_patience() -> None:
    both = hedged(scripted("a", [anyio.sleep_forever]), scripted("b", [anyio.sleep_forever]))
    with pytest.raises(ProviderError):
        await listen(both)
    assert anyio.current_time() == 120.0


async def test_the_other_is_the_cheapest_of_another_provider() -> None:
    first, dear, cheap = scripted("a"), scripted("b"), scripted("c")
    same = scripted("a")
    router = Adaptive(slots(first, same, dear, cheap), mode="hedge", clock=anyio.current_time)
    for one, dollars in zip(router.slots, (1.0, 0.1, 5.0, 2.0), strict=True):
        one.price = (dollars, dollars)
    first.add(after(1.0, "a"))
    cheap.add(after(9.0, "c"))
    await listen(router)
    assert [len(one.requests) for one in (first, same, dear, cheap)] == [1, 0, 0, 1]


async def test_without_prices_the_other_is_the_best() -> None:
    worse, better = scripted("b"), scripted("c", after(9.0, "c"))
    router = hedged(scripted("a", after(1.0, "a")), worse, better)
    for _ in range(5):
        router.slots[1].tally.failed()
    await listen(router)
    assert (worse.requests, better.requests) == ([], [REQUEST])


async def test_with_one_model_left_it_is_asked_alone() -> None:
    down = scripted("a")
    router = hedged(down, scripted("b", says("b")))
    for _ in range(3):
        router.slots[0].circuit.fail()
    assert (await listen(router), down.requests) == (("b", []), [])


async def test_a_race_stopped_at_any_moment_leaves_nothing_open() -> None:
    for tenths in range(45):
        one = scripted("a", [partial(anyio.sleep, 1.0), TextDelta("a"), *after(2.0, "b")])
        other = scripted("b", after(1.5, "slow"))
        with anyio.move_on_after(tenths / 10) as scope:
            await drain(hedged(one, other).stream(REQUEST))
        ended = 0 if scope.cancelled_caught else 1
        assert (len(one.requests) - one.closed, len(other.requests) - other.closed) == (ended, 0)
