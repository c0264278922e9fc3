from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import TaskGroup

from octo_lab.bus.attempts import SendPolicy
from octo_lab.bus.bus import Bus
from octo_lab.bus.channels import Channels
from octo_lab.bus.delivery import Delivery
from octo_lab.bus.dispatch import Dispatcher
from octo_lab.bus.latest import Latest
from octo_lab.bus.ports import LivePolicy, Presentation
from octo_lab.core.errors import DeliveryError, DeliveryRejected
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import InboundMessage
from octo_lab.core.turns import (
    Block,
    ErrorBlock,
    ReasoningBlock,
    TextBlock,
    ToolBlock,
    TurnSnapshot,
    TurnState,
)
from octo_lab.testing.channels import MemoryChannel, PlainChannel

pytestmark = pytest.mark.anyio

QUICK = SendPolicy(timeout=1.0, delays=(0.0, 0.0))
TOOL = ToolBlock(call_id="1", name="grep", arguments='{"a": 1}', state="ok", output="found")


class Running:
    """A turn whose text a test grows by hand."""

    def __init__(self) -> None:
        self.snapshot = TurnSnapshot(
            turn_id="t", message_id="m", session="s", revision=0, state="running", prompt="p"
        )
        self.latest: Latest[TurnSnapshot] = Latest(lambda: self.snapshot)

    def show(self, *blocks: Block) -> None:
        self.snapshot = replace(self.snapshot, blocks=blocks, revision=self.latest.version + 1)
        self.latest.touch()

    def end(self, state: TurnState = "completed") -> None:
        self.snapshot = replace(self.snapshot, state=state)
        self.latest.end()


def origin(channel: PlainChannel) -> InboundMessage:
    address = ChatAddress(channel=channel.name, chat_id="1")
    return InboundMessage(address=address, sender_id="me", text="p", id="m", private={"ts": "7"})


@asynccontextmanager
async def delivering(channel: PlainChannel, turn: Running) -> AsyncGenerator[TaskGroup]:
    bus = Bus()
    channels = Channels([channel])
    async with anyio.create_task_group() as tasks:
        delivery = Delivery(bus=bus, channels=channels, policy=QUICK)
        tasks.start_soon(Dispatcher(tasks, channels, QUICK).run, bus.outbound)
        async with anyio.create_task_group() as shown:
            shown.start_soon(delivery.show, origin(channel), turn.latest)
            yield shown
        tasks.cancel_scope.cancel()
    bus.close()


async def test_the_newest_snapshot_wins_and_the_last_one_arrives() -> None:
    channel, turn = MemoryChannel(live=LivePolicy(interval=3600.0)), Running()
    async with delivering(channel, turn):
        turn.show(TextBlock("a"))
        await anyio.wait_all_tasks_blocked()
        for length in range(2, 50):
            turn.show(TextBlock("a" * length))
        turn.end()

    assert [t.text for t in channel.updates] == ["a"]
    assert [(t.text, t.state) for t in channel.finished] == [("a" * 49, "completed")]


async def test_a_slow_sink_skips_snapshots() -> None:
    channel, turn = MemoryChannel(live=LivePolicy(interval=0.0), delay=0.05), Running()
    async with delivering(channel, turn):
        for length in range(1, 100):
            turn.show(TextBlock("a" * length))
            await anyio.lowlevel.checkpoint()
        turn.end()

    assert len(channel.updates) < 20
    assert [len(t.text) for t in channel.finished] == [99]


async def test_a_terminal_snapshot_is_tried_again_after_a_passing_failure() -> None:
    channel, turn = MemoryChannel(), Running()
    channel.finish_failures = [DeliveryError("1"), DeliveryError("2")]
    async with delivering(channel, turn):
        turn.show(TextBlock("hi"))
        turn.end()

    assert ([t.text for t in channel.finished], channel.attempts, channel.sent) == (["hi"], 3, [])


async def test_what_the_sink_never_takes_goes_out_once_as_a_message() -> None:
    channel, turn = MemoryChannel(), Running()
    channel.finish_failures = [DeliveryRejected("gone")]
    async with delivering(channel, turn):
        turn.show(TextBlock("hi"))
        await channel.wait(lambda: channel.updates or None)
        turn.end()

    [message] = channel.sent
    assert (message.text, message.reply_to, message.private) == ("hi", "m", {"ts": "7"})
    assert channel.aborted == ["t"]


async def test_a_plain_channel_gets_the_final_text() -> None:
    channel, turn = PlainChannel(), Running()
    async with delivering(channel, turn):
        turn.show(ReasoningBlock("hm"), TextBlock("one"), TOOL, TextBlock("two"))
        turn.end()

    [message] = channel.sent
    assert (message.text, message.failed) == ("one\n\ntwo", False)


async def test_a_plain_channel_gets_what_arrived_and_the_error() -> None:
    channel, turn = PlainChannel(), Running()
    async with delivering(channel, turn):
        turn.show(TextBlock("so far"), ErrorBlock("the server is down", "start it"))
        turn.end("failed")

    [message] = channel.sent
    assert message.text == "so far\n\nthe server is down"
    assert (message.failed, message.hint) == (True, "start it")


async def test_a_channel_that_shows_only_the_end_opens_its_sink_at_the_end() -> None:
    channel, turn = MemoryChannel(live=LivePolicy(interval=None)), Running()
    async with delivering(channel, turn):
        turn.show(TextBlock("hi"))
        await anyio.wait_all_tasks_blocked()
        turn.end()

    assert (channel.updates, [t.text for t in channel.finished]) == ([], ["hi"])


async def test_what_a_channel_may_not_show_never_reaches_it() -> None:
    hidden = Presentation(reasoning=False, tool_detail=False)
    channel, turn = MemoryChannel(presentation=hidden), Running()
    async with delivering(channel, turn):
        turn.show(ReasoningBlock("hm"), TOOL, TextBlock("hi"))
        turn.end()

    compact = ToolBlock(call_id="1", name="grep", arguments="", state="ok")
    assert [t.blocks for t in channel.finished] == [(compact, TextBlock("hi"))]


async def test_a_turn_that_closing_cuts_off_lets_the_sink_clean_up() -> None:
    channel, turn = MemoryChannel(), Running()
    async with delivering(channel, turn) as shown:
        turn.show(TextBlock("hi"))
        await channel.wait(lambda: channel.updates or None)
        shown.cancel_scope.cancel()

    assert (channel.finished, channel.aborted) == ([], ["t"])
