from __future__ import annotations

import time

import anyio
import pytest

from octo_lab.testing.virtual_time import VirtualTime


@pytest.fixture
def anyio_backend() -> object:
    return "asyncio", {"loop_factory": VirtualTime}


@pytest.mark.anyio
async def test_a_year_passes_in_its_order_and_at_once() -> None:
    real = time.monotonic()
    seen: list[tuple[str, float]] = []

    async def sleeper(name: str, days: int) -> None:
        await anyio.sleep(days * 86_400)
        seen.append((name, anyio.current_time() / 86_400))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(sleeper, "late", 365)
        tasks.start_soon(sleeper, "early", 1)
    with anyio.move_on_after(100) as scope:
        await anyio.sleep_forever()

    assert seen == [("early", 1.0), ("late", 365.0)]
    assert (scope.cancelled_caught, anyio.current_time()) == (True, 365 * 86_400 + 100)
    assert time.monotonic() - real < 60


@pytest.mark.anyio
async def test_what_runs_in_a_thread_is_waited_for() -> None:
    assert await anyio.to_thread.run_sync(lambda: "done") == "done"
