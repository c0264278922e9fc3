from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from octo_lab.agent.compaction import SUMMARY_HEAD
from octo_lab.agent.model_call import ModelCall
from octo_lab.agent.ports import NO_HOOKS
from octo_lab.app import Setup, open_app
from octo_lab.config.settings import (
    HookSettings,
    ModelSettings,
    ProviderSettings,
    SessionSettings,
)
from octo_lab.core.mail import GetHistory, RunCommand
from octo_lab.core.messages import ChatRequest, Message
from octo_lab.core.replies import History, Told
from octo_lab.core.stream import Done, StreamEvent, TextDelta
from octo_lab.core.turns import NoticeBlock
from octo_lab.security.envelope import Envelope, origin_of
from octo_lab.session.compact import SessionCompaction, sum_up
from octo_lab.session.history import Earlier
from octo_lab.storage.history import TurnRecord, TurnRow
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.llm_script import Json, Turn, fails, says
from octo_lab.testing.llm_server import LlmServer
from octo_lab.testing.setups import setup_in

pytestmark = pytest.mark.anyio


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer() as running:
        yield running


def small(folder: Path, channel: MemoryChannel, server: LlmServer, **more: Any) -> Setup:
    """A model with a window that a few long answers fill."""
    return setup_in(
        folder,
        channel,
        model="one/m",
        providers={"one": ProviderSettings(base_url=server.base_url)},
        models={"one/m": ModelSettings(context_window=12_000)},
        **more,
    )


def answer(body: Json) -> Turn:
    """Long answers; asked for a record, a short one."""
    first = body["messages"][0]["content"]
    return says("They spoke of numbers.") if "keep the record" in first else says("word " * 250)


async def command(channel: MemoryChannel, line: str) -> Told:
    reply = await channel.control(RunCommand(line=line))
    assert isinstance(reply, Told)
    return reply


def sent(server: LlmServer) -> list[str]:
    return [str(m["content"]) for m in server.requests[-1].body["messages"] if m["role"] == "user"]


async def test_a_dialog_that_fills_its_window_is_summed_up_and_no_row_goes(
    tmp_path: Path, server: LlmServer
) -> None:
    channel = MemoryChannel()
    server.script(*[answer] * 60)
    async with open_app(small(tmp_path, channel, server)):
        turns = [await channel.turn(await channel.ask(f"number {n}")) for n in range(24)]
        history = await channel.control(GetHistory())
    assert {turn.state for turn in turns} == {"completed"}
    noted = [
        turn
        for turn in turns
        if any(isinstance(b, NoticeBlock) and "summed up" in b.text for b in turn.blocks)
    ]
    assert noted
    first, *rest = sent(server)
    assert first.startswith(SUMMARY_HEAD)
    assert "They spoke of numbers." in first
    assert rest[-1] == "number 23"
    assert isinstance(history, History)
    assert len(history.turns) == 24


async def test_compact_keeps_the_newest_turn_and_clear_forgets_the_summary(
    tmp_path: Path, server: LlmServer
) -> None:
    channel = MemoryChannel()
    server.script(says("a"), says("b"), says("c"), says("A record."), says("d"), says("e"))
    async with open_app(small(tmp_path, channel, server)):
        for text in ("one", "two", "three"):
            await channel.turn(await channel.ask(text))
        told = await command(channel, "/compact")
        await channel.turn(await channel.ask("four"))
        asked = sent(server)
        await command(channel, "/clear")
        await channel.turn(await channel.ask("five"))
    assert told.text == "2 turns summed up by `one/m`.\n\nA record."
    assert asked[0] == f"{SUMMARY_HEAD}\nA record.\n\nthree"
    assert asked[1] == "four"
    assert sent(server) == ["five"]


async def test_a_summary_survives_a_restart_and_goes_into_the_next(
    tmp_path: Path, server: LlmServer
) -> None:
    channel = MemoryChannel()
    server.script(*[says("x")] * 2, says("First record."), *[says("y")] * 2, says("Second record."))
    setup = small(tmp_path, channel, server)
    async with open_app(setup):
        for text in ("one", "two"):
            await channel.turn(await channel.ask(text))
        await command(channel, "/compact")
    again = MemoryChannel()
    async with open_app(replace(setup, channels=(again,))):
        for text in ("three", "four"):
            await again.turn(await again.ask(text))
        assert sent(server)[0].startswith(f"{SUMMARY_HEAD}\nFirst record.")
        told = await command(again, "/compact")
    assert "First record." in sent(server)[0]
    assert told.text.endswith("Second record.")


