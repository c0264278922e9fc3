from __future__ import annotations

import anyio
import pytest

from tests.llm.resilience.models import VIRTUAL
from tests.llm.resilience.simulation import heavy_tails, outage, routed, simulate, three_speeds

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> object:
    return VIRTUAL


async def test_the_lane_converges_to_the_best_model() -> None:
    figures = await simulate(routed("lane", *three_speeds()), 600)
    late = figures.answered[-300:]
    assert late.count("best") / len(late) >= 0.95
    assert figures.failed == 0


async def test_the_lane_waits_less_than_the_order_of_preference() -> None:
    off = await simulate(routed("off", *three_speeds()), 600)
    lane = await simulate(routed("lane", *three_speeds()), 600)
    assert lane.wait(0.5) < off.wait(0.5) / 4


async def test_hedging_cuts_the_slowest_answers() -> None:
    off = await simulate(routed("off", *heavy_tails()), 1000)
    hedge = await simulate(routed("hedge", *heavy_tails()), 1000)
    assert hedge.wait(0.99) < off.wait(0.99) / 5
    assert hedge.wait(0.5) <= off.wait(0.5)


async def test_the_breaker_opens_and_recovers() -> None:
    down, other = outage(100.0)
    router = routed("off", down, other)
    before = await simulate(router, 40)
    assert before.shares == {"a": 40}

    await anyio.sleep(100.0 - anyio.current_time())
    asked = down.requests
    during = await simulate(router, 200)
    assert during.shares == {"b": 200}
    assert during.failed == 0
    assert down.requests - asked < 10

    await anyio.sleep(1000.0 - anyio.current_time())
    after = await simulate(router, 20)
    assert after.shares == {"a": 20}
    assert router.metrics()[0].state == "closed"


async def test_the_same_simulation_gives_the_same_figures() -> None:
    one = await simulate(routed("lane", *three_speeds()), 100)
    again = await simulate(routed("lane", *three_speeds()), 100)
    assert one.answered == again.answered
    assert one.waits == pytest.approx(again.waits)
