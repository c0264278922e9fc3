"""Messages behind a slow turn are answered beside it; more than wait at once are dealt with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from octo_lab.app import open_app
from octo_lab.core.mail import AskOptions, GetHistory, GetSessions, GetStatus, InboundMessage, Stop
from octo_lab.core.messages import ChatRequest, Usage
from octo_lab.core.replies import History, SessionList, Status, Told
from octo_lab.core.stream import Done, TextDelta, UsageReported
from octo_lab.core.turns import NoticeBlock, TurnSnapshot
from octo_lab.llm.provider import Events
from octo_lab.session.speculation import BESIDE, BUSY, MOST
from octo_lab.session.worker import ESCALATED
from octo_lab.storage.database import open_database
from octo_lab.storage.history import TurnRecord, load_turns
from octo_lab.storage.sessions import list_sessions
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.setups import setup_in
from octo_lab.testing.transcripts import transcript_faults

pytestmark = pytest.mark.anyio

SPECULATIVE = {"queue_mode": "speculative", "patience": 0.05}


class Gated:
    """Answers each question when the test opens the gate named by its last line."""

    name = model = "gated"

    def __init__(self) -> None:
        self.gates: dict[str, anyio.Event] = {}
        self.requests: dict[str, ChatRequest] = {}

    def gate(self, name: str) -> anyio.Event:
        return self.gates.setdefault(name, anyio.Event())

    async def stream(self, request: ChatRequest) -> Events:
        text = request.messages[-1].content.splitlines()[-1]
        self.requests[text] = request
        yield TextDelta(f"[{text}")
        await self.gate(text).wait()
        yield TextDelta("]")
        yield UsageReported(Usage(input_tokens=1, output_tokens=1, requests=1))
        yield Done("end_turn")

    def told(self, text: str) -> list[str]:
        return [message.content for message in self.requests[text].messages[1:]]


def begun(turn: TurnSnapshot) -> bool:
    return bool(turn.text)


async def path(channel: MemoryChannel) -> list[tuple[str, str]]:
    history = await channel.control(GetHistory())
    assert isinstance(history, History)
    return [(turn.prompt, turn.state) for turn in history.turns]


async def opened_turn(channel: MemoryChannel, provider: Gated, text: str) -> InboundMessage:
    """A turn that has begun and waits for its gate."""
    asked = await channel.ask(text)
    await channel.running(asked, begun)
    return asked


async def waiting_there(channel: MemoryChannel, count: int) -> None:
    """Until so many messages wait in the chat's dialog."""
    with anyio.fail_after(30):
        while True:
            status = await channel.control(GetStatus())
            assert isinstance(status, Status)
            if status.waiting == count:
                return


async def stored(folder: Path) -> list[TurnRecord]:
    async with open_database(folder / "data" / "octo_lab.db") as database:
        [session] = await database.read(lambda db: list_sessions(db, None))
        return await database.read(lambda db: load_turns(db, session.id, context_only=False))


async def test_what_waits_behind_a_slow_turn_is_answered_from_before_it(tmp_path: Path) -> None:
    channel, provider = MemoryChannel(), Gated()
    provider.gate("old").set()
    async with open_app(setup_in(tmp_path, channel, provider=provider, session=SPECULATIVE)):
        await channel.turn(await channel.ask("old"))
        slow = await opened_turn(channel, provider, "slow")
        beside = [await opened_turn(channel, provider, text) for text in ("b1", "b2")]
        provider.gate("b2").set()
        second = await channel.turn(beside[1])
        meanwhile = await path(channel)
        provider.gate("b1").set()
        first = await channel.turn(beside[0])
        provider.gate("slow").set()
        main = await channel.turn(slow)
        provider.gate("after").set()
        await channel.turn(await channel.ask("after"))
        ended = await path(channel)
    records = await stored(tmp_path)

    assert provider.told("b1") == ["old", "[old]", "b1"]
    assert provider.told("b2") == ["old", "[old]", "b2"]
    assert NoticeBlock(BESIDE) in second.blocks
    assert NoticeBlock(BESIDE) not in main.blocks
    assert [turn.text for turn in (main, first, second)] == ["[slow]", "[b1]", "[b2]"]
    assert [turn.usage.output_tokens for turn in (main, first, second)] == [1, 1, 1]
    order = ["old", "slow", "b1", "b2"]
    states = ["completed", "running", "running", "completed"]
    assert meanwhile == list(zip(order, states, strict=True))
    assert ended == [(text, "completed") for text in (*order, "after")]
    said = [part for text in (*order, "after") for part in (text, f"[{text}]")]
    assert provider.told("after") == said[:-1]
    assert [record.turn.depth for record in records] == [1, 2, 3, 4, 5]
    parents = [record.turn.parent for record in records]
    assert parents == [None, *(record.turn.id for record in records[:-1])]
    assert [bool(record.turn.side) for record in records] == [False, False, True, True, False]
    for record in records:
        assert transcript_faults(record.messages) == []


