from __future__ import annotations

import anyio
import pytest

from octo_lab.bus.latest import Latest

pytestmark = pytest.mark.anyio


async def test_a_reader_sees_the_newest_value_and_skips_the_rest() -> None:
    value = [0]
    latest: Latest[int] = Latest(lambda: value[0])
    for number in (1, 2, 3):
        value[0] = number
        latest.touch()

    seen = await latest.newer(0)

    assert (seen, latest.get()) == (3, 3)


async def test_a_value_is_built_only_when_somebody_looks() -> None:
    numbers = iter(range(10))
    latest: Latest[int] = Latest(lambda: next(numbers))
    for _ in range(100):
        latest.touch()

    assert latest.get() == 0


async def test_waiting_readers_wake_up_on_the_next_version_and_at_the_end() -> None:
    latest: Latest[None] = Latest(lambda: None)
    woken: list[int] = []

    async def read() -> None:
        woken.append(await latest.newer(0))
        await latest.ended()
        woken.append(latest.version)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(read)
        await anyio.wait_all_tasks_blocked()
        latest.touch()
        await anyio.wait_all_tasks_blocked()
        latest.end()

    assert woken == [1, 1, 2, 2]


async def test_after_the_end_nobody_waits() -> None:
    latest: Latest[None] = Latest(lambda: None)
    latest.end()

    with anyio.fail_after(1):
        await latest.ended()
        assert await latest.newer(1) == 1
