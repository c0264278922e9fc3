"""Counts what goes through a channel, by wrapping it."""

from __future__ import annotations

from collections import deque
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from octo_lab.bus.events import Watching
from octo_lab.bus.ports import Door, LiveChannel, LivePolicy, Presentation, TurnSink
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import ControlRequest, InboundMessage, OutboundMessage
from octo_lab.core.messages import Usage
from octo_lab.core.replies import ControlReply
from octo_lab.core.turns import TurnSnapshot
from octo_lab.session.abort import abort_reply
from octo_lab.session.commands import is_command

COMMANDS = 256  # whose answers may still come


@dataclass(slots=True)
class Tally:
    """Totals since the start; ``errors`` are failed turns and refused messages.

    A command is no message, and what it could not do no error.
    """

    messages: int = 0
    turns: int = 0
    errors: int = 0
    usage: Usage = field(default_factory=Usage)
    commands: deque[str] = field(default_factory=lambda: deque(maxlen=COMMANDS))

    def finished(self, turn: TurnSnapshot) -> None:
        self.turns += 1
        self.usage += turn.usage
        if turn.state == "failed":
            self.errors += 1


@dataclass(frozen=True, slots=True)
class Tallied:
    """A live channel whose messages and turns are counted."""

    channel: LiveChannel
    tally: Tally

    @property
    def name(self) -> str:
        return self.channel.name

    @property
    def live(self) -> LivePolicy:
        return self.channel.live

    @property
    def presentation(self) -> Presentation:
        return self.channel.presentation

    async def run(self, door: Door) -> None:
        await self.channel.run(_TalliedDoor(door, self.tally))

    async def send(self, message: OutboundMessage) -> None:
        if message.failed and message.reply_to not in self.tally.commands:
            self.tally.errors += 1
        await self.channel.send(message)

    async def open_turn(self, address: ChatAddress, turn: TurnSnapshot) -> TurnSink:
        return _TalliedSink(await self.channel.open_turn(address, turn), self.tally)


@dataclass(frozen=True, slots=True)
class _TalliedDoor:
    door: Door
    tally: Tally

    async def publish(self, message: InboundMessage) -> None:
        command = is_command(message.text) or bool(abort_reply(message.text))
        if command:
            self.tally.commands.append(message.id)
        await self.door.publish(message)
        self.tally.messages += not command

    async def control(self, request: ControlRequest) -> ControlReply:
        return await self.door.control(request)

    def watch(self, address: ChatAddress, message_id: str) -> AbstractContextManager[Watching]:
        return self.door.watch(address, message_id)


@dataclass(frozen=True, slots=True)
class _TalliedSink:
    sink: TurnSink
    tally: Tally

    async def update(self, turn: TurnSnapshot) -> None:
        await self.sink.update(turn)

    async def finish(self, turn: TurnSnapshot) -> None:
        await self.sink.finish(turn)
        self.tally.finished(turn)

    async def abort(self) -> None:
        await self.sink.abort()