async def test_a_question_after_the_slow_turn_sees_what_is_still_being_answered(
    tmp_path: Path,
) -> None:
    channel, provider = MemoryChannel(), Gated()
    async with open_app(setup_in(tmp_path, channel, provider=provider, session=SPECULATIVE)):
        slow = await opened_turn(channel, provider, "slow")
        side = await opened_turn(channel, provider, "side")
        provider.gate("slow").set()
        await channel.turn(slow)
        provider.gate("next").set()
        await channel.turn(await channel.ask("next"))
        provider.gate("side").set()
        done = await channel.turn(side)
        ended = await path(channel)

    note = "[This is being answered at the same time.]"
    assert provider.told("next") == ["slow", "[slow]", "side", note, "next"]
    assert (done.text, ended) == (
        "[side]",
        [("slow", "completed"), ("side", "completed"), ("next", "completed")],
    )


async def test_a_prompt_turn_lets_them_wait(tmp_path: Path) -> None:
    channel, provider = MemoryChannel(), Gated()
    patient = {"queue_mode": "speculative", "patience": 600}
    async with open_app(setup_in(tmp_path, channel, provider=provider, session=patient)):
        first = await opened_turn(channel, provider, "a")
        second = await channel.ask("b")
        await waiting_there(channel, 1)
        meanwhile = await path(channel)
        provider.gate("a").set()
        provider.gate("b").set()
        await channel.turn(first)
        done = await channel.turn(second)

    assert meanwhile == [("a", "running")]
    assert provider.told("b") == ["a", "[a]", "b"]
    assert NoticeBlock(BESIDE) not in done.blocks


async def test_five_are_answered_beside_one_turn_and_one_more_is_told_so(tmp_path: Path) -> None:
    channel, provider = MemoryChannel(), Gated()
    async with open_app(setup_in(tmp_path, channel, provider=provider, session=SPECULATIVE)):
        slow = await opened_turn(channel, provider, "slow")
        beside = [await opened_turn(channel, provider, f"b{n}") for n in range(MOST)]
        busy = await channel.message(await channel.ask("one more"))
        provider.gate("b0").set()
        await channel.turn(beside[0])
        again = await opened_turn(channel, provider, "again")
        for gate in ("slow", "again", *(f"b{n}" for n in range(MOST))):
            provider.gate(gate).set()
        for message in (slow, again, *beside):
            assert (await channel.turn(message)).state == "completed"

    assert (busy.text, busy.failed, busy.hint) == (BUSY.text, True, BUSY.hint)
    assert "one more" not in provider.requests


async def test_each_is_stopped_by_itself_and_all_by_stop(tmp_path: Path) -> None:
    channel, provider = MemoryChannel(), Gated()
    async with open_app(setup_in(tmp_path, channel, provider=provider, session=SPECULATIVE)):
        slow = await opened_turn(channel, provider, "slow")
        one, two = [await opened_turn(channel, provider, text) for text in ("one", "two")]
        told = await channel.control(Stop(message_id=one.id))
        first = await channel.turn(one)
        still = await path(channel)
        await channel.ask("/stop")
        ends = [(await channel.turn(message)).state for message in (slow, two)]

    assert (told, first.state, first.text) == (Told(text="Stopped."), "cancelled", "[one")
    assert still == [("slow", "running"), ("one", "cancelled"), ("two", "running")]
    assert ends == ["cancelled", "cancelled"]


