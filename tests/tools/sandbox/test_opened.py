from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from octo_lab.security.net.client import GuardedClient
from octo_lab.security.private_names import PrivateNames
from octo_lab.tools.builtin import exec_session, shell
from octo_lab.tools.exec_env import Execution, Lookout
from octo_lab.tools.powers import Powers
from octo_lab.tools.sandbox.folders import COARSE_NS
from octo_lab.tools.sandbox.local import Home, LocalExec
from octo_lab.tools.sandbox.policy import SandboxPolicy
from octo_lab.tools.sandbox.programs import Programs
from octo_lab.tools.tool import ToolContext
from tests.tools.conftest import Use

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what is opened"),
]

NAMES = PrivateNames(paths=("data/patients",))
FILES = (".env", ".env.example", "notes.txt", "sub/key.pem", ".ssh/config", "data/patients/a.csv")


@pytest.fixture
def env(tmp_path: Path) -> LocalExec:
    for name in FILES:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("SERVICE=correct-horse\n")
    environ = {"PATH": os.defpath}
    return LocalExec(Home(workspace=tmp_path, environ=environ, policy=SandboxPolicy(mode="none")))


@pytest.mark.parametrize(
    ("script", "opened"),
    [
        ("rev .en?", [".env"]),
        ("python3 -c 'print(open(chr(46) + \"env\").read()[::-1])'", [".env"]),
        ("mv .env other; cat other; mv other .env", [".env"]),
        ("ln .env other; cat other", [".env"]),
        ("cat .env .env", [".env"]),
        ("mv .en? other; mv other .env", [".env"]),
        ("ln .en? other; rm other", [".env"]),
        ("mv .ss? other; mv other .ssh", [".ssh"]),
        ("mv .ssh/conf?? other; mv other .ssh/config", [".ssh"]),
        ("(sleep 0.2; cat .env) & wait", [".env"]),
        ("grep -r correct .", [".env", ".ssh", "data/patients", "sub/key.pem"]),
        ("cat .ssh/config", [".ssh"]),
        ("ls -laR . && stat .env && test -f .env", []),
        ("cat notes.txt .env.example; echo .env", []),
    ],
)
async def test_a_private_file_is_seen_however_it_is_come_to(
    env: LocalExec, script: str, opened: list[str]
) -> None:
    seen: list[str] = []
    lookout = Lookout(names=NAMES, opened=seen.append)

    for _ in range(2):  # the second time the folders are known
        seen.clear()
        await env.exec(Execution(argv=("bash", "-c", script), lookout=lookout))
        assert sorted(seen) == opened


async def test_looking_at_the_workspace_ourselves_is_not_taken_for_a_command(
    env: LocalExec, tmp_path: Path
) -> None:
    seen: list[str] = []
    lookout = Lookout(names=NAMES, opened=seen.append)
    made = (tmp_path / ".env").stat().st_ctime_ns
    while time.time_ns() <= made + COARSE_NS:  # then what was read is trusted
        pass
    await env.exec(Execution(argv=("true",)))
    began = threading.Event()

    async with anyio.create_task_group() as tasks:
        script = "echo on; until [ -e end ]; do sleep 0.02; done"
        watched = Execution(
            argv=("bash", "-c", script), lookout=lookout, listen=lambda data: began.set()
        )
        tasks.start_soon(env.exec, watched)
        await anyio.to_thread.run_sync(began.wait)
        await env.exec(Execution(argv=("true",)))
        await env.exec(Execution(argv=("touch", "end")))

    assert seen == []


async def test_what_a_command_read_is_remembered_though_its_output_tells_nothing(
    env: LocalExec, ctx: ToolContext, use: Use
) -> None:
    powers = Powers(exec=env, web=GuardedClient())

    await use(shell.tool(powers), command="cat notes.txt")
    before = ctx.taint.reasons
    await use(shell.tool(powers), command="rev .en? | base64")

    assert before == ()
    assert ctx.taint.reasons == ("shell read '.env'",)


async def test_a_program_that_goes_on_running_is_seen_whenever_it_reads(
    env: LocalExec, ctx: ToolContext, use: Use
) -> None:
    async with anyio.create_task_group() as tasks:
        tool = exec_session.tool(
            Powers(exec=env, web=GuardedClient(), programs=Programs(env, tasks))
        )
        await use(tool, action="start", command="read line; rev .en?")
        before = ctx.taint.reasons
        told = await use(tool, action="write", name="p1", text="go\n", wait_secs=10)
        tasks.cancel_scope.cancel()

    assert before == ()
    assert "esroh-tcerroc" in told
    assert ctx.taint.reasons == ("exec_session read '.env'",)
