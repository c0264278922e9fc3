"""Channels that keep what they are told in memory: one shows turns live, one is plain."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import anyio

from octo_lab.bus.ports import Door, LivePolicy, Presentation
from octo_lab.core.errors import DeliveryError
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import AskOptions, Control, ControlRequest, InboundMessage, OutboundMessage
from octo_lab.core.replies import ControlReply
from octo_lab.core.turns import TurnSnapshot

T = TypeVar("T")


class PlainChannel:
    """A channel with ``send`` alone. ``failures`` are raised by the next sends, in order."""

    def __init__(self, name: str = "plain") -> None:
        self.name = name
        self.sent: list[OutboundMessage] = []
        self.failures: list[DeliveryError] = []
        self.attempts = 0
        self._door: Door | None = None
        self._changed = anyio.Event()

    async def run(self, door: Door) -> None:
        self._door = door
        self._notify()
        await anyio.sleep_forever()

    async def send(self, message: OutboundMessage) -> None:
        self.attempts += 1
        if self.failures:
            raise self.failures.pop(0)
        self.sent.append(message)
        self._notify()

    async def ask(
        self, text: str, options: AskOptions = AskOptions(), *, chat_id: str = "1"
    ) -> InboundMessage:
        """Say something in a chat; returns the message that went in."""
        message = InboundMessage(
            address=ChatAddress(channel=self.name, chat_id=chat_id),
            sender_id="me",
            text=text,
            options=options,
        )
        await (await self._entered()).publish(message)
        return message

    async def control(self, control: Control, *, chat_id: str = "1") -> ControlReply:
        address = ChatAddress(channel=self.name, chat_id=chat_id)
        request = ControlRequest(address=address, control=control, sender_id="me")
        return await (await self._entered()).control(request)

    async def message(self, reply_to: InboundMessage) -> OutboundMessage:
        """Wait for the plain answer to a message."""
        return await self.wait(
            lambda: next((m for m in self.sent if m.reply_to == reply_to.id), None)
        )

    async def wait(self, look: Callable[[], T | None], *, seconds: float = 30.0) -> T:
        """Wait until ``look`` finds something in what this channel was told."""
        with anyio.fail_after(seconds):
            while (found := look()) is None:
                if self._changed.is_set():  # else others wait for it already
                    self._changed = anyio.Event()
                await self._changed.wait()
        return found

    async def _entered(self) -> Door:
        return await self.wait(lambda: self._door)

    def _notify(self) -> None:
        self._changed.set()


class MemoryChannel(PlainChannel):
    """A channel that shows turns while they run.

    ``updates`` and ``finished`` are the snapshots it was shown, ``aborted`` the turns whose
    sink was told to clean up. ``finish_failures`` are raised by the next ``finish`` calls,
    ``delay`` is how long each update takes.
    """

    def __init__(
        self,
        name: str = "memory",
        *,
        live: LivePolicy = LivePolicy(interval=0.01),
        presentation: Presentation = Presentation(),
        delay: float = 0.0,
    ) -> None:
        super().__init__(name)
        self.live = live
        self.presentation = presentation
        self.delay = delay
        self.updates: list[TurnSnapshot] = []
        self.finished: list[TurnSnapshot] = []
        self.aborted: list[str] = []
        self.finish_failures: list[DeliveryError] = []

    async def open_turn(self, address: ChatAddress, turn: TurnSnapshot) -> MemorySink:
        return MemorySink(self, turn.turn_id)

    async def turn(self, message: InboundMessage) -> TurnSnapshot:
        """Wait for the terminal snapshot of the turn that ``message`` started."""
        return await self.wait(
            lambda: next((t for t in self.finished if t.message_id == message.id), None)
        )

    async def running(
        self, message: InboundMessage, when: Callable[[TurnSnapshot], bool] = bool
    ) -> TurnSnapshot:
        """Wait for a running snapshot of that turn for which ``when`` holds."""
        return await self.wait(
            lambda: next(
                (t for t in reversed(self.updates) if t.message_id == message.id and when(t)), None
            )
        )

    def shown(self, turn: TurnSnapshot, *, terminal: bool) -> None:
        (self.finished if terminal else self.updates).append(turn)
        self._notify()


class MemorySink:
    """Shows one turn of a MemoryChannel."""

    def __init__(self, channel: MemoryChannel, turn_id: str) -> None:
        self._channel = channel
        self._turn_id = turn_id

    async def update(self, turn: TurnSnapshot) -> None:
        if self._channel.delay:
            await anyio.sleep(self._channel.delay)
        self._channel.shown(turn, terminal=False)

    async def finish(self, turn: TurnSnapshot) -> None:
        self._channel.attempts += 1
        if self._channel.finish_failures:
            raise self._channel.finish_failures.pop(0)
        self._channel.shown(turn, terminal=True)

    async def abort(self) -> None:
        self._channel.aborted.append(self._turn_id)
