"""Runs a program in a thread while its owner waits: reports lines, and ends it when cancelled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import anyio
import anyio.lowlevel
import anyio.to_thread

from octo_lab.tools.exec_env import Executed, Execution
from octo_lab.tools.sandbox.lines import NewestLines
from octo_lab.tools.sandbox.stop import Stop

AT_ONCE = 32
_REPORT_SECONDS = 0.25
_ALIVE_SECONDS = 60.0
Run = Callable[[Execution, Stop], Executed]


async def attended(run: Run, execution: Execution, slots: anyio.CapacityLimiter) -> Executed:
    """A cancelled caller waits until the thread has ended the program, which it does at once."""
    lines, stop = NewestLines(), Stop()
    heard = replace(execution, listen=_both(execution.listen, lines.add))
    failure: Exception | None = None
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_attend, stop, lines, execution.report)
            try:
                ran = await anyio.to_thread.run_sync(run, heard, stop, limiter=slots)
            except Exception as exc:  # noqa: BLE001 - raised below, where no group wraps it
                failure = exc
            tasks.cancel_scope.cancel()
    finally:
        stop.close()
    if failure is not None:
        raise failure
    await anyio.lowlevel.checkpoint_if_cancelled()
    return ran


async def _attend(stop: Stop, lines: NewestLines, report: Callable[[str], None] | None) -> None:
    """Show the newest lines now and then, and each minute of silence that the program is alive:
    how long it may be silent is its own timeout's. When this is cancelled, it is ended.
    """
    heard = anyio.current_time()
    try:
        while True:
            await anyio.sleep(_REPORT_SECONDS)
            newest, now = lines.take(), anyio.current_time()
            if not newest and now - heard < _ALIVE_SECONDS:
                continue
            heard = now
            if report is not None:
                for line in newest or ("",):
                    report(line)
    finally:
        stop.ask()


def _both(
    first: Callable[[bytes], None] | None, second: Callable[[bytes], None]
) -> Callable[[bytes], None]:
    def listen(data: bytes) -> None:
        if first is not None:
            first(data)
        second(data)

    return listen
