"""Asks: from options and prompt to a turn in the cell, and what is left when it has ended."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial

from IPython.core.interactiveshell import InteractiveShell

from octo_lab.core.errors import UsageError
from octo_lab.core.mail import InboundMessage, OutboundMessage, RunCommand
from octo_lab.core.turns import ToolBlock
from octo_lab.notebook.cards import show_text
from octo_lab.notebook.cell_turn import CellTurn
from octo_lab.notebook.compose import Given, ask_options, compose
from octo_lab.notebook.fix import fix_request
from octo_lab.notebook.host import SENDER, Runtime
from octo_lab.notebook.interrupted import TurnCancelled, TurnInterrupted
from octo_lab.notebook.options import Parsed
from octo_lab.notebook.outcome import keep_outcome
from octo_lab.notebook.place import Place, this_run
from octo_lab.notebook.private_variables import PrivateVariables
from octo_lab.notebook.questions import ask_by_input, ask_unless_buttons
from octo_lab.notebook.turn import Turn
from octo_lab.notebook.waiting import wait_awaited, wait_blocking

OPEN_SECONDS = 30.0  # for a background turn to appear in its cell before the cell ends


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One ask under way."""

    runtime: Runtime
    cell: CellTurn
    turn: Turn
    given: Given
    blocking: bool

    @property
    def in_background(self) -> bool:
        return bool(self.given.get("bg"))

    async def wait(self) -> None:
        """Await the end (in the background: until it is on display)."""
        if self.in_background:
            await asyncio.wait({asyncio.wrap_future(self.cell.opened)}, timeout=OPEN_SECONDS)
            return
        await wait_awaited(self.cell, ticking=_ticking(self.runtime))

    def block(self) -> None:
        if self.in_background:
            self.cell.opened.result(OPEN_SECONDS)
        else:
            wait_blocking(self.cell, self.runtime.bridge)


class Asking:
    """Asks of one shell; knows which cells have asked, and how often, in the running request."""

    def __init__(self, shell: InteractiveShell, private: PrivateVariables) -> None:
        self._shell = shell
        self._private = private
        self._request = ""
        self._count = 0
        self._in_own_dialog = False

    def begin(self, runtime: Runtime, parsed: Parsed, place: Place, *, blocking: bool) -> Question:
        """Publish the question; its turn will appear in the running cell. Raises UsageError."""
        parsed = fix_request(parsed)
        said = compose(self._shell, parsed)
        if not said.text.strip():
            raise UsageError("There is nothing to ask", hint="write a prompt: %octo PROMPT")
        prompt = "" if parsed.given.get("raw") else parsed.text
        options = ask_options(self._shell, parsed.given, place, self._slot(place))
        self.open_own_dialog(runtime, place, parsed.given)
        message = InboundMessage(
            address=runtime.address,
            sender_id=SENDER,
            text=said.text,
            attachments=said.attachments,
            options=options,
            notices=said.notices,
            taint=self._private.brought(prompt, said.attachments),
        )
        cell = CellTurn(
            message,
            quiet=bool(parsed.given.get("quiet")),
            form=parsed.given.get("format", "auto") if place.front_end else "terminal",
            on_control=runtime.control,
            on_question=partial(_ask_person, runtime, blocking and not parsed.given.get("bg")),
        )
        runtime.ask(cell)
        turn = Turn(
            said.text,
            cell.done,
            running=cell,
            until_end=partial(_until_end, cell, ticking=_ticking(runtime)),
            headless=place.headless,
            shown_here=_never if cell.quiet else this_run(self._shell),
        )
        return Question(
            runtime=runtime, cell=cell, turn=turn, given=parsed.given, blocking=blocking
        )

    def _slot(self, place: Place) -> str:
        """The cell's id; the second ask of one run of a cell has a place of its own."""
        if not place.cell:
            return ""
        self._count = self._count + 1 if place.request == self._request else 1
        self._request = place.request
        return place.cell if self._count == 1 else f"{place.cell}#{self._count}"

    def open_own_dialog(self, runtime: Runtime, place: Place, given: Given) -> None:
        """A headless run without cell ids begins anew, so that each run means the same."""
        if self._in_own_dialog or not place.headless or place.cell or given.get("session"):
            return
        self._in_own_dialog = True
        runtime.control(RunCommand(line="/new")).result()

    def conclude(self, question: Question, *, quiet_end: bool) -> Turn:
        """The turn, once waited for. Raises UsageError for a refusal, TurnInterrupted."""
        if question.in_background:
            return question.turn
        _tell(question.cell)
        if question.cell.interrupted:
            _end_cell(self._shell, question, quiet_end=quiet_end)
        headless = question.cell.headless
        keep_outcome(self._shell, question.turn, question.given, headless=headless)
        if question.given.get("quiet") and question.turn.error:
            raise UsageError(question.turn.error)
        return question.turn


def _ticking(runtime: Runtime) -> bool:
    kernel = getattr(runtime.shell, "kernel", None)
    return not getattr(kernel, "wakes_on_interrupt", False)


async def _until_end(cell: CellTurn, *, ticking: bool) -> None:
    """Await a turn that an earlier cell began; an interrupt ends both."""
    await wait_awaited(cell, ticking=ticking)
    if cell.interrupted:
        raise TurnCancelled


def _never() -> bool:
    return False


def _tell(cell: CellTurn) -> None:
    said = cell.done.result()
    if isinstance(said, OutboundMessage):
        if said.failed:
            raise UsageError(said.text, hint=said.hint)
        show_text(said.text)


def _end_cell(shell: InteractiveShell, question: Question, *, quiet_end: bool) -> None:
    """After an interrupt: nothing more of this cell runs, nor of what is queued behind it."""
    if not quiet_end:
        raise TurnInterrupted if question.blocking else TurnCancelled
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        task.uncancel()
    kernel = getattr(shell, "kernel", None)
    abort = getattr(kernel, "_abort_queues", None)
    if kernel is not None and abort is not None:
        abort(kernel.get_parent("shell").get("header", {}).get("subshell_id"))


def _ask_person(runtime: Runtime, blocking: bool, cell: CellTurn, block: ToolBlock) -> None:
    """A tool waits for a yes. Buttons cannot work while a call blocks the kernel."""
    if cell.headless:
        return
    if blocking:
        ask_by_input(runtime.bridge, cell, block)
    else:
        runtime.submit(ask_unless_buttons, runtime.bridge, cell, block)
