from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, repeat
from typing import Any

import anyio
import pytest

from octo_lab.core.errors import Unavailable
from octo_lab.llm.provider import Provider
from octo_lab.llm.resilience.adaptive import Adaptive
from octo_lab.llm.resilience.catalog import CatalogEntry
from octo_lab.llm.resilience.policy import RouterPolicy
from octo_lab.testing.providers import ScriptedProvider
from tests.llm.resilience.models import VIRTUAL, after, listen, scripted, slot

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> object:
    return VIRTUAL


def rolls(*values: float) -> Callable[[], float]:
    """Chances that come in this order, then never hit."""
    left: Iterator[float] = chain(values, repeat(0.99))
    return lambda: next(left)


def lane(*providers: Provider, chance: Callable[[], float] = rolls(), **entry: Any) -> Adaptive:
    """A lane whose last model the catalogue knows so."""
    known = CatalogEntry(provider="last", **entry) if entry else None
    made = [slot(one) for one in providers[:-1]]
    return Adaptive(
        [*made, slot(providers[-1], entry=known)],
        mode="lane",
        clock=anyio.current_time,
        chance=chance,
    )


def answers(name: str, seconds: float, count: int = 9) -> ScriptedProvider:
    return scripted(name, *[after(seconds, name, tokens=100)] * count)


async def test_the_preferred_answers_while_nothing_is_known() -> None:
    assert (await listen(lane(answers("a", 1), answers("b", 1))))[0] == "a"


async def test_the_faster_answers_once_both_are_known() -> None:
    both = lane(answers("a", 4), answers("b", 1), chance=rolls(0.99, 0.05))
    assert [(await listen(both))[0] for _ in range(4)] == ["a", "b", "b", "b"]


async def test_a_probe_goes_to_one_that_was_not_asked_for_long() -> None:
    both = lane(answers("a", 1), answers("b", 4), chance=lambda: 0.05)
    said = [(await listen(both))[0] for _ in range(3)]
    await anyio.sleep(60)
    said += [(await listen(both))[0] for _ in range(2)]
    assert said == ["b", "a", "a", "b", "a"]


async def test_a_model_known_to_be_unstable_comes_last() -> None:
    both = lane(answers("a", 1), answers("b", 1), stability=0.2)
    assert both.metrics()[1].error_rate == 0.8
    swapped = Adaptive(both.slots[::-1], mode="lane", clock=anyio.current_time, chance=rolls())
    assert (await listen(swapped))[0] == "a"


async def test_quality_counts_when_it_is_asked_for() -> None:
    better = CatalogEntry(provider="b", ds_output=100.0)
    worse = CatalogEntry(provider="a", ds_output=10.0)
    said = []
    for quality in (False, True):
        pair = [slot(answers("a", 1), entry=worse), slot(answers("b", 1), entry=better)]
        router = Adaptive(
            pair, mode="lane", quality=quality, clock=anyio.current_time, chance=rolls()
        )
        said.append((await listen(router))[0])
    assert said == ["a", "b"]


async def test_another_takes_over_when_the_best_fails() -> None:
    both = lane(scripted("a", Unavailable("down")), answers("b", 1))
    assert await listen(both) == ("b", ["a/m: down; b/m answers"])


async def test_a_model_with_an_open_circuit_is_left_out_until_it_recovers() -> None:
    both = lane(answers("a", 1), answers("b", 1, 20), chance=lambda: 0.05)
    for _ in range(3):
        both.slots[0].circuit.fail()
    said = [(await listen(both))[0] for _ in range(3)]
    assert (said, both.metrics()[0].state) == (["b"] * 3, "open")

    await anyio.sleep(60)
    state = both.metrics()[0].state
    said = [(await listen(both))[0] for _ in range(2)]
    assert (state, said, both.metrics()[0].state) == ("half-open", ["a", "b"], "closed")


async def test_metrics_come_in_the_order_of_preference_with_scores() -> None:
    both = lane(answers("a", 1), answers("b", 1))
    await listen(both)
    policy = RouterPolicy().weights
    first, second = both.metrics()
    assert (first.name, second.name) == ("a/m", "b/m")
    assert first.score == pytest.approx(0.0 + 0.5 * policy.cost)
    assert second.score == pytest.approx(
        0.5 * policy.latency + 0.5 * policy.priority + 0.5 * policy.cost
    )


async def test_off_goes_by_preference_however_slow() -> None:
    router = Adaptive(
        [slot(answers("a", 9)), slot(answers("b", 1))], mode="off", clock=anyio.current_time
    )
    assert [(await listen(router))[0] for _ in range(3)] == ["a"] * 3


async def test_one_that_keeps_people_waiting_comes_last_whatever_its_score() -> None:
    both = lane(scripted("a", after(11.0, "a", tokens=9000), after(1.0, "a")), answers("b", 1))
    said = [(await listen(both))[0] for _ in range(2)]
    first, second = both.metrics()
    assert said == ["a", "b"]
    assert first.score is not None
    assert second.score is not None
    assert first.score < second.score
