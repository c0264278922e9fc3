"""Inbound messages to their handler: in order per chat, chats side by side, /stop first."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream

from octo_lab.bus.lanes import Lanes
from octo_lab.core.errors import Rejected
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import InboundMessage

Handle = Callable[[InboundMessage], Coroutine[Any, Any, None]]
Refuse = Callable[[InboundMessage, Rejected], None]


class Inbox:
    """Owns a lane of 32 messages for each chat that is talking.

    A message that is ``urgent`` does not wait in its lane. ``handle`` must not raise.
    """

    def __init__(
        self,
        tasks: TaskGroup,
        handle: Handle,
        *,
        urgent: Callable[[InboundMessage], bool],
        refuse: Refuse,
        size: int = 32,
    ) -> None:
        self._tasks = tasks
        self._handle = handle
        self._urgent = urgent
        self._refuse = refuse
        self._lanes: Lanes[ChatAddress, InboundMessage] = Lanes(
            tasks, self._in_order, size=size, idle=60.0
        )

    async def run(self, inbound: MemoryObjectReceiveStream[InboundMessage]) -> None:
        """Sort messages into lanes until cancelled."""
        async for message in inbound:
            if self._urgent(message):
                self._tasks.start_soon(self._handle, message)
            else:
                self._queue(message)

    def _queue(self, message: InboundMessage) -> None:
        try:
            self._lanes.put(message.address, message)
        except Rejected as exc:
            self._refuse(message, exc)

    async def _in_order(self, address: ChatAddress, message: InboundMessage) -> None:
        await self._handle(message)
