"""The notebook's channel: cells that wait for their turn, and panels that watch them all."""

from __future__ import annotations

from dataclasses import dataclass

import anyio
import anyio.to_thread

from octo_lab.bus.ports import Door, LivePolicy, Presentation, TurnSink
from octo_lab.channels.listeners import Listeners
from octo_lab.core.errors import DeliveryRejected
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import OutboundMessage
from octo_lab.core.turns import TurnSnapshot
from octo_lab.notebook.cell_turn import CellTurn
from octo_lab.notebook.proposals import Proposals

NAME = "notebook"


class NotebookChannel:
    """A live channel. Belongs to the runtime's loop; drawing happens in worker threads."""

    name = NAME
    live = LivePolicy(interval=0.08)
    presentation = Presentation()
    largest_file = 10_000_000

    def __init__(self) -> None:
        self.listeners = Listeners()
        self.proposals = Proposals()
        self._cells: dict[str, CellTurn] = {}

    def expect(self, cell: CellTurn) -> None:
        """The turn of this message will be shown in this cell."""
        self._cells[cell.message.id] = cell

    def newest(self) -> CellTurn | None:
        """The cell that asked last and still waits."""
        return next(reversed(self._cells.values()), None)

    def cell_of(self, turn_id: str) -> CellTurn | None:
        """The cell that shows this running turn."""
        return next((cell for cell in self._cells.values() if _shows(cell, turn_id)), None)

    def forget(self, message_id: str) -> None:
        self._cells.pop(message_id, None)

    async def run(self, door: Door) -> None:
        """Cells and panels speak through the runtime; there is nothing to poll."""
        await anyio.sleep_forever()

    async def send(self, message: OutboundMessage) -> None:
        cell = self._cells.pop(message.reply_to, None)
        if cell is not None:
            cell.end(message)
        attached = await self._attached(message)
        try:
            self.listeners.send(message)
        except DeliveryRejected:
            if cell is None and not attached:
                raise

    async def _attached(self, message: OutboundMessage) -> bool:
        """Whether a cell shows the files of the message under its turn."""
        asking = (cell for cell in self._cells.values() if cell.shows(message.turn_id))
        cell = next(asking, None) if message.media else None
        if cell is None:
            return False
        await anyio.to_thread.run_sync(cell.attach, message)
        return True

    async def open_turn(self, address: ChatAddress, turn: TurnSnapshot) -> TurnSink:
        watched = self.listeners.open_turn(address, turn)
        cell = self._cells.get(turn.message_id)
        if cell is None:
            return watched
        await anyio.to_thread.run_sync(cell.show, turn)
        return CellSink(self, cell, watched)


def _shows(cell: CellTurn, turn_id: str) -> bool:
    return cell.latest is not None and cell.latest.turn_id == turn_id


@dataclass(frozen=True, slots=True)
class CellSink:
    """Shows one turn in its cell, and to everyone who watches the chat."""

    channel: NotebookChannel
    cell: CellTurn
    watched: TurnSink

    async def update(self, turn: TurnSnapshot) -> None:
        await self.watched.update(turn)
        await anyio.to_thread.run_sync(self.cell.show, turn)

    async def finish(self, turn: TurnSnapshot) -> None:
        await self.watched.finish(turn)
        try:
            await anyio.to_thread.run_sync(self.cell.finish, turn)
        finally:
            self.channel.forget(self.cell.message.id)

    async def abort(self) -> None:
        """The runtime closes: nobody may wait for ever."""
        await self.watched.abort()
        self.channel.forget(self.cell.message.id)
        self.cell.fail("The runtime was closed before the turn ended", "run the cell again")
