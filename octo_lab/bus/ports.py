"""What the bus needs from a channel, and what a channel needs from the bus."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from octo_lab.bus.events import Watching
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import ControlRequest, InboundMessage, OutboundMessage
from octo_lab.core.replies import ControlReply
from octo_lab.core.turns import TurnSnapshot


class Door(Protocol):
    """The one way in, handed to every channel. Raises Rejected when a queue is full."""

    async def publish(self, message: InboundMessage) -> None: ...

    async def control(self, request: ControlRequest) -> ControlReply: ...

    def watch(self, address: ChatAddress, message_id: str) -> AbstractContextManager[Watching]:
        """Watch what the turn of a message does, event by event; begin before publishing it."""
        ...


class Channel(Protocol):
    """Translates one platform's messages; never sees sessions or models."""

    @property
    def name(self) -> str: ...

    async def run(self, door: Door) -> None:
        """Listen until cancelled. Cancellation is the only way to stop."""
        ...

    async def send(self, message: OutboundMessage) -> None:
        """Send once; raise DeliveryError (try again) or DeliveryRejected (never)."""
        ...


@runtime_checkable
class FileChannel(Channel, Protocol):
    """A channel whose ``send`` brings the files of a message, too."""

    @property
    def largest_file(self) -> int:
        """In bytes."""
        ...


class TurnSink(Protocol):
    """Shows one turn in one chat; owns what it made there (a message to edit, a widget)."""

    async def update(self, turn: TurnSnapshot) -> None:
        """Show a running turn; best effort, intermediate snapshots may be skipped."""
        ...

    async def finish(self, turn: TurnSnapshot) -> None:
        """Show the terminal snapshot; raise DeliveryError (try again) or DeliveryRejected."""
        ...

    async def abort(self) -> None:
        """Clean up when the gateway closes before the turn ended; idempotent."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Presentation:
    """What of a turn may leave the core for a channel."""

    reasoning: bool = True
    tool_detail: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class LivePolicy:
    """How often a running turn is shown: seconds between updates, ``None`` for final only."""

    interval: float | None = 0.08


@runtime_checkable
class LiveChannel(Channel, Protocol):
    """A channel that can show a turn while it runs."""

    @property
    def live(self) -> LivePolicy: ...

    @property
    def presentation(self) -> Presentation: ...

    async def open_turn(self, address: ChatAddress, turn: TurnSnapshot) -> TurnSink:
        """Begin to show a turn, from its first snapshot on."""
        ...
