from __future__ import annotations

import anyio
import pytest

from octo_lab.core.errors import Unavailable
from octo_lab.llm.resilience.adaptive import Adaptive
from octo_lab.llm.resilience.assembly import Routed, share
from octo_lab.llm.resilience.catalog import CatalogEntry
from octo_lab.llm.resilience.failover import Chained
from octo_lab.llm.resilience.fallback import FallingBack
from octo_lab.llm.resilience.plan import RoutingPlan
from octo_lab.llm.resilience.responsiveness import Responsive
from octo_lab.llm.resilience.slot import Slot
from octo_lab.testing.providers import ScriptedProvider, says
from tests.llm.resilience.models import VIRTUAL, after, listen, scripted, slot, slots

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> object:
    return VIRTUAL


def shared(plan: RoutingPlan, *made: Slot) -> Routed:
    return share(made, plan, clock=anyio.current_time, chance=lambda: 0.99)


@pytest.mark.parametrize(
    ("plan", "kind", "mode"),
    [
        (RoutingPlan(), Responsive, "off"),
        (RoutingPlan(escalate=False), Chained, "off"),
        (RoutingPlan(qos=True), FallingBack, "off"),
        (RoutingPlan(mode="lane"), Responsive, "lane"),
        (RoutingPlan(mode="hedge", escalate=False), Adaptive, "hedge"),
        (RoutingPlan(mode="lane", qos=True, escalate=False), Adaptive, "lane"),
    ],
)
async def test_each_plan_has_its_way(plan: RoutingPlan, kind: type, mode: str) -> None:
    made = shared(plan, *slots(scripted("a"), scripted("b")))
    assert (type(made), made.mode) == (kind, mode)
    assert (made.name, made.model) == ("a", "m")
    assert [info.name for info in made.metrics()] == ["a/m", "b/m"]


def failing(name: str) -> ScriptedProvider:
    return scripted(name, Unavailable("down"))


async def test_by_rank_the_catalogue_decides_who_helps_out() -> None:
    def entry(name: str, score: float) -> CatalogEntry:
        return CatalogEntry(provider=name, score=score)

    made = shared(
        RoutingPlan(qos=True),
        slot(failing("a"), entry=entry("a", 0.1)),
        slot(scripted("b"), entry=entry("b", 0.9)),
        slot(scripted("c", says("c")), entry=entry("c", 0.5)),
    )
    assert (await listen(made))[0] == "c"
    assert [info.score for info in made.metrics()] == [0.1, 0.9, 0.5]


async def test_without_a_catalogue_the_rank_is_how_they_do() -> None:
    first, second, third = slots(failing("a"), scripted("b"), scripted("c", says("c")))
    for _ in range(10):
        second.tally.failed()
    assert (await listen(shared(RoutingPlan(qos=True), first, second, third)))[0] == "c"


async def test_a_mode_that_was_chosen_stays_however_slow_answers_are() -> None:
    slow = [after(9.0, "a")] * 8
    plans = RoutingPlan(), RoutingPlan(escalate=False)
    modes = []
    for plan in plans:
        made = shared(plan, *slots(scripted("a", *slow), scripted("b", *[after(99.0, "b")] * 8)))
        for _ in range(8):
            await listen(made)
        modes.append(made.mode)
    assert modes == ["hedge", "off"]


def test_who_can_ask_another_does_not_wait_long_for_one() -> None:
    alone, several = RoutingPlan().retry, RoutingPlan(fallbacks=("b/m",)).retry
    assert alone.delay(0, 0.0, 30.0) == 30.0
    assert several.delay(0, 0.0, 30.0) is None
