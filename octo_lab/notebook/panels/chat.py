"""The chat panel: one conversation view on the notebook's own chat."""

from __future__ import annotations

import logging
from threading import Event, RLock
from typing import Any

from octo_lab.core.errors import OctoError, UsageError
from octo_lab.core.frames import Json, patch_frame, turn_frame
from octo_lab.core.ids import new_id
from octo_lab.core.mail import ControlReply, GetHistory, History, OutboundMessage
from octo_lab.core.turns import TurnSnapshot
from octo_lab.core.wire import decode_control, decode_options, message_frame, reply_json
from octo_lab.notebook.panels.backend import PanelBackend
from octo_lab.notebook.panels.widget import VIEW_MIME, Widget, is_built
from octo_lab.notebook.render import render_conversation

_log = logging.getLogger(__name__)
_HISTORY_WAIT = 3.0
_FALLBACK_TURNS = 30


class ChatPanel:
    """Shown by the display of the object; keeps no conversation of its own.

    A view that (re)appears asks the runtime for sessions and history, so a reloaded page
    shows what the runtime knows. Safe to call from any thread.
    """

    def __init__(self, backend: PanelBackend) -> None:
        self._backend = backend
        self._lock = RLock()
        self._running: dict[str, TurnSnapshot] = {}
        self._widget = Widget("chat", self._receive) if is_built("chat") else None
        self._unlisten = backend.listen(self._hear)

    def close(self) -> None:
        self._unlisten()
        if self._widget:
            self._widget.close()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        history = self._history()
        bundle = dict(render_conversation(history.title or "new dialog", history.turns))
        return {**bundle, VIEW_MIME: self._widget.view} if self._widget else dict(bundle)

    def _history(self) -> History:
        """What the saved notebook will show; empty if the runtime does not answer in time."""
        replies: list[ControlReply | OctoError] = []
        arrived = Event()

        def answer(reply: ControlReply | OctoError) -> None:
            replies.append(reply)
            arrived.set()

        self._backend.control(GetHistory(limit=_FALLBACK_TURNS), answer)
        arrived.wait(_HISTORY_WAIT)
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
