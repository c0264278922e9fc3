from __future__ import annotations

import enum
import functools
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
import pytest
from pydantic import BaseModel, Field

from octo_lab.core.errors import ToolFailed, UsageError
from octo_lab.tools.function_tool import function_tool, tool_decorator
from octo_lab.tools.tool import Tool, ToolContext, ToolResult

pytestmark = pytest.mark.anyio

CTX = ToolContext(
    workspace=Path("/w"),
    channel="notebook",
    chat_id="c",
    session="s",
    turn_id="t",
    call_id="1",
    report=lambda line: None,
)


async def run(tool: Tool, **arguments: Any) -> str:
    result = await tool.run(CTX, tool.parse(arguments))
    assert isinstance(result, ToolResult)
    return result.text


class Unit(enum.Enum):
    """A unit of temperature."""

    C = "celsius"
    F = "fahrenheit"


@dataclass
class Place:
    """Where."""

    city: str
    country: str = "CZ"


class Span(BaseModel):
    days: int = 1


def google(city: str, unit: Literal["C", "F"] = "C", days: int | None = None) -> str:
    """Tell the weather.

    It may be wrong.

    Args:
        city: The name of the city.
        unit: Celsius or
            Fahrenheit.

    Returns:
        One line.
    """
    return f"{city} {unit} {days}"


def numpy_style(city: str, unit: Literal["C", "F"] = "C", days: int | None = None) -> str:
    """Tell the weather.

    It may be wrong.

    Parameters
    ----------
    city : str
        The name of the city.
    unit : {"C", "F"}
        Celsius or
        Fahrenheit.

    Returns
    -------
    str
        One line.
    """
    return f"{city} {unit} {days}"


def rest(city: str, unit: Literal["C", "F"] = "C", days: int | None = None) -> str:
    """Tell the weather.

    It may be wrong.

    :param city: The name of the city.
    :param unit: Celsius or
        Fahrenheit.
    :returns: One line.
    """
    return f"{city} {unit} {days}"


@pytest.mark.parametrize("function", [google, numpy_style, rest])
def test_hints_and_docstring_become_the_schema(function: Callable[..., str]) -> None:
    tool = function_tool(function, name="weather")

    assert tool.description == "Tell the weather.\n\nIt may be wrong.\n\nReturns: One line."
    assert tool.schema == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "The name of the city."},
            "unit": {
                "type": "string",
                "enum": ["C", "F"],
                "default": "C",
                "description": "Celsius or\nFahrenheit.",
            },
            "days": {"type": "integer"},
        },
        "required": ["city"],
    }


async def test_a_call_fills_what_was_given_and_leaves_the_rest_to_python() -> None:
    assert await run(function_tool(google), city="Brno", days="3") == "Brno C 3"


def test_a_plain_docstring_is_the_whole_description() -> None:
    def now() -> str:
        """Tell the time.

        Note: of this machine.
        """
        return ""

    tool = function_tool(now)

    assert tool.description == "Tell the time.\n\nNote: of this machine."
    assert tool.schema == {"type": "object", "properties": {}}


def test_without_a_docstring_the_name_describes_the_tool() -> None:
    def read_sensor() -> None: ...

    assert function_tool(read_sensor).description == "read sensor"


async def test_rich_types_arrive_as_python_values() -> None:
    def plan(place: Place, span: Span, unit: Unit, tags: list[str]) -> list[str]:
        return [type(x).__name__ for x in (place, span, unit, tags)] + [place.country, unit.name]

    tool = function_tool(plan)

    text = await run(tool, place={"city": "Brno"}, span={"days": 2}, unit="celsius", tags=["x"])

    assert text == '["Place", "Span", "Unit", "list", "CZ", "C"]'
    assert tool.schema["$defs"]["Unit"] == {
        "enum": ["celsius", "fahrenheit"],
        "type": "string",
        "description": "A unit of temperature.",
    }


def test_annotated_descriptions_and_bounds_reach_the_schema() -> None:
    def f(
        a: Annotated[int, Field(ge=1, description="how many")],
        b: Annotated[str, "the label"] = "x",
        c: Annotated[int, "limit"] = None,  # type: ignore[assignment]  # noqa: RUF013
    ) -> None: ...

    assert function_tool(f).schema["properties"] == {
        "a": {"type": "integer", "minimum": 1, "description": "how many"},
        "b": {"type": "string", "default": "x", "description": "the label"},
        "c": {"type": "integer", "description": "limit"},
    }


async def test_names_that_pydantic_uses_itself_are_fine() -> None:
    def f(json: str, schema: int, model_config: str, _private: int = 1, self: int = 2) -> str:
        return f"{json}{schema}{model_config}{_private}{self}"

    assert await run(function_tool(f), json="a", schema=1, model_config="b", _private=3) == "a1b32"


