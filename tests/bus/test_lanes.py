from __future__ import annotations

import anyio
import pytest

from octo_lab.bus.lanes import Lanes
from octo_lab.core.errors import Rejected

pytestmark = pytest.mark.anyio


async def test_items_of_a_key_keep_their_order_while_other_keys_go_on() -> None:
    done: list[str] = []
    gate = anyio.Event()

    async def handle(key: str, item: int) -> None:
        if key == "slow":
            await gate.wait()
        done.append(f"{key}{item}")

    async with anyio.create_task_group() as tasks:
        lanes: Lanes[str, int] = Lanes(tasks, handle, size=8, idle=0.01)
        for number in range(3):
            lanes.put("slow", number)
            lanes.put("fast", number)
        await anyio.wait_all_tasks_blocked()
        first = list(done)
        gate.set()

    assert first == ["fast0", "fast1", "fast2"]
    assert done == [*first, "slow0", "slow1", "slow2"]


async def test_a_full_lane_rejects_and_loses_nothing() -> None:
    done: list[int] = []
    gate = anyio.Event()

    async def handle(key: str, item: int) -> None:
        await gate.wait()
        done.append(item)

    async with anyio.create_task_group() as tasks:
        lanes: Lanes[str, int] = Lanes(tasks, handle, size=2, idle=0.01)
        lanes.put("a", 0)
        await anyio.wait_all_tasks_blocked()
        lanes.put("a", 1)
        lanes.put("a", 2)
        with pytest.raises(Rejected, match="2 messages already wait"):
            lanes.put("a", 3)
        gate.set()

    assert done == [0, 1, 2]


async def test_waiting_items_can_be_taken_out() -> None:
    done: list[int] = []
    gate = anyio.Event()

    async def handle(key: str, item: int) -> None:
        await gate.wait()
        done.append(item)

    async with anyio.create_task_group() as tasks:
        lanes: Lanes[str, int] = Lanes(tasks, handle, size=8, idle=0.01)
        for number in range(5):
            lanes.put("a", number)
        await anyio.wait_all_tasks_blocked()
        taken = lanes.take("a", lambda item: item % 2 == 0)
        left = lanes.waiting("a")
        gate.set()

    assert (taken, left, done) == ([2, 4], (1, 3), [0, 1, 3])


async def test_waiting_items_can_be_arranged_anew() -> None:
    done: list[int] = []
    gate = anyio.Event()

    async def handle(key: str, item: int) -> None:
        await gate.wait()
        done.append(item)

    async with anyio.create_task_group() as tasks:
        lanes: Lanes[str, int] = Lanes(tasks, handle, size=3, idle=0.01)
        for number in range(3):
            lanes.put("a", number)
        await anyio.wait_all_tasks_blocked()
        lanes.rearrange("a", [sum(lanes.waiting("a"))])
        lanes.rearrange("b", [9])
        left = lanes.waiting("a")
        gate.set()

    assert (left, done) == ((3,), [0, 3])


async def test_an_idle_lane_ends_and_a_new_one_takes_its_place() -> None:
    done: list[int] = []

    async def handle(key: str, item: int) -> None:
        done.append(item)

    async with anyio.create_task_group() as tasks:
        lanes: Lanes[str, int] = Lanes(tasks, handle, size=1, idle=0.0)
        lanes.put("a", 1)
        await anyio.sleep(0.05)
        left = len(lanes)
        lanes.put("a", 2)

    assert (done, left, len(lanes)) == ([1, 2], 0, 0)