async def test_a_cell_waits_for_its_turn(tmp_path: Path) -> None:
    channel, provider = MemoryChannel(), Gated()
    async with open_app(setup_in(tmp_path, channel, provider=provider, session=SPECULATIVE)):
        slow = await opened_turn(channel, provider, "slow")
        cell = await channel.ask("cell", AskOptions(slot="c1"))
        side = await opened_turn(channel, provider, "side")
        meanwhile = await path(channel)
        for gate in ("slow", "side", "cell"):
            provider.gate(gate).set()
        for message in (slow, side, cell):
            await channel.turn(message)

    assert meanwhile == [("slow", "running"), ("side", "running")]
    assert provider.told("cell")[:2] == ["slow", "[slow]"]


async def test_a_process_that_ends_closes_all_that_ran(tmp_path: Path) -> None:
    channel, provider = MemoryChannel(), Gated()
    async with open_app(setup_in(tmp_path, channel, provider=provider, session=SPECULATIVE)):
        await opened_turn(channel, provider, "slow")
        await opened_turn(channel, provider, "side")
    again = MemoryChannel()
    async with open_app(setup_in(tmp_path, again, provider=provider)):
        ended = await path(again)

    assert ended == [("slow", "interrupted"), ("side", "interrupted")]


async def test_another_runtime_keeps_out_while_a_turn_runs_beside(tmp_path: Path) -> None:
    channel, other, provider = MemoryChannel(), MemoryChannel(), Gated()
    async with (
        open_app(setup_in(tmp_path, channel, provider=provider, session=SPECULATIVE)),
        open_app(setup_in(tmp_path, other, provider=provider)),
    ):
        slow = await opened_turn(channel, provider, "slow")
        side = await opened_turn(channel, provider, "side")
        provider.gate("slow").set()
        await channel.turn(slow)
        busy = await other.message(await other.ask("mine"))
        provider.gate("side").set()
        done = await channel.turn(side)

    assert "busy in kernel" in busy.text
    assert done.state == "completed"


class Slow:
    """Takes so many seconds before each answer begins."""

    name = model = "slow"

    def __init__(self) -> None:
        self.gate = anyio.Event()
        self.held: set[str] = set()
        self.seconds = 0.0

    async def stream(self, request: ChatRequest) -> Events:
        text = request.messages[-1].content
        await anyio.sleep(self.seconds)
        yield TextDelta("begun")
        if text in self.held:
            await self.gate.wait()
        yield Done("end_turn")


@pytest.mark.parametrize("chosen", [False, True])
async def test_slow_answers_make_it_speculative_where_nobody_chose_a_mode(
    tmp_path: Path, chosen: bool
) -> None:
    channel, provider = MemoryChannel(), Slow()
    provider.held |= {"held"}
    settings: dict[str, Any] = {"patience": 0.05}
    if chosen:
        settings["queue_mode"] = "followup"
    async with open_app(setup_in(tmp_path, channel, provider=provider, session=settings)):
        for _ in range(5):
            await channel.turn(await channel.ask("quick"))
        provider.seconds = 3.1
        for _ in range(2):
            await channel.turn(await channel.ask("late"))
        before = await channel.message(await channel.ask("/queue"))
        held = await channel.ask("held")
        await channel.running(held, begun)
        while_slow = await channel.message(await channel.ask("/queue"))
        provider.seconds = 0.0
        first = await channel.ask("first")
        second = await channel.ask("second")
        if not chosen:
            done = [await channel.turn(first), await channel.turn(second)]
        provider.gate.set()
        await channel.turn(held)
        if chosen:
            done = [await channel.turn(first), await channel.turn(second)]
        after = await channel.message(await channel.ask("/queue"))

    modes = [told.text.split("`")[1] for told in (before, while_slow, after)]
    assert while_slow.text.endswith("So it is while answers are slow.") is not chosen
    assert modes == ["followup", "followup" if chosen else "speculative", "followup"]
    told = [[NoticeBlock(ESCALATED) in turn.blocks for turn in done]]
    assert told == [[not chosen, False]]


async def test_the_oldest_that_waits_is_dropped_and_told_so(tmp_path: Path) -> None:
    channel, provider = MemoryChannel(), Gated()
    session = {"queue": 2, "overflow": "old"}
    async with open_app(setup_in(tmp_path, channel, provider=provider, session=session)):
        first = await opened_turn(channel, provider, "a")
        oldest, *rest = [await channel.ask(text) for text in ("b", "c", "d")]
        dropped = await channel.message(oldest)
        for gate in "acd":
            provider.gate(gate).set()
        done = [await channel.turn(message) for message in (first, *rest)]

    assert dropped.failed
    assert "it was not asked" in dropped.text
    assert [turn.text for turn in done] == ["[a]", "[c]", "[d]"]


