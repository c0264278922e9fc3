"""The channel of a terminal that runs octo_lab in its own process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import anyio

from octo_lab.bus.ports import Door, LivePolicy, Presentation, TurnSink
from octo_lab.channels.inbox import Inbox
from octo_lab.channels.listeners import Listeners
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import OutboundMessage
from octo_lab.core.turns import TurnSnapshot


class TerminalChannel:
    """A live channel; its screens call ``listen``, then speak through the app's door."""

    name = "terminal"
    live = LivePolicy(interval=0.05)
    presentation = Presentation()
    largest_file = 10_000_000

    def __init__(self) -> None:
        self._listeners = Listeners()

    @contextmanager
    def listen(self, chat_id: str) -> Iterator[Inbox]:
        with self._listeners.listen(chat_id) as inbox:
            yield inbox

    async def run(self, door: Door) -> None:
        """A screen speaks through the door itself; there is nothing to poll."""
        await anyio.sleep_forever()

    async def send(self, message: OutboundMessage) -> None:
        self._listeners.send(message)

    async def open_turn(self, address: ChatAddress, turn: TurnSnapshot) -> TurnSink:
        return self._listeners.open_turn(address, turn)
