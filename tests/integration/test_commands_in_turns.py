"""Commands in whole turns: seen while they run, stopped with their turn, gone with the runtime."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import anyio
import psutil
import pytest

from octo_lab.app import Setup, open_app
from octo_lab.core.mail import AskOptions, Stop
from octo_lab.core.messages import ToolCall
from octo_lab.core.stream import Done, StreamEvent, ToolCalled
from octo_lab.core.turns import ToolBlock, TurnSnapshot
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.providers import ScriptedProvider, says
from octo_lab.testing.setups import setup_in

pytestmark = [pytest.mark.anyio, pytest.mark.bwrap]

NAMED = AskOptions(headless=True, tools=("shell", "exec_session"))


def calls(*commands: str, tool: str = "shell", **more: object) -> list[StreamEvent]:
    made = [
        ToolCalled(
            ToolCall(id=f"c{n}", name=tool, arguments=json.dumps({"command": command, **more}))
        )
        for n, command in enumerate(commands)
    ]
    return [*made, Done("tool_use")]


def blocks(turn: TurnSnapshot) -> list[ToolBlock]:
    return [block for block in turn.blocks if isinstance(block, ToolBlock)]


def alive(token: str) -> bool:
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if any(token in word for word in process.cmdline()):
                return True
    return False


def setup(folder: Path, channel: MemoryChannel, *script: list[StreamEvent]) -> Setup:
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data" / "secret").write_text("canary")
    return setup_in(folder, channel, provider=ScriptedProvider(*script))


async def until_alive(token: str) -> None:
    with anyio.fail_after(30):
        while not alive(token):  # noqa: ASYNC110 - processes
            await anyio.sleep(0.05)


async def test_a_command_works_in_the_workspace_and_sees_no_data_folder(tmp_path: Path) -> None:
    channel = MemoryChannel("notebook")
    command = "echo made > made.txt; cat data/secret; ls data; echo $HOME"
    async with open_app(setup(tmp_path, channel, calls(command), says("done"))):
        turn = await channel.turn(await channel.ask("go", NAMED))

    (block,) = blocks(turn)
    assert block.state == "ok"
    assert "canary" not in block.output
    assert "/tmp\n" in block.output
    assert "[exit code 0]" in block.output
    assert (tmp_path / "made.txt").read_text() == "made\n"


async def test_three_commands_that_run_end_when_their_turn_is_stopped(tmp_path: Path) -> None:
    channel, token = MemoryChannel("notebook"), uuid4().hex
    deaf = f"trap '' TERM; (setsid sleep 300 &); sleep 300; : {token}"
    script = calls(deaf, f"sleep 300; : {token}", f"yes {token}")
    async with open_app(setup(tmp_path, channel, script, says("well"))):
        asked = await channel.ask("go", NAMED)
        await until_alive(token)
        await channel.control(Stop(message_id=asked.id))
        stopped = await channel.turn(asked)
        assert not alive(token)
        after = await channel.turn(await channel.ask("and now?", NAMED))

    assert stopped.state == "cancelled"
    assert {block.state for block in blocks(stopped)} == {"cancelled"}
    assert after.state == "completed"


async def test_a_program_that_goes_on_running_ends_with_the_runtime(tmp_path: Path) -> None:
    channel, token = MemoryChannel("notebook"), uuid4().hex
    script = calls(f"echo up; sleep 300; : {token}", tool="exec_session", action="start")
    async with open_app(setup(tmp_path, channel, script, says("done"))):
        turn = await channel.turn(await channel.ask("go", NAMED))
        assert alive(token)

    assert "p1 runs" in blocks(turn)[0].output
    assert not alive(token)
