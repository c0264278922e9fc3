"""Waits for a cell's turn, awaited or blocking; an interrupt stops the turn."""

from __future__ import annotations

import asyncio
import threading

from octo_lab.core.errors import UsageError
from octo_lab.notebook.bridge import Bridge
from octo_lab.notebook.cell_turn import CellTurn
from octo_lab.notebook.main_call import inside_main_call

STOP_SECONDS = 10.0  # for the turn to end after it was told to stop
TICK = 0.1


async def wait_awaited(cell: CellTurn, *, ticking: bool) -> None:
    """Await the end of the turn on the kernel's loop. Cancelled (an interrupt), it stops the
    turn, waits for its end and marks the cell as interrupted.

    ``ticking``: wake the loop now and then, for a kernel whose interrupt does not wake it.
    """
    ended = asyncio.wrap_future(cell.done)
    try:
        while not ended.done():
            await asyncio.wait({ended}, timeout=TICK if ticking else None)
    except asyncio.CancelledError:
        cell.interrupted = True
        cell.stop()
        await asyncio.wait({ended}, timeout=STOP_SECONDS)
        _give_up(cell)


def wait_blocking(cell: CellTurn, bridge: Bridge) -> None:
    """Block until the turn has ended; on the main thread, serve the bridge meanwhile."""
    if threading.current_thread() is not threading.main_thread():
        cell.done.result()
        return
    cell.done.add_done_callback(lambda _: bridge.wake())
    try:
        bridge.wait(cell.done.done)
    except KeyboardInterrupt:
        cell.interrupted = True
        cell.stop()
        _wait_for_end(cell, bridge)


def _wait_for_end(cell: CellTurn, bridge: Bridge) -> None:
    """A second interrupt ends the wait at once."""
    timer = threading.Timer(STOP_SECONDS, _give_up, [cell])
    timer.daemon = True
    timer.start()
    try:
        bridge.wait(cell.done.done)
    except KeyboardInterrupt:
        _give_up(cell)
    finally:
        timer.cancel()


def _give_up(cell: CellTurn) -> None:
    cell.fail("The turn did not end in time", "it goes on; `%octo /stop` stops it")


def check_may_ask() -> None:
    """Raises UsageError inside a tool: its turn would wait for itself."""
    if inside_main_call():
        raise UsageError(
            "The agent's own code cannot ask the agent", hint="return what the answer needs"
        )
