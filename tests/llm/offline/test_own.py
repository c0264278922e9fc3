from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from octo_lab.llm.offline.languages import load_languages
from octo_lab.tools.builtin.write_file import TOOL as WRITE_FILE
from octo_lab.tools.function_tool import function_tool
from octo_lab.tools.tool import Tool
from tests.llm.offline.own_tools import FUNCTIONS, own_tools, rainfall
from tests.llm.offline.scoring import judged, read_cases
from tests.llm.offline.world import Answered, World, ask

pytestmark = pytest.mark.anyio

CORPUS = Path(__file__).with_name("own_requests.jsonl")
SORRY = load_languages()["en"].say["sorry"]
CASES: Sequence[Mapping[str, Any]] = [
    json.loads(line) for line in CORPUS.read_text("utf-8").splitlines()
]
OWN = {function.__name__ for functions in FUNCTIONS.values() for function in functions}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(workspace=tmp_path)


def made(answered: Answered) -> list[tuple[str, Any]]:
    """The calls of the person's own tools."""
    own = [call for call in answered.calls if call.name in OWN]
    return [(call.name, json.loads(call.arguments)) for call in own]


async def wrong(world: World, split: str) -> list[str]:
    tools = (*world.tools(), *own_tools(split))
    found = []
    for case in CASES:
        if case["split"] == split:
            got = made(await ask(world, case["text"], tools=tools))
            wanted = [(case["tool"], case["arguments"])] if case["tool"] else []
            found += [f"{case['text']!r} made {got}"] if got != wanted else []
    return found


async def test_tools_never_used_while_developing_are_called_with_the_right_arguments(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    held = [case for case in CASES if case["split"] == "held_out"]
    failed = await wrong(world, "held_out")
    with capsys.disabled():
        sys.stdout.write(f"\nown tools, held out: {len(held) - len(failed)} of {len(held)}\n")
    assert len(failed) <= 0.15 * len(held), failed


async def test_tools_used_while_developing_are_called(world: World) -> None:
    assert await wrong(world, "example") == []


def test_the_corpus_is_as_large_as_it_says() -> None:
    assert len(CASES) >= 40
    held = {case["tool"] for case in CASES if case["split"] == "held_out"} - {None}
    assert held == {function.__name__ for function in FUNCTIONS["held_out"]}
    assert sum(case["split"] == "held_out" for case in CASES) * 2 >= len(CASES)


async def test_with_own_tools_offered_nothing_out_of_scope_is_accepted(world: World) -> None:
    tools = (*world.tools(), *own_tools("example"), *own_tools("held_out"))
    claimed = []
    for case in read_cases("held_out"):
        if case.tool is None:
            claimed += [case.text] if made(await ask(world, case.text, tools=tools)) else []
    assert claimed == []


async def test_own_tools_take_no_request_away_from_the_built_in_ones(world: World) -> None:
    extra = (*own_tools("example"), *own_tools("held_out"))
    taken = [case.text for case in read_cases("held_out") if await judged(case, world, extra)]
    usual = [case.text for case in read_cases("held_out") if await judged(case, world)]
    assert len(taken) <= len(usual) + 2, set(taken) - set(usual)


@pytest.mark.parametrize("others", [True, False], ids=["among all tools", "alone"])
async def test_the_result_is_the_answer(others: bool, world: World) -> None:
    tools = (function_tool(rainfall), *(world.tools() if others else ()))
    answered = await ask(world, "how much rainfall does Bonn get?", tools=tools)
    assert made(answered) == [("rainfall", {"city": "Bonn"})]
    assert answered.text == "`rainfall(city='Bonn')` gives `Bonn: 397 mm`."


@pytest.mark.parametrize("text", ["write me a poem", "write me a haiku"])
async def test_who_wants_a_text_is_not_asked_for_the_path_of_a_file(
    text: str, world: World
) -> None:
    answered = await ask(world, text, tools=(WRITE_FILE,))
    assert answered.calls == ()
    assert answered.text.startswith(SORRY)


async def test_what_is_missing_is_asked_for_in_one_sentence(world: World) -> None:
    answered = await ask(world, "how much rainfall is there?", tools=(function_tool(rainfall),))
    assert answered.calls == ()
    assert answered.text == (
        '`rainfall` needs `city`. Ask again with it, for example with `city="…"`.'
    )


def same(name: str) -> Tool:
    def find(city: str) -> str:
        """Find a hotel in a city."""
        return city

    return function_tool(find, name=name)


async def test_between_two_tools_that_fit_alike_it_asks(world: World) -> None:
    tools = (same("hotel_search"), same("search_hotel"))
    answered = await ask(world, "search a hotel in Bonn", tools=tools)
    assert answered.calls == ()
    assert "`hotel_search`" in answered.text
    assert "`search_hotel`" in answered.text


async def test_a_tool_that_fails_is_reported(world: World) -> None:
    def rainfall(city: str) -> str:
        """Yearly rainfall of a city in millimetres."""
        raise ValueError(f"no data on {city}")

    tools = (function_tool(rainfall),)
    answered = await ask(world, "how much rainfall does Bonn get?", tools=tools)
    assert made(answered) == [("rainfall", {"city": "Bonn"})]
    assert "no data on Bonn" in answered.text
