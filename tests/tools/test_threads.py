from __future__ import annotations

import threading

import anyio
import anyio.to_thread
import pytest

from octo_lab.core.errors import ToolFailed
from octo_lab.tools.threads import Threads

pytestmark = pytest.mark.anyio


async def test_calls_may_run_side_by_side_and_errors_come_through() -> None:
    both = threading.Barrier(2, timeout=10)
    threads = Threads("f")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(threads, both.wait)
        tasks.start_soon(threads, both.wait)
    with pytest.raises(ZeroDivisionError):
        await threads(lambda: 1 // 0)

    assert await threads(lambda: "ok") == "ok"


async def test_a_call_that_was_left_running_is_never_overlapped() -> None:
    begun, go_on, threads = threading.Event(), threading.Event(), Threads("f")

    def slow() -> None:
        begun.set()
        go_on.wait(10)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(threads, slow)
        await anyio.to_thread.run_sync(begun.wait)
        tasks.cancel_scope.cancel()
    with pytest.raises(ToolFailed, match="'f' still runs: an earlier call was stopped"):
        await threads(lambda: "overlaps")
    go_on.set()

    assert await retried(threads) == "alone"


async def test_a_call_that_was_cancelled_before_it_began_leaves_nothing() -> None:
    threads = Threads("f")

    with anyio.CancelScope() as scope:
        scope.cancel()
        await threads(lambda: "never")

    assert await threads(lambda: "ok") == "ok"


async def retried(threads: Threads) -> object:
    """The thread says that it has ended a moment before it has."""
    for _ in range(500):
        try:
            return await threads(lambda: "alone")
        except ToolFailed:
            await anyio.sleep(0.01)
    return None
