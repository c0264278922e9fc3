from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest

from octo_lab.bus.ports import LiveChannel
from octo_lab.channels.answers import last_answer
from octo_lab.channels.inbox import Inbox
from octo_lab.channels.terminal import TerminalChannel
from octo_lab.core.errors import DeliveryRejected
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import OutboundMessage
from octo_lab.core.turns import TextBlock, TurnSnapshot, TurnState

pytestmark = pytest.mark.anyio

ADDRESS = ChatAddress(channel="terminal", chat_id="main")


def turn(text: str, *, id_: str = "t", state: TurnState = "running") -> TurnSnapshot:
    return TurnSnapshot(
        turn_id=id_,
        message_id=f"m-{id_}",
        session="s",
        revision=len(text),
        state=state,
        prompt="?",
        blocks=(TextBlock(text),),
    )


def message(text: str, *, reply_to: str = "") -> OutboundMessage:
    return OutboundMessage(address=ADDRESS, text=text, reply_to=reply_to)


async def test_an_inbox_gives_of_each_turn_the_latest_in_order_of_first_arrival() -> None:
    inbox, note = Inbox(), message("note")
    for heard in (turn("a"), note, turn("x", id_="u"), turn("ab"), turn("abc")):
        inbox.put(heard)
    assert await inbox.take() == [turn("abc"), note, turn("x", id_="u")]


async def test_an_inbox_that_overflows_ends() -> None:
    inbox = Inbox(limit=2)
    for number in range(4):
        inbox.put(message(str(number)))
    assert len(await inbox.take()) == 2
    assert inbox.ended
    assert await inbox.take() == []


async def test_who_waits_at_an_inbox_is_woken_by_its_close() -> None:
    inbox = Inbox()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(inbox.take)
        await anyio.lowlevel.checkpoint()
        inbox.close()
    assert inbox.ended


async def test_every_listener_hears_every_turn_and_a_late_one_those_that_run() -> None:
    channel = TerminalChannel()
    assert isinstance(channel, LiveChannel)
    with channel.listen("main") as first, channel.listen("other") as other:
        sink = await channel.open_turn(ADDRESS, turn(""))
        await sink.update(turn("a"))
        with channel.listen("main") as late:
            assert await late.take() == [turn("a")]
            await sink.finish(turn("ab", state="completed"))
            assert await late.take() == [turn("ab", state="completed")]
        assert await first.take() == [turn("ab", state="completed")]
        other.close()
        assert await other.take() == []
    with channel.listen("main") as after:
        after.close()
        assert await after.take() == []


async def test_an_aborted_turn_runs_no_more() -> None:
    channel = TerminalChannel()
    sink = await channel.open_turn(ADDRESS, turn(""))
    await sink.abort()
    await sink.abort()
    with channel.listen("main") as inbox:
        inbox.close()
        assert await inbox.take() == []


async def test_a_message_that_nobody_hears_is_rejected_a_turn_is_not() -> None:
    channel = TerminalChannel()
    sink = await channel.open_turn(ADDRESS, turn(""))
    await sink.finish(turn("a", state="completed"))
    with pytest.raises(DeliveryRejected, match="main"):
        await channel.send(message("hi"))


async def test_the_last_answer_is_the_end_of_the_turn_or_what_came_in_its_place() -> None:
    inbox = Inbox()
    refused = message("no", reply_to="m-u")
    for heard in (turn("x", state="completed", id_="v"), refused):
        inbox.put(heard)
    assert await last_answer(inbox, "m-u") == refused
    inbox.put(turn("x", state="completed"))
    assert await last_answer(inbox, "m-t") == turn("x", state="completed")
    inbox.close()
    assert await last_answer(inbox, "m-w") is None
