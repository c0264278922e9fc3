"""What becomes of messages that come while a turn of their dialog runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from sqlalchemy import select

from octo_lab.app import open_app
from octo_lab.core.clock import utc_now
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import AskOptions, Attachment, GetHistory, InboundMessage
from octo_lab.core.replies import History
from octo_lab.core.turns import NoticeBlock, TextBlock, ToolBlock, TurnSnapshot
from octo_lab.session.job import Job
from octo_lab.session.overflow import MOST_JOINED, shortened
from octo_lab.session.queue_modes import joins, merged, mode_of, together
from octo_lab.session.steering import MOST, SteerBox
from octo_lab.storage.database import open_database
from octo_lab.storage.schema import turns
from octo_lab.storage.sessions import SessionRow
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.providers import ScriptedProvider, calls, says
from octo_lab.testing.setups import setup_in
from octo_lab.testing.transcripts import transcript_faults
from octo_lab.tools.tool import Tool
from tests.agent.turns import call, tool

pytestmark = pytest.mark.anyio


class Held:
    """A tool that runs until it is let go."""

    def __init__(self) -> None:
        self.running = anyio.Event()
        self.go_on = anyio.Event()
        self.runs = 0

    async def __call__(self, ctx: object, args: object) -> str:
        self.runs += 1
        self.running.set()
        await self.go_on.wait()
        return "held"

    @property
    def tool(self) -> Tool:
        return tool("hold", self)


async def history(channel: MemoryChannel) -> list[TurnSnapshot]:
    reply = await channel.control(GetHistory())
    assert isinstance(reply, History)
    return list(reply.turns)


async def test_a_running_turn_reads_what_is_said_before_its_next_step(tmp_path: Path) -> None:
    held, channel = Held(), MemoryChannel()
    provider = ScriptedProvider(calls(call("hold")), says("In French, then."))
    setup = setup_in(tmp_path, channel, provider=provider, tools=[held.tool])
    async with open_app(setup):
        await channel.message(await channel.ask("/queue steer"))
        asked = await channel.ask("Write a poem")
        await held.running.wait()
        more = await channel.ask("in French")
        await channel.message(await channel.ask("/queue"))
        held.go_on.set()
        done = await channel.turn(asked)
        told = await channel.message(more)
        [stored] = await history(channel)
    async with open_database(tmp_path / "data" / "octo_lab.db") as database:
        row = (await database.read(lambda db: db.execute(select(turns)).one()))._mapping

    assert told.text == "Read by the running turn."
    assert (row["message_id"], row["also"]) == (asked.id, json.dumps([more.id]))
    assert [m.content for m in provider.requests[1].messages[1:]] == [
        "Write a poem",
        "",
        "held",
        "in French",
    ]
    assert transcript_faults(provider.requests[1].messages[1:]) == []
    kinds = [ToolBlock, NoticeBlock, TextBlock]
    assert [type(block) for block in done.blocks] == kinds
    assert [type(block) for block in stored.blocks] == kinds
    assert NoticeBlock("You said: in French") in done.blocks
    assert NoticeBlock("You said: in French") in stored.blocks


async def test_calls_that_have_not_begun_are_skipped_when_something_new_is_said(
    tmp_path: Path,
) -> None:
    held, channel = Held(), MemoryChannel()
    many = [call("hold", id=str(n)) for n in range(12)]
    provider = ScriptedProvider(calls(*many), says("ok"))
    setup = setup_in(
        tmp_path, channel, provider=provider, tools=[held.tool], session={"queue_mode": "steer"}
    )
    async with open_app(setup):
        asked = await channel.ask("Do twelve things")
        await held.running.wait()
        more = await channel.ask("no, stop after those")
        await channel.message(await channel.ask("/queue"))
        held.go_on.set()
        await channel.turn(asked)
        await channel.message(more)

    messages = provider.requests[1].messages[1:]
    outcomes = [message.outcome for message in messages if message.role == "tool"]
    assert outcomes == ["ok"] * 8 + ["cancelled"] * 4
    assert held.runs == 8
    assert transcript_faults(messages) == []


async def test_what_a_turn_did_not_read_gets_a_turn_of_its_own(tmp_path: Path) -> None:
    channel, gate = MemoryChannel(), anyio.Event()
    first = says("one")
    provider = ScriptedProvider([first[0], gate.wait, *first[1:]], says("two"))
    setup = setup_in(tmp_path, channel, provider=provider, session={"queue_mode": "steer"})
    async with open_app(setup):
        asked = await channel.ask("a")
        await channel.running(asked, lambda turn: turn.text == "one")
        later = await channel.ask("b")
        await channel.message(await channel.ask("/queue"))
        gate.set()
        done = [await channel.turn(asked), await channel.turn(later)]

    assert [turn.text for turn in done] == ["one", "two"]


async def test_messages_that_wait_are_answered_together(tmp_path: Path) -> None:
    channel, gate = MemoryChannel(), anyio.Event()
    first = says("one")
    provider = ScriptedProvider([first[0], gate.wait, *first[1:]], says("all"), says("own"))
    setup = setup_in(tmp_path, channel, provider=provider, session={"queue_mode": "collect"})
    async with open_app(setup):
        asked = await channel.ask("a")
        await channel.running(asked, lambda turn: turn.text == "one")
        waiting = [await channel.ask(text) for text in ("b", "c")]
        own = await channel.ask("d", AskOptions(slot="cell"))
        await channel.message(await channel.ask("/queue"))
        gate.set()
        together = await channel.turn(waiting[0])
        told = await channel.message(waiting[1])
        alone = await channel.turn(own)

    assert (together.prompt, together.text) == ("b\n---\nQueued #1: c", "all")
    assert told.text == "Answered together with the message before it."
    assert (alone.prompt, alone.text) == ("d", "own")


async def test_what_came_after_the_mode_changed_is_not_collected(tmp_path: Path) -> None:
    channel, gate = MemoryChannel(), anyio.Event()
    first = says("one")
    provider = ScriptedProvider([first[0], gate.wait, *first[1:]], says("all"), says("own"))
    setup = setup_in(tmp_path, channel, provider=provider, session={"queue_mode": "collect"})
    async with open_app(setup):
        asked = await channel.ask("a")
        await channel.running(asked, lambda turn: turn.text == "one")
        waiting = [await channel.ask(text) for text in ("b", "c")]
        await channel.message(await channel.ask("/queue followup"))
        later = await channel.ask("d")
        await channel.message(await channel.ask("/queue"))
        gate.set()
        done = [await channel.turn(waiting[0]), await channel.turn(later)]

    assert [turn.prompt for turn in done] == ["b\n---\nQueued #1: c", "d"]


async def test_a_message_interrupts_the_running_turn(tmp_path: Path) -> None:
    channel = MemoryChannel()
    first = says("one")
    provider = ScriptedProvider([first[0], anyio.sleep_forever], says("two"))
    setup = setup_in(tmp_path, channel, provider=provider, session={"queue_mode": "interrupt"})
    async with open_app(setup):
        asked = await channel.ask("a")
        await channel.running(asked, lambda turn: turn.text == "one")
        later = await channel.ask("b")
        done = [await channel.turn(asked), await channel.turn(later)]

    assert [(turn.state, turn.text) for turn in done] == [
        ("cancelled", "one"),
        ("completed", "two"),
    ]


async def test_a_stop_drops_what_the_turn_did_not_read(tmp_path: Path) -> None:
    held, channel = Held(), MemoryChannel()
    provider = ScriptedProvider(calls(call("hold")))
    setup = setup_in(
        tmp_path, channel, provider=provider, tools=[held.tool], session={"queue_mode": "steer"}
    )
    async with open_app(setup):
        asked = await channel.ask("a")
        await held.running.wait()
        more = await channel.ask("b")
        await channel.message(await channel.ask("/queue"))
        await channel.ask("stop")
        done, told = await channel.turn(asked), await channel.message(more)

    assert (done.state, told.text) == ("cancelled", "Stopped before it began.")


async def test_the_mode_is_shown_and_chosen_for_one_dialog(tmp_path: Path) -> None:
    channel = MemoryChannel()
    async with open_app(setup_in(tmp_path, channel, provider=ScriptedProvider())):
        said = [
            (await channel.message(await channel.ask(line))).text
            for line in ("/queue", "/queue Collect", "/queue", "/new", "/queue")
        ]
        wrong = await channel.message(await channel.ask("/queue fast"))

    modes = [text.split("`")[1] for text in said if "`" in text]
    assert modes == ["followup", "collect", "collect", "followup"]
    assert (wrong.failed, wrong.text) == (True, "No such mode: 'fast'")


async def test_an_empty_answer_that_is_asked_for_again_stores_the_question_once(
    tmp_path: Path,
) -> None:
    channel, provider = MemoryChannel(), ScriptedProvider(says(), says("now"))
    async with open_app(setup_in(tmp_path, channel, provider=provider)):
        await channel.turn(await channel.ask("hello"))
        [turn] = await history(channel)

    assert (turn.prompt, turn.blocks) == ("hello", (TextBlock("now"),))


async def test_a_dialog_ends_at_its_limits(tmp_path: Path) -> None:
    held, channel = Held(), MemoryChannel()
    held.go_on.set()
    twice = calls(call("hold", '{"n": 1}', id="a"), call("hold", '{"n": 2}', id="b"))
    provider = ScriptedProvider(twice, calls(call("hold", '{"n": 3}')), says("done"))
    limits = {"turns": 1, "rounds": 1, "calls": {"ho*": 1}}
    setup = setup_in(tmp_path, channel, provider=provider, tools=[held.tool], limits=limits)
    async with open_app(setup):
        done = await channel.turn(await channel.ask("a"))
        refused = await channel.message(await channel.ask("b"))

    outputs = [block.output for block in done.blocks if isinstance(block, ToolBlock)]
    assert outputs == [
        "held",
        "Error: Not run: this session has had its 1 calls of 'ho*'.",
        "Error: Not run: this session has had its 1 rounds of tool calls.",
    ]
    assert (refused.failed, refused.text) == (True, "This session has had its 1 turns")


async def test_hooks_of_the_settings_run_in_turns(tmp_path: Path) -> None:
    held, channel = Held(), MemoryChannel()
    provider = ScriptedProvider(calls(call("hold")), says("ok"))
    source = "import json, sys; sys.exit(print(json.load(sys.stdin)['session_id']) or 1)"
    hook = {"event": "before_tool_call", "command": [sys.executable, "-c", source]}
    setup = setup_in(tmp_path, channel, provider=provider, tools=[held.tool], hooks=[hook])
    async with open_app(setup):
        done = await channel.turn(await channel.ask("a"))

    [block] = [block for block in done.blocks if isinstance(block, ToolBlock)]
    assert (block.state, held.runs) == ("denied", 0)
    assert block.output == f"Error: A hook denied 'hold': {done.session}"


def job(text: str, *, sender: str = "me", slot: str = "", session: SessionRow) -> Job:
    message = InboundMessage(
        address=ChatAddress(channel="c", chat_id="1"),
        sender_id=sender,
        text=text,
        options=AskOptions(slot=slot),
        attachments=(Attachment(name=text, text=text),),
    )
    return Job(message=message, session=session)


@pytest.fixture
def row() -> SessionRow:
    return SessionRow(
        id="s", address=ChatAddress(channel="c", chat_id="1"), title="", workspace="", head=None,
        cursor=None, archived=False, model=None, turns=0, created_at=utc_now(),
        updated_at=utc_now(),
    )  # fmt: skip


def test_only_plain_messages_of_the_same_person_join(row: SessionRow) -> None:
    first = job("a", session=row)

    assert joins(job("b", session=row), first)
    assert not joins(job("b", sender="you", session=row), first)
    assert not joins(job("b", slot="cell", session=row), first)


def test_merged_messages_keep_their_order_and_attachments(row: SessionRow) -> None:
    one, two = job("a", session=row).message, job("b", session=row).message

    both = merged(one, [two])

    assert (both.id, both.text) == (
        one.id,
        "a\n[attached to this: a]\n---\nQueued #1: b\n[attached to this: b]",
    )
    assert [item.name for item in both.attachments] == ["a", "b"]


def test_merged_messages_keep_what_private_data_each_holds(row: SessionRow) -> None:
    one, two = job("a", session=row).message, job("b", session=row).message

    both = merged(replace(one, taint=("a key",)), [replace(two, taint=("a variable",))])

    assert both.taint == ("a key", "a variable")


def test_a_box_takes_twenty_messages_and_gives_each_once(row: SessionRow) -> None:
    read: list[Job] = []
    box = SteerBox(read.append)
    jobs = [job(str(n), session=row) for n in range(MOST + 1)]

    assert [box.put(each) for each in jobs] == [True] * MOST + [False]
    assert [m.content.split("\n")[0] for m in box.take()] == [str(n) for n in range(MOST)]
    assert (read, box.take(), box.waiting, box.rest()) == (jobs[:-1], [], False, [])


def test_a_dialog_without_a_mode_of_its_own_has_the_usual_one(row: SessionRow) -> None:
    chosen, unknown = replace(row, queue_mode="steer"), replace(row, queue_mode="later")

    assert [mode_of(each, "collect") for each in (None, row, chosen, unknown)] == [
        "collect",
        "collect",
        "steer",
        "collect",
    ]


async def test_a_mode_is_kept_with_its_dialog(tmp_path: Path) -> None:
    for line in ("/queue steer", "/queue"):
        channel = MemoryChannel()
        async with open_app(setup_in(tmp_path, channel, provider=ScriptedProvider())):
            told = await channel.message(await channel.ask(line))

        assert told.text.startswith("`steer`")


def words(jobs: Sequence[Job]) -> list[str]:
    return [each.message.text for each in jobs]


def test_only_what_belongs_together_is_shortened_to_one(row: SessionRow) -> None:
    mine, cell = job("mine", session=row), job("cell", slot="c", session=row)
    yours, more = job("yours", sender="you", session=row), job("more", session=row)

    once = shortened([mine, yours, cell, more])

    assert words(once)[1:] == ["yours", "cell"]
    assert words(once)[0].splitlines()[1:] == [
        "- mine [attached to this: mine]",
        "- more [attached to this: more]",
    ]
    assert (once[0].message.id, once[0].also) == (mine.message.id, (more.message.id,))
    assert [item.name for item in once[0].message.attachments] == ["mine", "more"]
    assert shortened(once) == once
    assert shortened([cell, mine, yours]) == [cell, mine, yours]


def test_what_was_shortened_is_not_repeated_and_takes_in_a_hundred(row: SessionRow) -> None:
    jobs = [job(str(n), session=row) for n in range(MOST_JOINED + 3)]
    waiting = jobs[:2]
    for each in jobs[2:]:
        waiting = [*shortened(waiting), each]

    first, *rest = waiting
    assert len(first.others) == MOST_JOINED
    assert first.message.text.count("[More messages waited") == 1
    assert all(not other.text and not other.attachments for other in first.others)
    assert len(rest) == 2


def test_what_is_collected_keeps_every_id_also_of_what_was_shortened(row: SessionRow) -> None:
    one, two, three, four = [job(text, session=row) for text in "abcd"]
    [short] = shortened([one, two])

    both = together(three, [short, four])

    assert both.also == (one.message.id, two.message.id, four.message.id)
    assert both.message.text.count("---\nQueued #") == 2
    assert together(three, []) is three
