from __future__ import annotations

import anyio
import pytest

from octo_lab.testing.virtual_time import VirtualTime
from octo_lab.tools.sandbox.attended import _attend
from octo_lab.tools.sandbox.lines import NewestLines
from octo_lab.tools.sandbox.stop import Stop

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, object]]:
    return "asyncio", {"loop_factory": VirtualTime}


async def test_a_silent_program_is_told_to_be_alive_each_minute() -> None:
    lines, told, stop = NewestLines(), list[tuple[float, str]](), Stop()

    async def speak() -> None:
        await anyio.sleep(100.1)
        lines.add(b"half way\n")

    async with anyio.create_task_group() as tasks:
        began = anyio.current_time()
        tasks.start_soon(speak)
        with anyio.move_on_after(200):
            await _attend(stop, lines, lambda line: told.append((anyio.current_time(), line)))
    stop.close()

    assert [(round(time - began), line) for time, line in told] == [
        (60, ""),
        (100, "half way"),
        (160, ""),
    ]
    assert stop.asked
