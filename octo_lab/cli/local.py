"""A conversation with the runtime in this process."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from octo_lab.app import Setup, open_app
from octo_lab.bus.ports import Door
from octo_lab.channels.inbox import Heard, Inbox
from octo_lab.channels.terminal import TerminalChannel
from octo_lab.core.errors import DeliveryError
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import AskOptions, Control, ControlRequest, InboundMessage
from octo_lab.core.replies import ControlReply
from octo_lab.core.text import clean


@dataclass(frozen=True, slots=True)
class LocalConversation:
    """Satisfies ``Conversation``."""

    door: Door
    address: ChatAddress
    inbox: Inbox
    place: str = "this process"

    async def ask(self, text: str, options: AskOptions) -> str:
        message = InboundMessage(
            address=self.address,
            sender_id=self.address.chat_id,
            text=clean(text),
            options=options,
        )
        await self.door.publish(message)
        return message.id

    async def control(self, control: Control) -> ControlReply:
        return await self.door.control(ControlRequest(address=self.address, control=control))

    async def heard(self) -> AsyncIterator[Heard]:
        while not self.inbox.ended:
            for heard in await self.inbox.take():
                yield heard
        raise DeliveryError("Too much arrived at once", hint="start again")


@asynccontextmanager
async def open_local(setup: Setup, chat_id: str) -> AsyncGenerator[LocalConversation]:
    """Run octo_lab here, as long as the conversation lasts."""
    channel = TerminalChannel()
    address = ChatAddress(channel=channel.name, chat_id=chat_id)
    async with open_app(replace(setup, channels=(*setup.channels, channel))) as app:
        with channel.listen(chat_id) as inbox:
            yield LocalConversation(app.door, address, inbox)
