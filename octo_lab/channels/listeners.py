"""Who listens to which chat: the part of a channel that every in-process screen shares."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from octo_lab.channels.inbox import Heard, Inbox
from octo_lab.core.errors import DeliveryRejected
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import OutboundMessage
from octo_lab.core.turns import TurnSnapshot


class Listeners:
    """Hands each snapshot and message of a chat to all who listen there.

    A running turn is kept until it ends, so that one who comes late sees it, too.
    """

    def __init__(self) -> None:
        self._inboxes: dict[str, list[Inbox]] = {}
        self._running: dict[str, dict[str, TurnSnapshot]] = {}

    @contextmanager
    def listen(self, chat_id: str) -> Iterator[Inbox]:
        """Listen to one chat; the turns that run there come first."""
        inbox = Inbox()
        for turn in self.running(chat_id):
            inbox.put(turn)
        self._inboxes.setdefault(chat_id, []).append(inbox)
        try:
            yield inbox
        finally:
            self._leave(chat_id, inbox)

    def _leave(self, chat_id: str, inbox: Inbox) -> None:
        self._inboxes[chat_id].remove(inbox)
        if not self._inboxes[chat_id]:
            del self._inboxes[chat_id]

    def running(self, chat_id: str) -> list[TurnSnapshot]:
        return list(self._running.get(chat_id, {}).values())

    def count(self) -> int:
        return sum(len(inboxes) for inboxes in self._inboxes.values())

    def open_turn(self, address: ChatAddress, turn: TurnSnapshot) -> ListenedTurn:
        self.show(address.chat_id, turn)
        return ListenedTurn(self, address.chat_id, turn.turn_id)

    def show(self, chat_id: str, turn: TurnSnapshot) -> None:
        if turn.terminal:
            self.forget(chat_id, turn.turn_id)
        else:
            self._running.setdefault(chat_id, {})[turn.turn_id] = turn
        self._tell(chat_id, turn)

    def forget(self, chat_id: str, turn_id: str) -> None:
        turns = self._running.get(chat_id, {})
        turns.pop(turn_id, None)
        if not turns:
            self._running.pop(chat_id, None)

    def send(self, message: OutboundMessage) -> None:
        """Raises DeliveryRejected when nobody listens: such a message is for now or never."""
        if not self._tell(message.address.chat_id, message):
            raise DeliveryRejected(f"nobody listens to {message.address.chat_id!r}")

    def _tell(self, chat_id: str, heard: Heard) -> bool:
        inboxes = self._inboxes.get(chat_id, [])
        for inbox in inboxes:
            inbox.put(heard)
        return bool(inboxes)


@dataclass(frozen=True, slots=True)
class ListenedTurn:
    """The sink of one turn. Nobody listening is no failure: the turn is stored."""

    listeners: Listeners
    chat_id: str
    turn_id: str

    async def update(self, turn: TurnSnapshot) -> None:
        self.listeners.show(self.chat_id, turn)

    async def finish(self, turn: TurnSnapshot) -> None:
        self.listeners.show(self.chat_id, turn)

    async def abort(self) -> None:
        self.listeners.forget(self.chat_id, self.turn_id)
