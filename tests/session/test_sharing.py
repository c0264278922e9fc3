from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from octo_lab.app import Setup, open_app
from octo_lab.config.settings import ProviderSettings, RoutingSettings
from octo_lab.core.mail import GetRouting, GetStatus, Routing, Status, UseCassette
from octo_lab.core.turns import ErrorBlock, NoticeBlock, TurnSnapshot
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.llm_script import call, calls, fails, says
from octo_lab.testing.llm_server import LlmServer
from octo_lab.testing.setups import setup_in
from octo_lab.tools.function_tool import function_tool

pytestmark = pytest.mark.anyio


@pytest.fixture
def first() -> Iterator[LlmServer]:
    with LlmServer() as server:
        yield server


@pytest.fixture
def second() -> Iterator[LlmServer]:
    with LlmServer() as server:
        yield server


def shared(
    folder: Path, channel: MemoryChannel, first: LlmServer, second: LlmServer, **more: Any
) -> Setup:
    """``one/m`` answers, ``two/m`` helps out."""
    settings: dict[str, Any] = {"model": "one/m", "fallbacks": ("two/m",), **more}
    return setup_in(
        folder,
        channel,
        providers={
            "one": ProviderSettings(base_url=first.base_url),
            "two": ProviderSettings(base_url=second.base_url),
        },
        **settings,
    )


def notices(turn: TurnSnapshot) -> list[str]:
    return [block.text for block in turn.blocks if isinstance(block, NoticeBlock)]


async def routing(channel: MemoryChannel) -> Routing:
    reply = await channel.control(GetRouting())
    assert isinstance(reply, Routing)
    return reply


async def test_another_model_answers_when_the_usual_one_fails(
    tmp_path: Path, first: LlmServer, second: LlmServer
) -> None:
    channel = MemoryChannel()
    first.script(fails(401, "who are you?"))
    second.script(says("hello"))
    async with open_app(shared(tmp_path, channel, first, second)):
        turn = await channel.turn(await channel.ask("hi"))

    assert (turn.state, turn.text) == ("completed", "hello")
    assert notices(turn) == ["one/m: 'one' answered 401: who are you?; two/m answers"]


async def test_measurements_outlive_a_turn_and_are_served(
    tmp_path: Path, first: LlmServer, second: LlmServer
) -> None:
    channel = MemoryChannel()
    first.script(fails(401, "no"), says("a"), says("b"))
    async with open_app(shared(tmp_path, channel, first, second)):
        before = await routing(channel)
        for text in ("one", "two", "three"):
            await channel.turn(await channel.ask(text))
        after = await routing(channel)

    told = [(slot.name, slot.state, slot.calls, slot.errors) for slot in after.slots]
    assert [slot.name for slot in before.slots] == ["one/m", "two/m"]
    assert (after.mode, told) == ("off", [("one/m", "closed", 3, 1), ("two/m", "closed", 1, 0)])
    assert after.slots[0].latency is not None


async def test_both_are_asked_when_the_settings_say_hedge(
    tmp_path: Path, first: LlmServer, second: LlmServer
) -> None:
    channel = MemoryChannel()
    first.script(says("never", wait=30))
    second.script(says("fast"))
    hedge = RoutingSettings(mode="hedge")
    async with open_app(shared(tmp_path, channel, first, second, routing=hedge)):
        turn = await channel.turn(await channel.ask("hi"))
        mode = (await routing(channel)).mode

    assert (turn.text, mode, len(first.requests), len(second.requests)) == ("fast", "hedge", 1, 1)


async def test_a_chosen_model_comes_first_and_the_others_help_it(
    tmp_path: Path, first: LlmServer, second: LlmServer
) -> None:
    channel = MemoryChannel()
    second.script(says("from two"))
    settings = {"fallbacks": ("two/m", "one/m")}
    async with open_app(shared(tmp_path, channel, first, second, **settings)):
        await channel.message(await channel.ask("/model two/m"))
        turn = await channel.turn(await channel.ask("hi"))
        slots = (await routing(channel)).slots

    assert (turn.text, turn.model, first.requests) == ("from two", "two/m", [])
    assert [slot.name for slot in slots] == ["two/m", "one/m"]


