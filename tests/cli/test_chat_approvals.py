"""A tool asks before it runs; the person answers with one key."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from octo_lab.app import Setup
from octo_lab.cli.chat.app import ChatApp
from octo_lab.cli.chat.approval import QUIET, ApprovalBar
from octo_lab.cli.chat.prompt import PromptArea
from octo_lab.cli.local import open_local
from octo_lab.cli.outcome import Outcome
from octo_lab.config.settings import Settings
from octo_lab.testing.llm_script import call, calls, says
from octo_lab.testing.llm_server import LlmServer
from octo_lab.tools.tool import Tool, ToolContext
from tests.cli.test_chat import answers, say, texts, until

pytestmark = pytest.mark.anyio


@pytest.fixture
def no_blocking_calls() -> None:
    """Not here: Textual reads its styles on its loop, below a frame of ours."""


class Door:
    """A tool that asks; it counts how often it ran."""

    def __init__(self) -> None:
        self.opened = 0

    async def run(self, context: ToolContext, args: Mapping[str, Any]) -> str:
        self.opened += 1
        return "open"

    @property
    def tool(self) -> Tool:
        return Tool(
            name="open_door",
            description="Open the door.",
            schema={"type": "object", "properties": {}},
            parse=lambda args: args,
            run=self.run,
            group="test",
            source="own",
            risk="execute",
            asks=True,
            detail=lambda args: "open the front door",
        )


@asynccontextmanager
async def chatting(
    folder: Path, door: Door, *, after: float = 0.0
) -> AsyncGenerator[Pilot[Outcome]]:
    with LlmServer() as server:
        for text in ("Done.", "Done again."):
            server.script(calls(call("open_door"), wait=after), says(text))
        setup = Setup(
            settings=Settings(),
            workspace=folder,
            data_folder=folder,
            environ={"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "k"},
            tools=(door.tool,),
        )
        app = ChatApp(lambda: open_local(setup, "main"))
        async with app.run_test(size=(100, 40)) as pilot:
            await until(
                pilot, lambda: "this process" in str(app.query_one("#status", Static).content)
            )
            yield pilot


def asked(pilot: Pilot[Outcome]) -> bool:
    return bool(pilot.app.query(ApprovalBar))


async def answer(pilot: Pilot[Outcome], key: str) -> None:
    await until(pilot, lambda: isinstance(pilot.app.focused, ApprovalBar))
    await anyio.sleep(QUIET + 0.1)
    await pilot.press(key)
    await until(pilot, lambda: not asked(pilot))


@pytest.mark.parametrize(
    ("key", "opened", "asks_again"), [("y", 1, True), ("s", 1, False), ("a", 1, False)]
)
async def test_yes_is_for_once_or_for_the_session(
    tmp_path: Path, key: str, opened: int, asks_again: bool
) -> None:
    door = Door()
    async with chatting(tmp_path, door) as pilot:
        await say(pilot, "open")
        await until(pilot, lambda: asked(pilot))
        assert "open the front door" in str(pilot.app.query_one(ApprovalBar).content)
        assert door.opened == 0
        await answer(pilot, key)
        await until(pilot, lambda: answers(pilot) == ["Done."])
        assert door.opened == opened
        assert isinstance(pilot.app.focused, PromptArea)
        await say(pilot, "again")
        if asks_again:
            await answer(pilot, "n")
        await until(pilot, lambda: answers(pilot) == ["Done.", "Done again."])
        assert door.opened == opened + (0 if asks_again else 1)


async def test_no_means_the_tool_never_runs(tmp_path: Path) -> None:
    door = Door()
    async with chatting(tmp_path, door) as pilot:
        await say(pilot, "open")
        await answer(pilot, "n")
        await until(pilot, lambda: answers(pilot) == ["Done."])
        assert texts(pilot, "line")[0].startswith("✗ open_door")
    assert door.opened == 0


async def test_a_letter_typed_into_the_prompt_is_no_consent(tmp_path: Path) -> None:
    door = Door()
    async with chatting(tmp_path, door, after=2.0) as pilot:
        await say(pilot, "open")
        await pilot.press(*"my")
        await until(pilot, lambda: asked(pilot))
        await anyio.sleep(QUIET)
        await pilot.press("y", "s")
        assert pilot.app.query_one(PromptArea).text == "myys"
        await pilot.press("escape")
        await until(pilot, lambda: not asked(pilot))
    assert door.opened == 0


async def test_who_types_on_when_the_question_comes_writes_into_the_prompt(
    tmp_path: Path,
) -> None:
    door = Door()
    async with chatting(tmp_path, door) as pilot:
        await say(pilot, "open")
        await until(pilot, lambda: isinstance(pilot.app.focused, ApprovalBar))
        await pilot.press("o", "k", "y")
        await until(pilot, lambda: pilot.app.query_one(PromptArea).text == "oky")
        assert asked(pilot)
    assert door.opened == 0
