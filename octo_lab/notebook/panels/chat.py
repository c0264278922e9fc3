"""The chat panel: one conversation view on the notebook's own chat."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Event, RLock
from typing import Any

from octo_lab.core.errors import OctoError, UsageError
from octo_lab.core.frames import Json, patch_frame, turn_frame
from octo_lab.core.ids import new_id
from octo_lab.core.mail import GetHistory, OutboundMessage
from octo_lab.core.replies import ControlReply, History
from octo_lab.core.turns import TurnSnapshot
from octo_lab.core.wire import decode_control, decode_options, message_frame, reply_json
from octo_lab.notebook.panels.backend import PanelBackend
from octo_lab.notebook.panels.output import Output
from octo_lab.notebook.panels.widget import VIEW_MIME, Widget, is_built
from octo_lab.notebook.render import render_conversation
from octo_lab.notebook.running import close_before_exit

_log = logging.getLogger(__name__)
_HISTORY_WAIT = 3.0
_CLOSE_WAIT = 1.0
_FALLBACK_TURNS = 30


class ChatPanel:
    """Shown by the display of the object; keeps no conversation of its own.

    A view that (re)appears asks the runtime for sessions and history, so a reloaded page
    shows what the runtime knows. Safe to call from any thread. ``headless``: nobody is there
    to use a view; the conversation so far is shown.
    """

    def __init__(self, backend: PanelBackend, *, headless: bool = False) -> None:
        self._backend = backend
        self._headless = headless
        self._lock = RLock()
        self._running: dict[str, TurnSnapshot] = {}
        self._widget = _open_view(self._receive, headless=headless)
        self._outputs: list[Output] = []
        self._unlisten = backend.listen(self._hear)

    def close(self) -> None:
        """Leave the conversation as it stands, as a static output; later calls do nothing."""
        outputs, self._outputs = self._outputs, []
        for output in outputs:
            output.put(self._static(_CLOSE_WAIT), update=True)
        self._unlisten()
        if self._widget:
            self._widget.close()
            self._widget = None

    def _ipython_display_(self) -> None:
        output, bundle = Output(), self._static(_HISTORY_WAIT)
        if self._widget:
            if not self._outputs:
                close_before_exit(self.close)
            self._outputs.append(output)
            bundle[VIEW_MIME] = self._widget.view
        output.put(bundle, update=False)

    def _static(self, wait: float) -> dict[str, Any]:
        history = self._history(wait)
        title = history.title or "new session"
        return dict(render_conversation(title, history.turns, headless=self._headless))

    def _history(self, wait: float) -> History:
        """What the saved notebook will show; empty if the runtime does not answer in time."""
        replies: list[ControlReply | OctoError] = []
        arrived = Event()

        def answer(reply: ControlReply | OctoError) -> None:
            replies.append(reply)
            arrived.set()

        try:
            self._backend.control(GetHistory(limit=_FALLBACK_TURNS), answer)
        except OctoError as exc:
            _log.info("no history for the panel's static output: %s", exc)
        else:
            arrived.wait(wait)
        if replies and isinstance(replies[0], History):
            return replies[0]
        return History(session="", title="", turns=())

    def _hear(self, said: TurnSnapshot | OutboundMessage) -> None:
        if self._widget is None:
            return
        if isinstance(said, OutboundMessage):
            self._widget.send(message_frame(said))
            return
        with self._lock:
            self._widget.send(self._frame(said))

    def _frame(self, turn: TurnSnapshot) -> Json:
        before = self._running.pop(turn.turn_id, None)
        if not turn.terminal:
            self._running[turn.turn_id] = turn
        return patch_frame(before, turn) if before else turn_frame(turn)

    def _receive(self, message: Json) -> None:
        try:
            self._handle(message)
        except OctoError as exc:
            self._send_reply(str(message.get("id", "")), exc)

    def _handle(self, message: Json) -> None:
        match message:
            case {"type": "ask", "text": str(text)}:
                options = decode_options(message.get("options") or {})
                self._backend.ask(text, options, message_id=str(message.get("id") or new_id()))
            case {"type": "control", "id": str(ident), "name": str(name)}:
                control = decode_control(name, message.get("args") or {})
                self._backend.control(control, lambda reply: self._send_reply(ident, reply))
            case {"type": "whole", "turn_id": str(turn_id)}:
                self._send_whole(turn_id)
            case _:
                raise UsageError(f"No message of type {message.get('type')!r}")

    def _send_whole(self, turn_id: str) -> None:
        with self._lock:
            turn = self._running.get(turn_id)
            if turn and self._widget:
                self._widget.send(turn_frame(turn))

    def _send_reply(self, ident: str, reply: ControlReply | OctoError) -> None:
        if self._widget is None:
            return
        if isinstance(reply, OctoError):
            body = {"kind": "told", "text": reply.message, "failed": True, "hint": reply.hint}
        else:
            body = reply_json(reply)
        self._widget.send({"type": "reply", "id": ident, "reply": body})


def _open_view(receive: Callable[[Json], None], *, headless: bool) -> Widget | None:
    return Widget("chat", receive) if is_built("chat") and not headless else None
