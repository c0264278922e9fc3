"""Asks the person by ``input()`` whether a tool may run, where no button can be pressed."""

from __future__ import annotations

from concurrent.futures import Future
from functools import partial
from typing import Any

import anyio

from octo_lab.core.events import Decision
from octo_lab.core.mail import Settle
from octo_lab.core.text import head_and_tail
from octo_lab.core.turns import ToolBlock
from octo_lab.notebook.bridge import Bridge
from octo_lab.notebook.cell_turn import CellTurn
from octo_lab.notebook.main_call import Interrupted

BUTTONS_SECONDS = 3.0  # for a front end to show buttons, before input() is used instead
_ANSWERS: dict[str, Decision] = {
    **dict.fromkeys(("o", "once", "y", "yes"), "once"),
    **dict.fromkeys(("s", "session"), "session"),
    **dict.fromkeys(("a", "always"), "always"),
}


def ask_by_input(bridge: Bridge, cell: CellTurn, block: ToolBlock) -> None:
    """Put the question on the kernel's main thread; its answer settles the approval."""
    call = bridge.post(partial(_question, block))
    call.future.add_done_callback(partial(_settle, cell, block.approval_id))


async def ask_unless_buttons(bridge: Bridge, cell: CellTurn, block: ToolBlock) -> None:
    """Give the front end time to show buttons; where there are none, use ``input()``."""
    await anyio.sleep(BUTTONS_SECONDS)
    open_yet = cell.latest is not None and any(
        isinstance(b, ToolBlock) and b.state == "asking" and b.approval_id == block.approval_id
        for b in cell.latest.blocks
    )
    if open_yet and not cell.has_buttons and not cell.done.done():
        ask_by_input(bridge, cell, block)


def _question(block: ToolBlock) -> Decision:
    detail = head_and_tail(block.detail or block.arguments, 4000)
    prompt = f"Octo wants to run {block.name} ({block.risk}):\n{detail}\n"
    answer = input(f"{prompt}Allow it? [o]nce, for this [s]ession, [a]lways, [d]eny: ")
    return _ANSWERS.get(answer.strip().lower(), "deny")


def _settle(cell: CellTurn, approval_id: str, answered: Future[Any]) -> None:
    error = answered.exception()
    decision: Decision = "deny" if error else answered.result()
    cell.control(Settle(approval_id=approval_id, decision=decision))
    if isinstance(error, Interrupted) and error.by_person:
        cell.interrupted = True
        cell.stop()
