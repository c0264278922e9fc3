"""What one listener has not taken yet: of each turn only the latest snapshot."""

from __future__ import annotations

import anyio

from octo_lab.core.mail import OutboundMessage
from octo_lab.core.turns import TurnSnapshot

Heard = TurnSnapshot | OutboundMessage
LIMIT = 256


class Inbox:
    """Bounded: a newer snapshot replaces an older one; too many different entries overflow.

    Belongs to one event loop. An overflown inbox takes nothing more: its listener has missed
    something and must start anew.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._waiting: dict[str, Heard] = {}
        self._changed = anyio.Event()
        self.overflown = False
        self._closed = False

    @property
    def ended(self) -> bool:
        """Whether ``take`` has nothing more to give, now or ever."""
        return (self._closed or self.overflown) and not self._waiting

    def close(self) -> None:
        """Nothing more comes: whoever waits gets what is there, perhaps nothing."""
        self._closed = True
        self._changed.set()

    def put(self, heard: Heard) -> None:
        key = heard.turn_id if isinstance(heard, TurnSnapshot) else heard.id
        if key not in self._waiting and len(self._waiting) >= self._limit:
            self.overflown = True
        if not self.overflown:
            self._waiting[key] = heard
        self._changed.set()

    async def take(self) -> list[Heard]:
        """Everything waiting, in the order of first arrival; waits for something to arrive.

        Empty only when it has ``ended``.
        """
        while not (self._waiting or self.ended):
            self._changed = anyio.Event()
            await self._changed.wait()
        taken, self._waiting = list(self._waiting.values()), {}
        return taken
