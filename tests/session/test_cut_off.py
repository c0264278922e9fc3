"""A runtime cut off at any instant of a turn with two tools leaves whole turns behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from octo_lab.app import open_app
from octo_lab.core.mail import GetHistory
from octo_lab.core.replies import History
from octo_lab.core.turns import ToolBlock
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.llm_script import call, calls, says
from octo_lab.testing.llm_server import LlmServer
from octo_lab.testing.setups import setup_in
from octo_lab.tools.function_tool import function_tool

pytestmark = pytest.mark.anyio

INSTANTS = 24


async def first() -> str:
    """Take a moment."""
    await anyio.sleep(0.02)
    return "one"


async def second() -> str:
    """Take another moment."""
    await anyio.sleep(0.04)
    return "two"


TOOLS = [function_tool(first), function_tool(second)]
TURN = (
    calls(call("first", id="a"), call("second", id="b"), text=["Let ", "me ", "see."], delay=0.01),
    says("It ", "is ", "done.", delay=0.01),
)


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer() as server:
        yield server


@pytest.mark.parametrize("instant", range(INSTANTS))
async def test_whatever_was_going_on_the_next_message_works(
    tmp_path: Path, server: LlmServer, instant: int
) -> None:
    server.script(says("Hello."), *TURN)
    channel = MemoryChannel()

    async def live() -> None:
        setup = setup_in(tmp_path, channel, tools=TOOLS, base_url=server.base_url)
        async with open_app(setup):
            await anyio.sleep_forever()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(live)
        await channel.turn(await channel.ask("hi"))
        await channel.ask("go")
        await anyio.sleep(instant * 0.3 / INSTANTS)
        tasks.cancel_scope.cancel()
    again = MemoryChannel()
    async with open_app(setup_in(tmp_path, again, base_url=server.base_url)):
        history = await again.control(GetHistory())
        after = await again.turn(await again.ask("still there?"))

    assert isinstance(history, History)
    [hello, *cut] = history.turns
    assert (hello.state, hello.text) == ("completed", "Hello.")
    assert len(cut) <= 1
    for turn in cut:
        tools = [block for block in turn.blocks if isinstance(block, ToolBlock)]
        assert turn.state in ("interrupted", "completed")
        assert [tool.call_id for tool in tools] in ([], ["a"], ["a", "b"])
        assert all(tool.state in ("ok", "cancelled") for tool in tools)
    assert after.state == "completed"
    assert server.refused == []