async def test_a_model_that_fails_is_replaced_by_rules(tmp_path: Path, server: LlmServer) -> None:
    channel = MemoryChannel()
    server.script(says("a"), says("b"), fails(401, "no"))
    async with open_app(small(tmp_path, channel, server)):
        for text in ("one", "two"):
            await channel.turn(await channel.ask(text))
        told = await command(channel, "/compact")
        await channel.turn(await channel.ask("three"))
    assert told.text.startswith("1 turn summed up by rules: 'one' answered 401: no.")
    assert "> User: one\n> Assistant: a" in sent(server)[0]


async def test_a_model_that_knows_no_end_makes_no_endless_summary(
    tmp_path: Path, server: LlmServer
) -> None:
    channel = MemoryChannel()
    server.script(*[says("x")] * 2, says(*map(str, range(100_000)), delay=None), says("y"))
    async with open_app(small(tmp_path, channel, server)):
        for text in ("one", "two"):
            await channel.turn(await channel.ask(text))
        await command(channel, "/compact")
        await channel.turn(await channel.ask("three"))
    summary, asked = sent(server)[0], sent(server)[-1]
    assert "characters omitted" in summary
    assert len(summary) < 9_000
    assert asked.endswith("three")


async def test_nothing_to_sum_up_is_said(tmp_path: Path, server: LlmServer) -> None:
    channel = MemoryChannel()
    async with open_app(small(tmp_path, channel, server)):
        empty = await command(channel, "/compact")
        await channel.turn(await channel.ask("one"))
        short = await command(channel, "/compact")
    assert (empty.failed, short.failed) == (True, True)
    assert short.text == "There is too little to sum up"


class Recorder:
    """A model that writes one record, whatever it is told."""

    name = "one"
    model = "m"

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        yield TextDelta("Do what the page said.")
        yield Done("end_turn")


def spoken(number: int, *messages: Message) -> TurnRecord:
    now = datetime.now(UTC)
    row = TurnRow(
        id=f"t{number}",
        session_id="s",
        parent=None,
        depth=number,
        state="completed",
        prompt="",
        slot="",
        message_id="",
        model="m",
        provider="one",
        started_at=now,
        owner="o",
    )
    return TurnRecord(turn=row, messages=(Message(role="user", content="hi"), *messages))


async def test_what_strangers_said_stays_theirs_in_the_summary_of_a_summary() -> None:
    policy = SessionCompaction(keep=1)
    before = Envelope().wrap("orders", origin="a summary that draws on web_fetch, page.example")
    earlier = Earlier(summary=before, turns=(spoken(1), spoken(2)))

    call = ModelCall(provider=Recorder(), hooks=NO_HOOKS)
    made = await sum_up(call, earlier, policy, 10_000)

    assert made is not None
    assert origin_of(made.text) == "a summary that draws on web_fetch, page.example"
    assert origin_of("a text of a person's") == ""


async def test_a_summary_by_rules_asks_no_model(tmp_path: Path, server: LlmServer) -> None:
    channel = MemoryChannel()
    server.script(*[answer] * 4)
    by_rules = SessionSettings(compact_with="rules")
    async with open_app(small(tmp_path, channel, server, session=by_rules)):
        for n in range(4):
            await channel.turn(await channel.ask(f"number {n}"))
        told = await command(channel, "/compact")

    assert told.text.startswith("3 turns summed up by rules.\n\n> User: number 0")
    assert len(server.requests) == 4


async def test_a_hook_sees_the_call_for_a_summary_and_may_deny_it(
    tmp_path: Path, server: LlmServer
) -> None:
    source = (
        "import json, sys; told = json.load(sys.stdin); "
        "open('seen', 'a').write(f\"{told['event']} {told['iteration']}\\n\"); "
        "print('no summaries'); sys.exit(told['iteration'] == 0 and told['event'][0] == 'b')"
    )
    command_line = (sys.executable, "-c", source)
    hooks = tuple(
        HookSettings(event=event, command=command_line, timeout_ms=20_000)
        for event in ("before_llm_call", "after_llm_call")
    )
    channel = MemoryChannel()
    server.script(*[answer] * 3)
    async with open_app(small(tmp_path, channel, server, hooks=hooks)):
        for n in range(3):
            await channel.turn(await channel.ask(f"number {n}"))
        told = await command(channel, "/compact")

    assert "by rules: A hook did not let the model be asked: no summaries" in told.text
    seen = (tmp_path / "seen").read_text().splitlines()
    assert seen == ["before_llm_call 1", "after_llm_call 1"] * 3 + ["before_llm_call 0"]
