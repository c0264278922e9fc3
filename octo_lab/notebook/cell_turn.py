"""One question of one cell: where its turn is shown, and who waits for it."""

from __future__ import annotations

import contextvars
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from octo_lab.core.errors import DeliveryRejected
from octo_lab.core.mail import Control, InboundMessage, OutboundMessage, Stop
from octo_lab.core.turns import ToolBlock, TurnSnapshot
from octo_lab.notebook.display import Shown, open_display
from octo_lab.notebook.file_output import file_bundle
from octo_lab.notebook.panels.output import Output
from octo_lab.notebook.turn import Answered

log = logging.getLogger(__name__)
Asked = Callable[["CellTurn", ToolBlock], None]


class CellTurn:
    """Made on the cell's thread, in its context; shown from any thread, one call at a time.

    ``opened`` is done once the turn is on display, ``done`` once it has ended (its display
    included). ``quiet`` shows nothing; ``form`` is that of ``open_display``.
    """

    def __init__(
        self,
        message: InboundMessage,
        *,
        quiet: bool,
        form: str = "auto",
        on_control: Callable[[Control], Future[Any]],
        on_question: Asked,
    ) -> None:
        self.message = message
        self.context = contextvars.copy_context()
        self.opened: Future[None] = Future()
        self.done: Future[Answered] = Future()
        self.latest: TurnSnapshot | None = None
        self.interrupted = False
        self.quiet = quiet
        self._form = form
        self._on_control = on_control
        self._on_question = on_question
        self._shown: Shown | None = None
        self._questions: set[str] = set()
        self._ending = threading.RLock()

    @property
    def headless(self) -> bool:
        return self.message.options.headless

    @property
    def redrawn(self) -> bool:
        """Whether a notebook shows it, and no terminal."""
        return self._form != "terminal"

    @property
    def has_buttons(self) -> bool:
        """Whether a front end shows the turn with buttons that work."""
        return bool(getattr(self._shown, "connected", False))

    def control(self, control: Control) -> Future[Any]:
        return self._on_control(control)

    def stop(self) -> None:
        self.control(Stop(message_id=self.message.id))

    def show(self, turn: TurnSnapshot) -> None:
        """Show a running turn, in the cell that asked."""
        self.latest = turn
        if not self.quiet:
            self.context.copy().run(self._draw, turn)
        with self._ending:
            if not self.opened.done():
                self.opened.set_result(None)
        self._look_for_questions(turn)

    def _draw(self, turn: TurnSnapshot) -> None:
        if self._shown is None:
            on_control: Any = self.control
            self._shown = open_display(
                turn, headless=self.headless, on_control=on_control, form=self._form
            )
        else:
            self._shown.update(turn)

    def shows(self, turn_id: str) -> bool:
        """Whether the turn is on display here."""
        return not self.quiet and self.latest is not None and self.latest.turn_id == turn_id

    def attach(self, message: OutboundMessage) -> None:
        """Show the files of a message below the turn."""
        for media in message.media:
            bundle = file_bundle(media, message.text)
            self.context.copy().run(lambda shown: Output().put(shown, update=False), bundle)

    def _look_for_questions(self, turn: TurnSnapshot) -> None:
        for block in turn.blocks:
            if not isinstance(block, ToolBlock) or block.state != "asking":
                continue
            if block.approval_id not in self._questions:
                self._questions.add(block.approval_id)
                self._on_question(self, block)

    def finish(self, turn: TurnSnapshot) -> None:
        """Show the end; whoever waits goes on, even if it could not be shown."""
        try:
            if not self.quiet:
                self.context.copy().run(self._draw_end, turn)
        except Exception as exc:
            log.exception("turn %s could not be shown", turn.turn_id)
            raise DeliveryRejected(f"the cell's output: {exc}") from exc
        finally:
            self.end(turn)

    def _draw_end(self, turn: TurnSnapshot) -> None:
        if self._shown is None:
            self._draw(turn)
        if self._shown is not None:
            self._shown.finish(turn)

    def end(self, said: Answered) -> None:
        """Let whoever waits go on; a later end changes nothing."""
        if isinstance(said, TurnSnapshot):
            self.latest = said
        with self._ending:
            if not self.opened.done():
                self.opened.set_result(None)
            if not self.done.done():
                self.done.set_result(said)

    def fail(self, message: str, hint: str = "") -> None:
        """End it without a turn: it was refused."""
        address = self.message.address
        reply_to = self.message.id
        self.end(
            OutboundMessage(
                address=address, text=message, reply_to=reply_to, failed=True, hint=hint
            )
        )
