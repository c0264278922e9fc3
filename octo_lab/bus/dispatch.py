"""Outbound messages to their channels: in order per address, no address waits for another."""

from __future__ import annotations

import logging
from functools import partial

from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream

from octo_lab.bus.attempts import SendPolicy, attempt
from octo_lab.bus.bus import Parcel
from octo_lab.bus.channels import Channels
from octo_lab.bus.lanes import Lanes
from octo_lab.core.errors import DeliveryError, DeliveryRejected, Rejected
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import OutboundMessage

logger = logging.getLogger(__name__)


class Dispatcher:
    """Owns a lane of 64 parcels for each address that has something to send."""

    def __init__(
        self, tasks: TaskGroup, channels: Channels, policy: SendPolicy, *, idle: float = 300.0
    ) -> None:
        self._channels = channels
        self._policy = policy
        self._lanes: Lanes[ChatAddress, Parcel] = Lanes(tasks, self._handle, size=64, idle=idle)

    async def run(self, outbound: MemoryObjectReceiveStream[Parcel]) -> None:
        """Sort parcels into lanes until cancelled."""
        async for parcel in outbound:
            try:
                self._lanes.put(parcel.message.address, parcel)
            except Rejected as exc:
                _settle(parcel, DeliveryRejected(exc.message))

    async def _handle(self, address: ChatAddress, parcel: Parcel) -> None:
        try:
            await attempt(partial(self._send, parcel.message), self._policy)
        except DeliveryError as exc:
            _settle(parcel, exc)
        else:
            parcel.settle()

    async def _send(self, message: OutboundMessage) -> None:
        async with self._channels.writing(message.address):
            await self._channels[message.address.channel].send(message)


def _settle(parcel: Parcel, error: DeliveryError) -> None:
    logger.warning("message %s was not delivered: %s", parcel.message.id, error)
    parcel.settle(error)
