from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import anyio
import pytest

from octo_lab.core.errors import DeliveryError
from octo_lab.core.mail import AskOptions, GetStatus, OutboundMessage, Stop
from octo_lab.core.replies import Told
from octo_lab.core.turns import TextBlock, ToolBlock, TurnSnapshot
from octo_lab.web.client import RemoteConversation, open_remote
from tests.web.serving import serving

pytestmark = pytest.mark.anyio


async def shown(conversation: RemoteConversation, wanted: TurnSnapshot) -> None:
    """Wait until the client has drawn exactly the snapshot the gateway has."""
    with anyio.fail_after(10):
        async for heard in conversation.heard():
            if heard == wanted:
                return


async def test_a_question_reaches_the_door_and_its_turn_streams_back() -> None:
    async with serving() as (door, endpoint), open_remote(endpoint, "main") as conversation:
        id_ = await conversation.ask("Why? 🐙 \ud800", AskOptions(model="m", timeout=3.0))
        message = await door.received(1)
        assert (message.id, message.text) == (id_, "Why? 🐙 \ufffd")
        assert message.options == AskOptions(model="m", timeout=3.0)
        turn = await door.begin(message)
        text = "long answer " * 5
        tool = ToolBlock(call_id="c", name="grep", arguments="{}", state="running")
        for blocks in [
            (TextBlock(text),),
            (TextBlock(text), tool),
            (TextBlock(text + "more"), replace(tool, state="ok", output="x")),
        ]:
            await turn.say(*blocks)
            await shown(conversation, turn.snapshot)
        await turn.say(TextBlock("done"), state="completed")
        await shown(conversation, turn.snapshot)


async def test_a_control_gets_its_own_reply_while_a_turn_runs() -> None:
    async with serving() as (door, endpoint), open_remote(endpoint, "main") as conversation:
        await conversation.ask("hi", AskOptions())
        await door.begin(await door.received(1))
        assert await conversation.control(Stop(turn_id="t")) == Told(text="Stop")
        assert door.controls[0].control == Stop(turn_id="t")
        assert door.controls[0].address == door.messages[0].address


async def test_who_comes_late_sees_the_running_turn() -> None:
    async with serving() as (door, endpoint):
        async with open_remote(endpoint, "main") as first:
            await first.ask("hi", AskOptions())
            turn = await door.begin(await door.received(1))
            await turn.say(TextBlock("so far"))
        async with open_remote(endpoint, "main") as second:
            await shown(second, turn.snapshot)


async def test_two_chats_do_not_hear_each_other() -> None:
    async with serving(echo=True) as (_, endpoint), open_remote(endpoint, "b") as other:
        async with open_remote(endpoint, "a") as one:
            await one.ask("secret", AskOptions())
        await other.ask("mine", AskOptions())
        with anyio.fail_after(10):
            prompts = {turn.prompt async for turn in until_last(other)}
        assert prompts == {"mine"}


async def until_last(conversation: RemoteConversation) -> AsyncIterator[TurnSnapshot]:
    async for heard in conversation.heard():
        assert isinstance(heard, TurnSnapshot)
        yield heard
        if heard.terminal:
            return


async def test_a_client_that_missed_a_patch_asks_for_the_whole() -> None:
    async with serving() as (door, endpoint), open_remote(endpoint, "main") as conversation:
        await conversation.ask("hi", AskOptions())
        turn = await door.begin(await door.received(1))
        await turn.say(TextBlock("one"))
        await shown(conversation, turn.snapshot)
        conversation._turns.clear()
        await turn.say(TextBlock("one two"))
        await shown(conversation, turn.snapshot)


async def test_a_full_queue_is_said_to_the_one_who_asked() -> None:
    async with serving() as (door, endpoint), open_remote(endpoint, "main") as conversation:
        door.full = True
        id_ = await conversation.ask("hi", AskOptions())
        with anyio.fail_after(10):
            heard = await anext(aiter(conversation.heard()))
        assert isinstance(heard, OutboundMessage)
        assert (heard.text, heard.reply_to, heard.failed, heard.hint) == (
            "the queue is full",
            id_,
            True,
            "wait",
        )


async def test_a_stopped_gateway_ends_the_conversation_with_the_next_step() -> None:
    async with serving() as (door, endpoint), open_remote(endpoint, "main") as conversation:
        assert await conversation.control(GetStatus()) == Told(text="GetStatus")
        door.serving.cancel()
        with pytest.raises(DeliveryError, match=r"was cut.*octo gateway"), anyio.fail_after(10):
            await anext(aiter(conversation.heard()))
        with pytest.raises(DeliveryError, match="was cut"):
            await conversation.control(GetStatus())


async def test_no_gateway_and_a_wrong_token_are_said_in_one_line() -> None:
    async with serving() as (_, endpoint):
        with pytest.raises(DeliveryError, match=r"refused \(401\)"):
            async with open_remote(replace(endpoint, token="wrong"), "main"):
                pass
        with pytest.raises(DeliveryError, match="No gateway answers at 127") as caught:
            async with open_remote(replace(endpoint, token="two\nlines"), "main"):
                pass
        assert "lines" not in str(caught.value)
    with pytest.raises(DeliveryError, match="No gateway answers at 127"):
        async with open_remote(endpoint, "main"):
            pass
