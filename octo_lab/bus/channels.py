"""The open channels by name, with one write lock per address they share."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

import anyio

from octo_lab.bus.ports import Channel, FileChannel, LiveChannel
from octo_lab.core.errors import DeliveryRejected
from octo_lab.core.keys import ChatAddress


class Channels:
    """Where messages can go. Whoever writes to an address holds its lock meanwhile."""

    def __init__(self, channels: Iterable[Channel] = ()) -> None:
        self._channels: dict[str, Channel] = {}
        self._live: dict[str, LiveChannel] = {}
        self._locks: WeakValueDictionary[ChatAddress, anyio.Lock] = WeakValueDictionary()
        for channel in channels:
            self.add(channel)

    def add(self, channel: Channel) -> None:
        self._channels[channel.name] = channel
        self._live.pop(channel.name, None)
        # Asked here once: looking whether a value satisfies a protocol is slow.
        if isinstance(channel, LiveChannel):
            self._live[channel.name] = channel

    def remove(self, name: str) -> None:
        """Nothing more can go there."""
        self._channels.pop(name, None)
        self._live.pop(name, None)

    def largest_file(self, name: str) -> int:
        """How many bytes a file may have that goes there; 0 where none can."""
        channel = self._channels.get(name)
        return channel.largest_file if isinstance(channel, FileChannel) else 0

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._channels)

    def live(self, name: str) -> LiveChannel | None:
        """The channel called ``name``, if it can show running turns."""
        return self._live.get(name)

    def __getitem__(self, name: str) -> Channel:
        """The channel called ``name``; raises DeliveryRejected."""
        try:
            return self._channels[name]
        except KeyError:
            raise DeliveryRejected(f"No channel named {name!r} is open") from None

    @asynccontextmanager
    async def writing(self, address: ChatAddress) -> AsyncGenerator[None]:
        lock = self._locks.setdefault(address, anyio.Lock(fast_acquire=True))
        async with lock:
            yield
