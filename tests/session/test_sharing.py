from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from octo_lab.app import Setup, open_app
from octo_lab.config.settings import ProviderSettings, RoutingSettings
from octo_lab.core.mail import GetHistory, GetRouting, GetStatus, UseCassette
from octo_lab.core.replies import History, Routing, Status
from octo_lab.core.turns import ErrorBlock, NoticeBlock, TurnSnapshot
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.registry import builtin_providers
from octo_lab.llm.resilience.plan import RoutingPlan
from octo_lab.llm.resilience.responsiveness import PROMPT, SLOW, Responsive
from octo_lab.llm.setup import ModelSetup, ProviderFacts
from octo_lab.session.models import ConfiguredModels
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.llm_script import call, calls, fails, says
from octo_lab.testing.llm_server import LlmServer
from octo_lab.testing.setups import setup_in
from octo_lab.tools.function_tool import function_tool

pytestmark = pytest.mark.anyio

ONE_TWO = ("one", "two")


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
        stored = await channel.control(GetHistory())

    assert isinstance(stored, History)
    assert (turn.state, turn.text) == ("completed", "hello")
    assert (turn.model, stored.turns[0].model) == ("two/m", "two/m")
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
        "- one/m: 'one' answered 401: who are you? "
        "(check the key of 'one': it is missing, wrong or may not use this model)",
        "- two/m: 'two' answered 403: not you "
        "(check the key of 'two': it is missing, wrong or may not use this model)",
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
    second.script(says("Two is here."), says("And here."), says("Still here."))
    tools = [function_tool(wait)]
    setup = shared(tmp_path, channel, first, second, fallbacks=(), tools=tools)
    async with open_app(setup):
        asked = await channel.ask("go")
        await channel.running(asked, lambda turn: "running" in str(turn.blocks))
        queued = await channel.ask("and then?")
        told = await channel.message(await channel.ask("/model two/m"))
        gate.set()
        turn = await channel.turn(asked)
        then = await channel.turn(queued)
        after = await channel.turn(await channel.ask("and now?"))
        history = await channel.control(GetHistory())

    assert told.text == "This session now uses `two/m`, its running turn from the next step on."
    assert (turn.text, turn.model, after.text) == (
        "Let me wait.\n\nTwo is here.",
        "two/m",
        "Still here.",
    )
    assert notices(turn) == ["From its next step on `two/m` answers."]
    assert (then.text, then.model) == ("And here.", "two/m")
    assert isinstance(history, History)
    assert [stored.model for stored in history.turns] == ["two/m"] * 3
    assert [m["role"] for m in second.requests[0].body["messages"]][-2:] == ["assistant", "tool"]
    assert (len(first.requests), second.refused) == (1, [])


async def test_a_person_sees_how_the_models_do_and_chooses_how_they_share(
    tmp_path: Path, first: LlmServer, second: LlmServer
) -> None:
    channel = MemoryChannel(name="terminal")
    first.script(says("a"), says("never", wait=30))
    second.script(says("b"))
    async with open_app(shared(tmp_path, channel, first, second)):
        before = await channel.turn(await channel.ask("one"))
        chosen = await channel.message(await channel.ask("/router hedge"))
        after = await channel.turn(await channel.ask("two"))
        wrong = await channel.message(await channel.ask("/router fast"))

    assert (before.text, after.text) == ("a", "b")
    lines = chosen.text.splitlines()
    assert lines[0] == "`hedge`: Two are asked at once, the first to begin answers."
    assert lines[4].startswith("| one/m | closed | 1 | 0 (0%) | ")
    assert (wrong.text, wrong.hint) == ("No such mode: 'fast'", "one of: off, hedge, lane")


async def test_one_model_has_nothing_to_share(tmp_path: Path, first: LlmServer) -> None:
    channel = MemoryChannel(name="terminal")
    async with open_app(setup_in(tmp_path, channel, base_url=first.base_url)):
        shown = await channel.message(await channel.ask("/router"))
        refused = await channel.message(await channel.ask("/router lane"))

    assert shown.text == 'One model answers; name others as "fallbacks" in config.json.'
    assert refused.failed
    assert "fallbacks" in refused.hint


async def test_other_settings_keep_what_was_measured_another_plan_does_not() -> None:
    async with ModelHttp() as http:
        setup = ModelSetup(
            http=http,
            model="one/m",
            providers={name: ProviderFacts(base_url="http://127.0.0.1:9/v1") for name in ONE_TWO},
            routing=RoutingPlan(fallbacks=("two/m",)),
        )
        models = ConfiguredModels(setup, builtin_providers())
        slots = []
        for now in (
            setup,
            replace(setup, environ={"X": "1"}),
            replace(setup, routing=RoutingPlan(fallbacks=("two/m",), mode="lane")),
        ):
            models.connect(now)
            chosen = (await models.choose(None)).provider
            again = (await models.choose(None)).provider
            assert chosen is again
            assert isinstance(chosen, Responsive)
            slots.append(chosen.router.slots)

    assert slots[0] == slots[1]
    assert slots[1] != slots[2]


async def test_slow_answers_let_two_models_race_until_they_are_prompt_and_both_are_said(
    tmp_path: Path, first: LlmServer, second: LlmServer
) -> None:
    channel = MemoryChannel()
    usual, late = says("usual", wait=0.1), says("late", wait=0.6)
    first.script(*[usual] * 5, *[late] * 3)
    async with open_app(shared(tmp_path, channel, first, second)):
        told: list[str] = []
        modes: list[str] = []
        for number in range(9):
            turn = await channel.turn(await channel.ask(f"question {number}"))
            told += notices(turn)
            modes.append((await routing(channel)).mode)

    assert told == [SLOW, PROMPT]
    assert modes == [*["off"] * 7, "hedge", "off"]
    assert (len(first.requests), len(second.requests)) == (9, 1)
