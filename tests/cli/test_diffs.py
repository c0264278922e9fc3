"""A change of a file is shown as a diff in a terminal, and cannot steer it."""

from __future__ import annotations

import io

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Static

from octo_lab.cli.chat.turn_view import TurnView
from octo_lab.cli.printer import Printer
from octo_lab.core.turns import ToolBlock, TurnSnapshot

TURN = TurnSnapshot(
    turn_id="t",
    message_id="m",
    session="s",
    revision=1,
    state="completed",
    prompt="go",
    blocks=(
        ToolBlock(
            call_id="c",
            name="edit_file",
            arguments="{}",
            state="ok",
            output="Edited 'f' at line 1.",
            diff="--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\x1b[2J[b]\n+b\n",
        ),
    ),
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def printed(side: io.StringIO) -> str:
    Printer(out=io.StringIO(), side=side).show(TURN)
    return side.getvalue()


def test_the_printer_shows_it_beside_the_answer() -> None:
    assert printed(io.StringIO()) == (
        "✓ edit_file\n  --- a/f\n  +++ b/f\n  @@ -1 +1 @@\n  -a[2J[b]\n  +b\n"
    )


def test_the_printer_colours_it_on_a_terminal() -> None:
    assert printed(Terminal()).split("\n")[3:] == [
        "  \x1b[36m@@ -1 +1 @@\x1b[0m",
        "  \x1b[31m-a[2J[b]\x1b[0m",
        "  \x1b[32m+b\x1b[0m",
        "",
    ]


class Faces(App[None]):
    def compose(self) -> ComposeResult:
        yield TurnView(TURN)


@pytest.fixture
def no_blocking_calls() -> None:
    """Not here: Textual reads its styles on its loop, below a frame of ours."""


@pytest.mark.anyio
async def test_the_chat_shows_it_below_the_call() -> None:
    app = Faces()
    async with app.run_test() as pilot:
        await pilot.pause()
        shown = app.query_one(".diff", Static).content
    assert str(shown) == "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a[2J[b]\n+b"
