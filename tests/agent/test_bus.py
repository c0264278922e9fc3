from __future__ import annotations

import anyio
import pytest

from octo_lab.agent.bus import EventBus
from octo_lab.core.events import IterationStarted, Noticed, TurnEvent
from octo_lab.core.stream import TextDelta

pytestmark = pytest.mark.anyio


async def test_each_listener_gets_what_it_wants_in_order() -> None:
    bus, heard = EventBus(), dict[str, list[TurnEvent]](all=[], notes=[])

    with bus.subscribe() as everything, bus.subscribe(Noticed) as notes:
        async with anyio.create_task_group() as tasks:

            async def listen() -> None:
                heard["all"] = [event async for event in everything.events()]

            tasks.start_soon(listen)
            for event in (IterationStarted(1), TextDelta("a"), Noticed("b")):
                bus.publish(event)
                await anyio.lowlevel.checkpoint()
            bus.close()
        heard["notes"] = [event async for event in notes.events()]

    assert heard == {
        "all": [IterationStarted(1), TextDelta("a"), Noticed("b")],
        "notes": [Noticed("b")],
    }


async def test_a_slow_listener_loses_the_oldest_and_holds_nobody_up() -> None:
    bus = EventBus()

    with bus.subscribe(size=2) as slow:
        for number in range(5):
            bus.publish(IterationStarted(number))
        bus.close()
        read = [event async for event in slow.events()]

    assert (read, slow.missed) == ([IterationStarted(3), IterationStarted(4)], 3)


async def test_who_has_left_hears_nothing_and_who_comes_late_ends_at_once() -> None:
    bus = EventBus()
    with bus.subscribe() as gone:
        pass
    bus.publish(Noticed("x"))
    bus.close()

    with bus.subscribe() as late:
        assert [event async for event in late.events()] == []
    gone.close()
    assert [event async for event in gone.events()] == []