async def test_a_fallback_that_cannot_be_used_is_named_and_left_out(
    tmp_path: Path, first: LlmServer, second: LlmServer
) -> None:
    channel = MemoryChannel()
    settings = {"fallbacks": ("nonesuch/x", "two/m")}
    async with open_app(shared(tmp_path, channel, first, second, **settings)):
        turn = await channel.turn(await channel.ask("hi"))
        status = await channel.control(GetStatus())
        slots = (await routing(channel)).slots

    assert isinstance(status, Status)
    problem = "The fallback 'nonesuch/x' cannot be used: No provider named 'nonesuch'."
    assert (turn.state, notices(turn), status.provider_note) == ("completed", [problem], problem)
    assert [slot.name for slot in slots] == ["one/m", "two/m"]


async def test_a_catalogue_seeds_and_a_broken_one_is_told(
    tmp_path: Path, first: LlmServer, second: LlmServer
) -> None:
    seeded, broken = tmp_path / "seeded.json", tmp_path / "broken.json"
    seeded.write_text(json.dumps([{"provider": "two/m", "stability": 0.5, "tool_avg_ms": 3000}]))
    broken.write_text("[")
    told = []
    for path in (seeded, broken):
        channel = MemoryChannel()
        setup = shared(tmp_path, channel, first, second, routing=RoutingSettings(catalog=str(path)))
        async with open_app(setup):
            slots = (await routing(channel)).slots
            told.append([(slot.error_rate, slot.latency) for slot in slots])
            status = await channel.control(GetStatus())
    assert told == [[(0.0, None), (0.5, 3.0)], [(0.0, None), (0.0, None)]]
    assert isinstance(status, Status)
    assert status.provider_note.startswith(f"The catalogue {str(broken)!r} cannot be used: ")


async def test_when_all_fail_the_person_reads_why_of_each(
    tmp_path: Path, first: LlmServer, second: LlmServer
) -> None:
    channel = MemoryChannel()
    first.script(fails(401, "who are you?"))
    second.script(fails(403, "not you"))
    async with open_app(shared(tmp_path, channel, first, second)):
        turn = await channel.turn(await channel.ask("hi"))

    error = turn.blocks[-1]
    assert isinstance(error, ErrorBlock)
    assert error.message.splitlines() == [
        "None of 2 models answered:",
        "- one/m: 'one' answered 401: who are you?",
        "- two/m: 'two' answered 403: not you",
    ]


async def test_what_is_recorded_is_one_model_alone(
    tmp_path: Path, first: LlmServer, second: LlmServer
) -> None:
    channel = MemoryChannel()
    first.script(says("a"))
    hedge = RoutingSettings(mode="hedge")
    async with open_app(shared(tmp_path, channel, first, second, routing=hedge)):
        await channel.control(UseCassette(mode="record", path="demo.cassette"))
        turn = await channel.turn(await channel.ask("hi"))

    assert (turn.text, second.requests) == ("a", [])


async def test_another_model_takes_over_a_running_turn(
    tmp_path: Path, first: LlmServer, second: LlmServer
) -> None:
    channel = MemoryChannel()
    gate = anyio.Event()

    async def wait() -> str:
        """Wait until the test says so."""
        await gate.wait()
        return "waited"

    first.script(calls(call("wait"), text=["Let me wait."]))
    second.script(says("Two is here."), says("Still here."))
    tools = [function_tool(wait)]
    setup = shared(tmp_path, channel, first, second, fallbacks=(), tools=tools)
    async with open_app(setup):
        asked = await channel.ask("go")
        await channel.running(asked, lambda turn: "running" in str(turn.blocks))
        told = await channel.message(await channel.ask("/model two/m"))
        gate.set()
        turn = await channel.turn(asked)
        after = await channel.turn(await channel.ask("and now?"))

    assert told.text == "This dialog now uses `two/m`, its running turn from the next step on."
    assert (turn.text, turn.model, after.text) == (
        "Let me wait.\n\nTwo is here.",
        "two/m",
        "Still here.",
    )
    assert notices(turn) == ["From its next step on `two/m` answers."]
    assert [m["role"] for m in second.requests[0].body["messages"]][-2:] == ["assistant", "tool"]
    assert (len(first.requests), second.refused) == (1, [])
