from __future__ import annotations

import ast

import pytest

from octo_lab.notebook.transforms import await_calls, cell_magic_call, line_magic_calls

OCTO = {"octo": ""}


def line(text: str) -> str:
    return f"get_ipython().run_line_magic('octo', {text!r})"


@pytest.mark.parametrize(
    ("cell", "call"),
    [
        ("%octo what?", line("what?")),
        ("%octo  two spaces ", line(" two spaces ")),
        ("  %octo it's {x}", "  " + line("it's {x}")),
        ("x = %octo a = b", "x = " + line("a = b")),
        ("a.b[0] = %octo hi", "a.b[0] = " + line("hi")),
        ("    return %octo hi", "    return " + line("hi")),
        ("%octo", line("")),
        ("%octo a \\\nb", line("a  b")),
        ("%octo a \\", line("a \\")),
        ("%octo one\n%octo two", line("one") + "\n" + line("two")),
    ],
)
def test_a_line_becomes_its_call(cell: str, call: str) -> None:
    assert line_magic_calls(cell, OCTO) == call


@pytest.mark.parametrize(
    "cell",
    [
        "%octo?",
        "%octo??",
        "?%octo",
        "%octopus x",
        "a % octo",
        "s = '''\n%octo in a string\n'''",
        "f(\n%octo\n)",
        "x = 1 # %octo",
        "x == %octo",
        "print('%octo')",
        "!echo %octo",
    ],
)
def test_what_is_no_line_of_the_magic_stays(cell: str) -> None:
    assert line_magic_calls(cell, OCTO) == cell


def test_an_alias_puts_its_parameters_first() -> None:
    assert line_magic_calls("%oo hi", {"oo": "-m x "}) == line("-m x hi")


@pytest.mark.parametrize("above", ["", "\n\n", "# note\n", "  \n# a\n\n"])
def test_a_cell_becomes_one_call_below_comments(above: str) -> None:
    call = cell_magic_call(f"{above}%%octo -m x\n>>> body\n  it's\n", OCTO)
    assert call is not None
    assert call.endswith("get_ipython().run_cell_magic('octo', '-m x', \">>> body\\n  it's\\n\")\n")
    ast.parse(call)


@pytest.mark.parametrize(
    "cell", ["x = 1\n%%octo\n", "%%octo?", "%%octopus\n", "%%time\n%%octo", ""]
)
def test_other_cells_are_no_cell_of_the_magic(cell: str) -> None:
    assert cell_magic_call(cell, OCTO) is None


def awaited(text: str, *, used: bool, last: bool) -> str:
    return f"(await get_ipython().octo.await_line({text!r}, used={used}, last={last}))"


@pytest.mark.parametrize(
    ("cell", "result"),
    [
        (line("hi"), awaited("hi", used=False, last=True)),
        (f"{line('hi')}\ny = 1", f"{awaited('hi', used=False, last=False)}\ny = 1"),
        (f"é = {line('hi')}", f"é = {awaited('hi', used=True, last=True)}"),
        (f"if x:\n    {line('hi')}", f"if x:\n    {awaited('hi', used=False, last=False)}"),
        (
            f"x = ({line('a')}, {line('b')})",
            f"x = ({awaited('a', used=True, last=False)}, {awaited('b', used=True, last=False)})",
        ),
        (
            f"async def f():\n    return {line('hi')}",
            f"async def f():\n    return {awaited('hi', used=True, last=False)}",
        ),
    ],
)
def test_a_call_is_awaited_where_a_cell_can_await(cell: str, result: str) -> None:
    assert await_calls(cell) == result
    assert await_calls(result) == result
    ast.parse(result)


@pytest.mark.parametrize(
    "cell",
    [
        f"def f():\n    {line('hi')}",
        f"async def f():\n    def g():\n        {line('hi')}",
        f"g = lambda: {line('hi')}",
        f"class C:\n    x = {line('hi')}",
        f"sum(x for x in {line('hi')})",
        "get_ipython().run_line_magic('time', 'octo')",
        "this is no python (",
    ],
)
def test_elsewhere_it_stays_a_blocking_call(cell: str) -> None:
    assert await_calls(cell) == cell
