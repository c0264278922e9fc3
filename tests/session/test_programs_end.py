"""Programs that go on running belong to their dialog: they are listed with it and end with it."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from octo_lab.app import open_app
from octo_lab.core.mail import AskOptions, EditSession, GetSessions, GetStatus
from octo_lab.core.messages import ToolCall
from octo_lab.core.replies import SessionList, Status, Told
from octo_lab.core.stream import Done, ToolCalled
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.providers import ScriptedProvider, says
from octo_lab.testing.setups import setup_in

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc"),
]

COMMAND = "echo up; while :; do sleep 0.1; done"


def running(folder: Path) -> bool:
    """Whether a process is at work in the folder, seen by its command line."""
    return any(_is_it(place, folder) for place in Path("/proc").glob("[0-9]*"))


def _is_it(place: Path, folder: Path) -> bool:
    with suppress(OSError):
        at_work = COMMAND.encode() in (place / "cmdline").read_bytes()
        return at_work and (place / "cwd").resolve() == folder
    return False


async def program_lines(channel: MemoryChannel) -> tuple[str, ...]:
    status = await channel.control(GetStatus())
    assert isinstance(status, Status)
    return status.programs


@pytest.mark.parametrize("how", ["deleted", "archived"])
async def test_the_programs_of_a_dialog_end_with_it(tmp_path: Path, how: str) -> None:
    channel = MemoryChannel("notebook")
    args = json.dumps({"action": "start", "command": COMMAND})
    call = ToolCall(id="c", name="exec_session", arguments=args)
    provider = ScriptedProvider([ToolCalled(call), Done("tool_use")], says("It runs."))
    async with open_app(setup_in(tmp_path, channel, provider=provider)):
        turn = await channel.turn(await channel.ask("start it", AskOptions(headless=True)))
        listed = await program_lines(channel)
        shown = await channel.message(await channel.ask("/status"))
        before = await anyio.to_thread.run_sync(running, tmp_path)
        edit = EditSession(session=turn.session, deleted=True)
        if how == "archived":
            edit = EditSession(session=turn.session, archived=True)
        told = await channel.control(edit)
        after = await anyio.to_thread.run_sync(running, tmp_path)
        left = await program_lines(channel)
        sessions = await channel.control(GetSessions())

    assert listed == (f"p1: {COMMAND}",)
    assert f"- programs: p1: {COMMAND}" in shown.text.splitlines()
    assert (before, after, left) == (True, False, ())
    assert isinstance(told, Told)
    assert not told.failed
    assert isinstance(sessions, SessionList)
    assert sessions.sessions == ()
