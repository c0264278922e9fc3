"""What a dialog has used is counted from its stored turns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from octo_lab.app import open_app
from octo_lab.config.settings import ToolProfileSettings, ToolSettings
from octo_lab.core.messages import ToolCall
from octo_lab.core.turns import ToolBlock, TurnSnapshot
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.providers import ScriptedProvider, calls, says
from octo_lab.testing.setups import setup_in
from tests.agent.turns import ECHO, call

pytestmark = pytest.mark.anyio

ONCE = "Error: Not run: this session has had its 1 calls of 'ec*'."
ROUND = "Error: Not run: this session has had its 1 rounds of tool calls."


async def asked(
    folder: Path, *made: ToolCall, limits: dict[str, Any], tools: ToolSettings = ToolSettings()
) -> TurnSnapshot:
    """One message in the chat's dialog, to an app that ends with it."""
    channel = MemoryChannel()
    provider = ScriptedProvider(calls(*made), says("done"))
    setup = setup_in(folder, channel, provider=provider, tools=[ECHO], limits=limits)
    own = tools.model_copy(update={"channels": setup.settings.tools.channels})
    setup = replace(setup, settings=setup.settings.model_copy(update={"tools": own}))
    async with open_app(setup):
        return await channel.turn(await channel.ask("do it"))


def outputs(turn: TurnSnapshot) -> list[str]:
    return [block.output for block in turn.blocks if isinstance(block, ToolBlock)]


HI = '{"text": "hi"}'


async def test_a_restart_gives_no_new_calls(tmp_path: Path) -> None:
    limits = {"calls": {"ec*": 1}}
    assert outputs(await asked(tmp_path, call("echo", HI), limits=limits)) == ["hi"]

    assert outputs(await asked(tmp_path, call("echo", HI), limits=limits)) == [ONCE]


async def test_a_restart_gives_no_new_rounds(tmp_path: Path) -> None:
    limits = {"rounds": 1}
    assert outputs(await asked(tmp_path, call("echo", HI), limits=limits)) == ["hi"]

    assert outputs(await asked(tmp_path, call("echo", HI), limits=limits)) == [ROUND]


async def test_calls_that_were_denied_do_not_count(tmp_path: Path) -> None:
    limits, deny = {"calls": {"ec*": 1}}, ToolSettings(rules={"echo": "deny"})
    both = (call("echo", HI, id="a"), call("echo", HI, id="b"))
    denied = await asked(tmp_path, *both, limits=limits, tools=deny)
    assert [block.state for block in denied.blocks if isinstance(block, ToolBlock)] == [
        "denied",
        "denied",
    ]

    assert outputs(await asked(tmp_path, call("echo", HI), limits=limits)) == ["hi"]


async def test_calls_by_an_alias_count_for_the_tool(tmp_path: Path) -> None:
    limits = {"calls": {"ec*": 1}}
    profile = ToolProfileSettings(aliases={"echo": "say"})
    named = ToolSettings(models={"*": profile})
    first = await asked(tmp_path, call("say", HI), limits=limits, tools=named)
    assert outputs(first) == ["hi"]

    second = await asked(tmp_path, call("say", HI), limits=limits, tools=named)

    assert outputs(second) == [ONCE]
