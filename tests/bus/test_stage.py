from __future__ import annotations

import anyio
import pytest

from octo_lab.bus.stage import stage

pytestmark = pytest.mark.anyio


async def test_tasks_get_their_grace_and_are_then_cancelled() -> None:
    ended: list[str] = []

    async def quick() -> None:
        await anyio.sleep(0.01)
        ended.append("quick")

    async def endless() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("endless")

    async with stage(grace=0.2) as tasks:
        tasks.start_soon(quick)
        tasks.start_soon(endless)

    assert ended == ["quick", "endless"]


async def test_without_grace_tasks_end_at_once() -> None:
    ended: list[str] = []

    async def endless() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("endless")

    async with stage() as tasks:
        tasks.start_soon(endless)
        await anyio.wait_all_tasks_blocked()

    assert ended == ["endless"]


async def test_an_error_of_the_block_is_raised_as_it_is_after_the_tasks_ended() -> None:
    ended: list[str] = []

    async def endless() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("endless")

    async def fail() -> None:
        async with stage() as tasks:
            tasks.start_soon(endless)
            await anyio.wait_all_tasks_blocked()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()

    assert ended == ["endless"]


async def test_a_crash_of_a_task_ends_the_block() -> None:
    async def crash() -> None:
        raise ZeroDivisionError

    async def work() -> None:
        async with stage() as tasks:
            tasks.start_soon(crash)
            await anyio.sleep_forever()

    with pytest.raises(ExceptionGroup) as caught:
        await work()

    assert caught.group_contains(ZeroDivisionError)