async def test_positional_only_and_keyword_only_parameters_are_filled() -> None:
    def f(a: int, b: int = 2, /, c: int = 3, *, d: int = 4) -> list[int]:
        return [a, b, c, d]

    assert await run(function_tool(f), a=1, d=9) == "[1, 2, 3, 9]"


async def test_the_context_is_given_and_not_shown() -> None:
    def where(ctx: ToolContext, name: str) -> str:
        return f"{ctx.workspace}/{name}"

    tool = function_tool(where)

    assert list(tool.schema["properties"]) == ["name"]
    assert await run(tool, name="a") == "/w/a"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "Invalid arguments for 'google': city is missing (it takes: city, unit, days)"),
        (
            {"city": "Brno", "town": 1},
            "Invalid arguments for 'google': town is unknown (it takes: city, unit, days)",
        ),
        (
            {"city": 5, "unit": "K"},
            "Invalid arguments for 'google': city: Input should be a valid string, not 5; "
            "unit: Input should be 'C' or 'F', not 'K' (it takes: city, unit, days)",
        ),
    ],
)
def test_wrong_arguments_are_named_so_that_the_model_can_act(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ToolFailed) as caught:
        function_tool(google).parse(arguments)

    assert str(caught.value) == message


def _star(*args: int) -> None: ...


def _stars(a: int, **more: int) -> None: ...


def _frame(df: pd.DataFrame) -> None: ...


def _missing(a: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (_star, "'_star' takes *args, which a model cannot fill (name each parameter"),
        (_stars, "'_stars' takes **more, which a model cannot fill (name each parameter"),
        (_frame, "A model cannot fill 'df' of the tool '_frame': pd.DataFrame has no JSON form"),
        (_missing, "The type hints of '_missing' cannot be read: name 'Nowhere' is not defined"),
        (lambda: 1, "'<lambda>' is no tool name"),
        (5, "5 is no function"),
    ],
)
def test_a_function_no_model_could_call_is_refused(function: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        function_tool(function)

    assert message in str(caught.value)


async def test_a_sync_function_runs_in_a_thread_and_an_async_one_on_the_loop() -> None:
    def sync() -> bool:
        return threading.current_thread() is threading.main_thread()

    async def on_loop() -> bool:
        return sync()

    assert await run(function_tool(sync)) == "false"
    assert await run(function_tool(on_loop)) == "true"


def _counts(upto: int) -> Any:
    for number in range(upto):
        yield f"step {number}"
    return "all done"


def _lists(upto: int) -> Any:
    yield from range(upto)


async def _counts_later(upto: int) -> Any:
    for number in range(upto):
        yield {"step": number}


@pytest.mark.parametrize(
    ("function", "progress", "result"),
    [
        (_counts, ["step 0\n", "step 1\n"], "all done"),
        (_lists, ["0\n", "1\n"], "1"),
        (_counts_later, ['{"step": 0}\n', '{"step": 1}\n'], '{"step": 1}'),
    ],
)
async def test_a_generator_reports_what_it_yields(
    function: Any, progress: list[str], result: str
) -> None:
    told: list[str] = []
    tool = function_tool(function)
    ran = await tool.run(replace(CTX, report=told.append), tool.parse({"upto": 2}))

    assert (told, ran) == (progress, ToolResult(text=result))


async def test_the_caller_decides_where_functions_run() -> None:
    ran: list[str] = []

    async def call(function: Callable[[], Any]) -> Any:
        ran.append("sync")
        return function()

    async def call_async(function: Callable[[], Any]) -> Any:
        ran.append("async")
        return await function()

    def one() -> str:
        return "1"

    async def two() -> str:
        return "2"

    tools = [function_tool(f, call=call, call_async=call_async) for f in (one, two)]

    assert [await run(tool) for tool in tools] == ["1", "2"]
    assert ran == ["sync", "async"]


async def test_partials_methods_and_objects_are_functions_too() -> None:
    class Adder:
        """Adds."""

        def __call__(self, a: int) -> int:
            return a + 1

        async def add(self, a: int) -> int:
            """Add one later."""
            return a + 1

    assert await run(function_tool(functools.partial(google, unit="F"), name="w"), city="B") == (
        "B F None"
    )
    assert await run(function_tool(Adder(), name="add"), a=1) == "2"
    assert await run(function_tool(Adder().add), a=1) == "2"


def test_the_decorator_registers_the_tool_and_leaves_the_function() -> None:
    tools: list[Tool] = []
    tool = tool_decorator(tools.append, channels=frozenset({"notebook"}))

    @tool
    def one() -> int:
        return 1

    @tool(name="zwei", timeout=3, group="numbers", asks=True)
    def two() -> int:
        """Two."""
        return 2

    assert (one(), two()) == (1, 2)
    shown = [(t.name, t.timeout, t.group, t.asks, t.channels) for t in tools]
    assert shown == [
        ("one", 120.0, "function", False, frozenset({"notebook"})),
        ("zwei", 3, "numbers", True, frozenset({"notebook"})),
    ]
