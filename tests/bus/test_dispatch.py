from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest

from octo_lab.bus.attempts import SendPolicy
from octo_lab.bus.bus import Bus
from octo_lab.bus.channels import Channels
from octo_lab.bus.dispatch import Dispatcher
from octo_lab.core.errors import DeliveryError, DeliveryRejected
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import OutboundMessage
from octo_lab.testing.channels import PlainChannel

pytestmark = pytest.mark.anyio

QUICK = SendPolicy(timeout=0.2, delays=(0.0, 0.0))


class SlowChat(PlainChannel):
    """Hangs in one chat, works in the others."""

    async def send(self, message: OutboundMessage) -> None:
        if message.address.chat_id == "slow":
            await anyio.sleep_forever()
        await super().send(message)


class Broken(PlainChannel):
    async def send(self, message: OutboundMessage) -> None:
        self.attempts += 1
        raise ZeroDivisionError


def to(channel: str, text: str, chat_id: str = "1") -> OutboundMessage:
    return OutboundMessage(address=ChatAddress(channel=channel, chat_id=chat_id), text=text)


@asynccontextmanager
async def dispatching(channel: PlainChannel) -> AsyncGenerator[Bus]:
    bus = Bus()
    async with anyio.create_task_group() as tasks:
        dispatcher = Dispatcher(tasks, Channels([channel]), QUICK, idle=60.0)
        tasks.start_soon(dispatcher.run, bus.outbound)
        yield bus
        tasks.cancel_scope.cancel()
    bus.close()


async def test_messages_of_an_address_arrive_in_order_and_none_waits_for_another() -> None:
    channel = SlowChat()
    async with dispatching(channel) as bus:
        bus.send(to("plain", "never", "slow"))
        for text in "abc":
            bus.send(to("plain", text))
        await bus.deliver(to("plain", "d"))

    assert [message.text for message in channel.sent] == ["a", "b", "c", "d"]


async def test_a_passing_failure_is_tried_three_times() -> None:
    channel = PlainChannel()
    channel.failures = [DeliveryError("1"), DeliveryError("2")]
    async with dispatching(channel) as bus:
        await bus.deliver(to("plain", "hello"))

    assert (channel.attempts, [m.text for m in channel.sent]) == (3, ["hello"])


async def test_the_third_failure_is_the_callers() -> None:
    channel = PlainChannel()
    channel.failures = [DeliveryError("1"), DeliveryError("2"), DeliveryError("3")]
    async with dispatching(channel) as bus:
        with pytest.raises(DeliveryError, match="3"):
            await bus.deliver(to("plain", "hello"))

    assert (channel.attempts, channel.sent) == (3, [])


async def test_a_permanent_failure_is_not_repeated() -> None:
    channel = PlainChannel()
    channel.failures = [DeliveryRejected("blocked")]
    async with dispatching(channel) as bus:
        with pytest.raises(DeliveryRejected, match="blocked"):
            await bus.deliver(to("plain", "hello"))

    assert channel.attempts == 1


async def test_a_send_that_hangs_is_given_up_and_not_repeated() -> None:
    channel = SlowChat()
    async with dispatching(channel) as bus:
        with pytest.raises(DeliveryRejected, match="did not finish within"):
            await bus.deliver(to("plain", "hello", "slow"))


async def test_a_defect_of_a_channel_ends_one_message_not_the_dispatcher() -> None:
    channel = Broken()
    async with dispatching(channel) as bus:
        for _ in range(2):
            with pytest.raises(DeliveryRejected, match="The channel failed"):
                await bus.deliver(to("plain", "hello"))

    assert channel.attempts == 2


async def test_an_unknown_channel_is_named() -> None:
    async with dispatching(PlainChannel()) as bus:
        with pytest.raises(DeliveryRejected, match="'nowhere'"):
            await bus.deliver(to("nowhere", "hello"))


async def test_waiting_for_a_delivery_has_a_deadline() -> None:
    bus = Bus()
    with pytest.raises(DeliveryError, match="took no message within"):
        await bus.deliver(to("plain", "hello"), timeout=0.01)
    bus.close()
