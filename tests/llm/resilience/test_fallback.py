from __future__ import annotations

from dataclasses import replace

import anyio
import pytest

from octo_lab.core.errors import BadRequest, ProviderError, Unavailable
from octo_lab.llm.resilience.fallback import FallingBack
from octo_lab.llm.resilience.router import ModelRouter, SubModel
from octo_lab.testing.providers import ScriptedProvider, says
from tests.llm.resilience.models import (
    REQUEST,
    VIRTUAL,
    drain,
    listen,
    remarks,
    scripted,
    slot,
)

pytestmark = pytest.mark.anyio

RANKS = {"b/m": 0.9, "c/m": 0.1}


@pytest.fixture
def anyio_backend() -> object:
    return VIRTUAL


def falling_back(*providers: ScriptedProvider, limits: tuple[int, ...] = ()) -> FallingBack:
    models = [
        SubModel(key=f"{one.name}/m", slot=slot(one), max_output=limits[place] if limits else None)
        for place, one in enumerate(providers)
    ]
    return FallingBack("A/M", ModelRouter(models, ranks=lambda: RANKS, clock=anyio.current_time))


async def test_the_others_are_asked_by_rank() -> None:
    down: list[ProviderError] = [Unavailable("down")]
    three = falling_back(scripted("a", *down), scripted("b", says("b")), scripted("c", *down))
    assert await listen(three) == ("b", ["a/m: down; c/m answers", "c/m: down; b/m answers"])


async def test_whoever_failed_is_left_alone_for_a_minute() -> None:
    first = scripted("a", Unavailable("down"))
    three = falling_back(first, scripted("b"), scripted("c", says("c"), says("c")))
    assert [(await listen(three))[0] for _ in range(2)] == ["c", "c"]
    assert len(first.requests) == 1

    await anyio.sleep(60)
    first.add(says("a"))
    assert await listen(three) == ("a", [])


async def test_when_all_are_left_alone_the_one_that_was_longest_is_asked() -> None:
    first, second = scripted("a", Unavailable("down")), scripted("b", Unavailable("down"))
    both = falling_back(first, second)
    with pytest.raises(Unavailable):
        await listen(both)
    first.add(says("a"))
    assert (await listen(both))[0] == "a"


async def test_a_refused_request_leaves_nobody_alone() -> None:
    first = scripted("a", BadRequest("no"), says("a"))
    both = falling_back(first, scripted("b", says("b")))
    assert [(await listen(both))[0] for _ in range(2)] == ["b", "a"]


async def test_only_those_that_can_say_enough_are_asked() -> None:
    three = falling_back(
        scripted("a", Unavailable("down")),
        scripted("b", says("b")),
        scripted("c"),
        limits=(9000, 9000, 100),
    )
    events = await drain(three.stream(replace(REQUEST, max_tokens=4000)))
    assert remarks(events) == ["a/m: down; b/m answers"]


async def test_metrics_name_the_rank() -> None:
    both = falling_back(scripted("a", says("x")), scripted("b"))
    await listen(both)
    assert [(info.name, info.calls, info.score) for info in both.metrics()] == [
        ("a/m", 1, None),
        ("b/m", 0, 0.9),
    ]
