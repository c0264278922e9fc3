from __future__ import annotations

import anyio
import pytest

from octo_lab.bus.events import EventBus, Watched
from octo_lab.core.events import IterationStarted, Noticed
from octo_lab.core.keys import ChatAddress
from octo_lab.core.stream import TextDelta

pytestmark = pytest.mark.anyio

HERE = ChatAddress(channel="memory", chat_id="1")
THERE = ChatAddress(channel="memory", chat_id="2")


async def test_each_watcher_gets_what_it_wants_in_order() -> None:
    bus, heard = EventBus(), list[Watched]()
    tell = bus.teller(HERE, "m")

    with bus.watch(HERE, "m") as everything, bus.watch(HERE, "m", Noticed) as notes:
        async with anyio.create_task_group() as tasks:

            async def listen() -> None:
                while taken := await everything.take():
                    heard.extend(taken)

            tasks.start_soon(listen)
            for event in (IterationStarted(1), TextDelta("a"), Noticed("b")):
                tell(event)
                await anyio.lowlevel.checkpoint()
            everything.close()
        assert await notes.take() == [Noticed("b")]

    assert heard == [IterationStarted(1), TextDelta("a"), Noticed("b")]


async def test_a_slow_watcher_loses_the_oldest_and_holds_nobody_up() -> None:
    bus = EventBus()
    tell = bus.teller(HERE, "m")

    with bus.watch(HERE, "m", size=2) as slow:
        for number in range(5):
            tell(IterationStarted(number))
        slow.close()

        assert await slow.take() == [IterationStarted(3), IterationStarted(4)]
        assert (await slow.take(), slow.missed) == ([], 3)


async def test_nobody_hears_of_messages_of_other_chats_or_after_leaving() -> None:
    bus = EventBus()
    with bus.watch(HERE, "m") as gone:
        bus.teller(THERE, "m")(Noticed("x"))
        bus.teller(HERE, "n")(Noticed("x"))
    bus.teller(HERE, "m")(Noticed("x"))

    gone.close()
    assert await gone.take() == []
