from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from octo_lab.core.messages import Message
from octo_lab.llm.offline.languages import load_languages
from octo_lab.tools.tool import Tool
from tests.llm.offline.world import Answered, World, ask

pytestmark = pytest.mark.anyio

SAY = {code: language.say for code, language in load_languages().items()}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(workspace=tmp_path)


def only(world: World, *names: str) -> Sequence[Tool]:
    return [tool for tool in world.tools() if tool.name in names]


def calls(answered: Answered) -> list[tuple[str, Any]]:
    return [(call.name, json.loads(call.arguments)) for call in answered.calls]


def history(text: str, answered: Answered) -> list[Message]:
    return [
        Message(role="user", content=text),
        Message(role="assistant", tool_calls=answered.calls),
        *answered.results,
        Message(role="assistant", content=answered.text),
    ]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (
            "what columns does @sales have?",
            "`sales` has these columns: `region`, `revenue`, `units`.",
        ),
        ("what is the shape of `sales`?", "`sales` has 3 rows and 3 columns."),
        ("how many rows does `sales` have?", "`sales` has 3 rows."),
        ("missing values in `sales`", "Missing values in `sales`: revenue 1."),
        ("count the nulls in units of `sales`", "Missing values in `sales`: units 0."),
        ("missing values in `df`", "No value is missing in `df`."),
        ("welche Spalten hat `sales`?", "`sales` hat diese Spalten: `region`, `revenue`, `units`."),
    ],
)
async def test_what_inspecting_shows_is_answered_without_a_second_call(
    text: str, answer: str, world: World
) -> None:
    answered = await ask(world, text)
    assert [name for name, _ in calls(answered)] == ["inspect"]
    assert answered.text == answer


async def test_types_are_answered_from_what_inspecting_shows(world: World) -> None:
    answered = await ask(world, "what are the dtypes of `sales`?")
    assert [name for name, _ in calls(answered)] == ["inspect"]
    assert "units: int64" in answered.text


async def test_a_size_is_answered_from_the_list_of_variables(world: World) -> None:
    answered = await ask(world, "shape of sales")
    assert calls(answered) == [("list_variables", {})]
    assert answered.text == "`sales` has 3 rows and 3 columns."


async def test_few_rows_are_shown_from_what_inspecting_shows_and_more_are_computed(
    world: World,
) -> None:
    world.namespace["long"] = pd.DataFrame({"n": range(100, 120)})
    few = await ask(world, "show the first 2 rows of `long`")
    assert [name for name, _ in calls(few)] == ["inspect"]
    assert "1  101\n```" in few.text
    many = await ask(world, "show the first 8 rows of `long`")
    assert calls(many)[-1] == ("python", {"code": "long.head(8)"})


async def test_columns_that_inspecting_does_not_show_are_computed(world: World) -> None:
    world.namespace["wide"] = pd.DataFrame({f"c{n}": [n] for n in range(60)})
    answered = await ask(world, "which columns does `wide` have?")
    assert calls(answered)[-1] == ("python", {"code": "list(wide.columns)"})


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("what is the mean of revenue in sales?", 'sales["revenue"].mean()'),
        ("What is the sum of price by city in df?", 'df.groupby("city")["price"].sum()'),
        ("wie ist der Mittelwert von units in sales?", 'sales["units"].mean()'),
        ("shape of sales", "sales.shape"),
        ("describe `scores`", "scores"),
    ],
)
async def test_with_python_alone_it_computes_with_the_names_as_they_stand(
    text: str, code: str, world: World
) -> None:
    answered = await ask(world, text, tools=only(world, "python"))
    assert calls(answered) == [("python", {"code": code})]
    assert answered.results[0].outcome == "ok"


async def test_a_wrong_name_is_reported_as_python_reports_it(world: World) -> None:
    text = "what is the mean of revenue in salez?"
    answered = await ask(world, text, tools=only(world, "python"))
    assert calls(answered) == [("python", {"code": 'salez["revenue"].mean()'})]
    assert "NameError: name 'salez' is not defined" in answered.text


async def test_with_python_alone_variables_are_listed_by_python(world: World) -> None:
    answered = await ask(world, "which variables are there?", tools=only(world, "python"))
    assert calls(answered) == [("python", {"code": "%whos"})]


async def test_one_tool_to_look_with_is_enough(world: World) -> None:
    text = "what is the mean of revenue in sales?"
    for looks in ("inspect", "list_variables"):
        answered = await ask(world, text, tools=only(world, "python", looks))
        assert [name for name, _ in calls(answered)] == [looks, "python"]
        assert answered.text == '`sales["revenue"].mean()` gives `150.0`.'


@pytest.mark.parametrize(
    ("follow", "code"),
    [
        ("and the median?", 'df["price"].median()'),
        ("what about the max?", 'df["price"].max()'),
        ("und die Summe?", 'df["price"].sum()'),
        ("y el mínimo?", 'df["price"].min()'),
        ("et l'écart-type ?", 'df["price"].std()'),
        ("那中位数呢？", 'df["price"].median()'),
        ("and by city?", 'df.groupby("city")["price"].mean()'),
        ("and for qty?", 'df["qty"].mean()'),
        ("and the median of qty?", 'df["qty"].median()'),
        ("and the sum per city?", 'df.groupby("city")["price"].sum()'),
    ],
)
async def test_a_follow_up_goes_on_from_the_call_before(
    follow: str, code: str, world: World
) -> None:
    text = "what is the mean of price in `df`?"
    first = await ask(world, text)
    second = await ask(world, follow, history=history(text, first))
    assert calls(second)[-1] == ("python", {"code": code})
    assert second.results[-1].outcome == "ok"


async def test_a_follow_up_keeps_the_groups(world: World) -> None:
    text = "average price per city in `df`"
    first = await ask(world, text)
    second = await ask(world, "and the max?", history=history(text, first))
    assert calls(second)[-1] == ("python", {"code": 'df.groupby("city")["price"].max()'})


async def test_a_follow_up_on_nothing_says_what_is_missing(world: World) -> None:
    assert (await ask(world, "and the median?")).text == SAY["en"]["follow_what"]
    first = await ask(world, "what is 2 + 2?")
    second = await ask(world, "und der Median?", history=history("what is 2 + 2?", first))
    assert second.calls == ()
    assert second.text == SAY["de"]["follow_what"]


async def test_a_follow_up_on_a_denied_call_says_what_is_missing(world: World) -> None:
    text = "what is the mean of price in `df`?"
    first = await ask(world, text, decision="deny")
    second = await ask(world, "and the median?", history=history(text, first))
    assert second.text == SAY["en"]["follow_what"]


async def test_a_follow_up_that_names_no_column_asks_which(world: World) -> None:
    text = "what is the mean of price in `df`?"
    first = await ask(world, text)
    for follow in ("and for dinner?", "and by heart?"):
        second = await ask(world, follow, history=history(text, first))
        assert "python" not in [name for name, _ in calls(second)]
        assert second.text == (
            "Which column do you mean? `df` has: `city`, `price`, `qty`, `Date`."
        )


async def test_a_column_that_is_missing_in_the_request_is_asked_for(world: World) -> None:
    answered = await ask(world, "what is the median in `sales`?")
    assert answered.text == "Which column do you mean? `sales` has: `region`, `revenue`, `units`."
