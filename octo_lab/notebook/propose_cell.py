"""The ``propose_cell`` tool: code for a cell, which only the person puts there."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

from IPython.core.interactiveshell import InteractiveShell
from pydantic import BaseModel, ConfigDict, Field

from octo_lab.core.errors import ToolFailed
from octo_lab.core.mail import AnswerProposal
from octo_lab.notebook.attach import CELL, typed_cells
from octo_lab.notebook.bridge import Bridge
from octo_lab.notebook.cell_turn import CellTurn
from octo_lab.notebook.proposals import ANSWER_SECONDS, SEEN_SECONDS, Proposals
from octo_lab.tools.model_tool import model_tool
from octo_lab.tools.tool import Tool, ToolContext

SHOWN_ONLY = "Shown only: nobody can put it into a cell here. The code stands in the turn."
NO_ANSWER = "The person has not answered. The code stays shown in the turn; go on without it."


class ProposeArgs(BaseModel):
    """What the tool takes."""

    model_config = ConfigDict(extra="forbid")

    code: str = Field(min_length=1, description="The whole source of the cell.")
    action: Literal["insert", "edit"] = Field(
        default="insert", description="A new cell below, or this code in place of a cell's."
    )
    cell: str = Field(
        default="", description="@cell3 or In[3]: that cell; empty: the one that asked."
    )
    run: bool = Field(default=False, description="Suggest to run it at once.")


def propose_cell_tool(
    shell: InteractiveShell,
    bridge: Callable[[], Bridge],
    proposals: Proposals,
    cell_of: Callable[[str], CellTurn | None],
) -> Tool:
    """The tool for one kernel. ``cell_of`` tells which running cell shows a turn, by its id."""

    async def propose_cell(ctx: ToolContext, args: ProposeArgs) -> str:
        """Propose code for a cell of the notebook: a new one below, or a change of a cell.

        The person sees it with buttons and decides: insert, run, change or dismiss it. The
        result says what they did. Use it for code that is to stay in the notebook; nothing has
        run when it returns.
        """
        _check_cell(shell, args.cell)
        cell = cell_of(ctx.turn_id)
        if cell is not None and cell.headless:
            return SHOWN_ONLY
        answer = await proposals.ask(ctx.call_id)
        if answer is not None and answer.answer != "put":
            return _told(args, answer)
        if cell is None or not cell.redrawn:
            return SHOWN_ONLY
        return await _put((answer and answer.code) or args.code)

    async def _put(code: str) -> str:
        """As the next input, which the front end makes a cell of when the running one ends."""
        await bridge().call(partial(shell.set_next_input, code))
        return "It is put into a new cell below when this one ends; it has not run."

    return model_tool(
        propose_cell,
        ProposeArgs,
        name="propose_cell",
        group="notebook",
        source="workspace",
        channels=frozenset({"notebook"}),
        detail=lambda args: str(args.code),
        timeout=SEEN_SECONDS + ANSWER_SECONDS + 10,
    )


def _check_cell(shell: InteractiveShell, name: str) -> None:
    if not name:
        return
    match = CELL.match(name.removeprefix("@"))
    last = len(typed_cells(shell)) - 1
    if match is None or not 0 < int(match[1]) <= last:
        hint = f"@cell1 to @cell{last}, or leave it out for the cell that asked"
        raise ToolFailed(f"There is no cell {name!r}", hint=hint)


def _told(args: ProposeArgs, answer: AnswerProposal) -> str:
    match answer.answer:
        case "dismissed":
            return "The person dismissed it. Do not propose the same again."
        case "copied":
            return "The person copied the code; no cell was changed."
        case "shown" | "put":
            return NO_ANSWER
    where = "a new cell" if args.action == "insert" else args.cell or "the cell that asked"
    what = f"The person accepted it: it is in {where}"
    started = answer.answer == "ran"
    ran = " and runs as soon as the kernel is free." if started else ", and has not run."
    changed = answer.code and answer.code != args.code
    return f"{what}{ran}" + (f"\nThey changed it first:\n{answer.code}" if changed else "")
