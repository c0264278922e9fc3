"""One turn in one widget: sends what changed, and the whole to a view that asks for it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import RLock

from octo_lab.core.errors import UsageError
from octo_lab.core.frames import Json, patch_frame, turn_frame
from octo_lab.core.mail import Control
from octo_lab.core.turns import ToolBlock, TurnSnapshot
from octo_lab.core.wire import decode_control
from octo_lab.notebook.panels.pace import Pace
from octo_lab.notebook.panels.widget import Widget

_log = logging.getLogger(__name__)


class LiveTurn:
    """Safe to call from any thread.

    Until a view says hello (it cannot while a cell blocks the kernel) whole frames go out at
    an adaptive pace; afterwards each update costs only what changed.
    """

    def __init__(self, turn: TurnSnapshot, on_control: Callable[[Control], None]) -> None:
        self._lock = RLock()
        self._on_control = on_control
        self._latest = turn
        self._sent = turn
        self._pace = Pace(0.3)
        self.connected = False
        self._widget = Widget("turn", self._receive)

    @property
    def view(self) -> Json:
        return self._widget.view

    def show(self, turn: TurnSnapshot) -> None:
        with self._lock:
            before, self._latest = self._sent, turn
            if self.connected:
                self._sent = turn
                self._widget.send(patch_frame(before, turn))
            elif self._pace.due or shape(before) != shape(turn):
                self._send_whole()

    def close(self) -> None:
        self._widget.close()

    def _send_whole(self) -> None:
        with self._pace.spend():
            self._sent = self._latest
            self._widget.send(turn_frame(self._latest))

    def _receive(self, message: Json) -> None:
        if message.get("type") == "hello":
            with self._lock:
                self.connected = True
                self._send_whole()
        elif message.get("type") == "control":
            self._control(message)

    def _control(self, message: Json) -> None:
        try:
            control = decode_control(str(message.get("name")), message.get("args") or {})
        except UsageError as exc:
            _log.warning("a turn view sent a control that does not fit: %s", exc)
            return
        self._on_control(control)


def shape(turn: TurnSnapshot) -> tuple[object, ...]:
    """What of a turn must be seen at once: its state, its blocks, the state of each call."""
    return turn.state, *(b.state if isinstance(b, ToolBlock) else type(b) for b in turn.blocks)