async def test_the_oldest_that_wait_are_shortened_to_one_message(tmp_path: Path) -> None:
    channel, provider = MemoryChannel(), Gated()
    session = {"queue": 2, "overflow": "summarize"}
    async with open_app(setup_in(tmp_path, channel, provider=provider, session=session)):
        first = await opened_turn(channel, provider, "a")
        long = f"b {'x' * 300}"
        asked = [await channel.ask(text) for text in (long, "c\nc", "d", "e")]
        await waiting_there(channel, 4)
        for gate in ("a", "- d", "e"):
            provider.gate(gate).set()
        await channel.turn(first)
        joined, last = await channel.turn(asked[0]), await channel.turn(asked[3])
        told = [(await channel.message(message)).text for message in asked[1:3]]
    records = await stored(tmp_path)

    lines = joined.prompt.splitlines()
    assert lines[0].startswith("[More messages waited")
    assert lines[1:] == [f"- {long[:159]}…", "- c c", "- d"]
    assert last.prompt == "e"
    assert told == ["Answered together with the message before it."] * 2
    assert [record.turn.message_id for record in records] == [first.id, asked[0].id, asked[3].id]
    assert records[1].turn.also == (asked[1].id, asked[2].id)


async def test_each_message_of_those_answered_together_is_kept_and_stops_them(
    tmp_path: Path,
) -> None:
    channel, provider = MemoryChannel(), Gated()
    session = {"queue_mode": "collect"}
    async with open_app(setup_in(tmp_path, channel, provider=provider, session=session)):
        first = await opened_turn(channel, provider, "a")
        waiting = [await channel.ask(text) for text in "bcd"]
        await waiting_there(channel, 3)
        provider.gate("a").set()
        await channel.turn(first)
        await channel.running(waiting[0], begun)
        told = [await channel.message(message) for message in waiting[1:]]
        stopped = await channel.control(Stop(message_id=waiting[2].id))
        done = await channel.turn(waiting[0])
    records = await stored(tmp_path)

    assert done.prompt == "b\n---\nQueued #1: c\n---\nQueued #2: d"
    assert records[1].messages[0].content == done.prompt
    assert records[1].turn.message_id == waiting[0].id
    assert records[1].turn.also == (waiting[1].id, waiting[2].id)
    assert {message.text for message in told} == {"Answered together with the message before it."}
    assert (stopped, done.state) == (Told(text="Stopped."), "cancelled")


async def test_each_of_those_collected_is_told_when_they_cannot_be_asked(tmp_path: Path) -> None:
    channel, provider = MemoryChannel(), Gated()
    async with open_app(
        setup_in(
            tmp_path,
            channel,
            provider=provider,
            session={"queue_mode": "collect"},
            limits={"turns": 1},
        )
    ):
        first = await opened_turn(channel, provider, "a")
        waiting = [await channel.ask(text) for text in "bc"]
        await waiting_there(channel, 2)
        provider.gate("a").set()
        await channel.turn(first)
        told = [await channel.message(message) for message in waiting]
        listed = await channel.control(GetSessions())

    assert {message.text for message in told} == {"This session has had its 1 turns"}
    assert isinstance(listed, SessionList)
    assert [(info.turns, info.busy) for info in listed.sessions] == [(1, False)]


async def test_while_a_turn_runs_here_or_elsewhere_nothing_is_summed_up(tmp_path: Path) -> None:
    channel, other, provider = MemoryChannel(), MemoryChannel(), Gated()
    for gate in ("one", "two"):
        provider.gate(gate).set()
    async with (
        open_app(setup_in(tmp_path, channel, provider=provider, session=SPECULATIVE)),
        open_app(setup_in(tmp_path, other, provider=provider)),
    ):
        for text in ("one", "two"):
            await channel.turn(await channel.ask(text))
        running = await opened_turn(channel, provider, "held")
        told = [await each.message(await each.ask("/compact")) for each in (channel, other)]
        provider.gate("held").set()
        await channel.turn(running)

    assert [said.text for said in told] == ["A turn runs in this session"] * 2
