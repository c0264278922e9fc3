"""Programs run on this machine without walls: what holds is what the runner itself does."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
import psutil
import pytest

from octo_lab.core.errors import ToolFailed
from octo_lab.tools.exec_env import Executed, Execution
from octo_lab.tools.sandbox.choice import Choice
from octo_lab.tools.sandbox.local import Home, LocalExec
from octo_lab.tools.sandbox.policy import SandboxPolicy

pytestmark = pytest.mark.anyio


@pytest.fixture
def env(tmp_path: Path) -> LocalExec:
    return bare(tmp_path)


def bare(folder: Path) -> LocalExec:
    """No sandbox, and no control groups to kill by: what holds on any system."""
    environ = {"PATH": os.defpath, "API_KEY": "secret-value", "LANG": "de_DE"}
    env = LocalExec(Home(workspace=folder, environ=environ, policy=SandboxPolicy(mode="none")))
    env._choice = Choice(kind="none", gaps=("commands can do everything that you can",))
    return env


async def run(env: LocalExec, script: str, seconds: float = 20.0, **more: Any) -> Executed:
    execution = Execution(argv=("/bin/sh", "-c", script), timeout=seconds)
    return await env.exec(replace(execution, **more))


def alive(token: str) -> bool:
    def lines() -> Iterator[list[str]]:
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                yield process.cmdline()

    return any(token in word for line in lines() for word in line)


async def test_both_streams_and_the_code_come_back(env: LocalExec) -> None:
    ran = await run(env, "echo out; echo err >&2; exit 3")

    assert (ran.stdout, ran.stderr, ran.code, ran.timed_out) == (b"out\n", b"err\n", 3, False)


async def test_it_is_said_once_that_nothing_holds(env: LocalExec) -> None:
    told: list[str] = []

    first = await run(env, "true", report=told.append)
    second = await run(env, "true", report=told.append)

    warning = (
        "No sandbox holds here: commands can do everything that you can. 'octo doctor' says why."
    )
    assert (first.notes, second.notes, told) == ((warning,), (), [warning])


async def test_input_is_given_whole_or_closed(env: LocalExec) -> None:
    data = os.urandom(300_000)

    whole = await run(env, "cat", stdin=data, output=1_000_000)
    closed = await run(env, "cat; echo end")
    unread = await run(env, "exec <&-; echo did not read", stdin=data)

    assert whole.stdout == data
    assert closed.stdout == b"end\n"
    assert unread.stdout == b"did not read\n"


async def test_text_is_utf8_whatever_the_owner_speaks(env: LocalExec) -> None:
    code = "import sys, locale; print('ü', sys.stdout.encoding, locale.getpreferredencoding())"

    ran = await env.exec(Execution(argv=(sys.executable, "-c", code)))

    assert ran.stdout.decode() == "ü utf-8 UTF-8\n"


async def test_secrets_are_not_told_and_given_variables_are(env: LocalExec) -> None:
    ran = await run(env, "env", environ={"MINE": "1", "LD_PRELOAD": "/tmp/evil.so"})

    told = dict(line.split("=", 1) for line in ran.stdout.decode().splitlines())
    assert told["MINE"] == "1"
    assert told["PATH"].split(":")[0] == f"{sys.prefix}/bin"
    assert not {"API_KEY", "LD_PRELOAD"} & set(told)


@pytest.mark.parametrize(
    "script",
    [
        "sleep 300 & : TOKEN",
        "setsid sleep 300 & : TOKEN",
        "(setsid sh -c 'trap \"\" TERM HUP; sleep 300; : TOKEN' &)",
        "nohup sh -c 'sleep 300; : TOKEN' >/dev/null 2>&1 &",
    ],
)
async def test_what_runs_in_the_background_neither_hangs_nor_outlives_a_command(
    env: LocalExec, script: str
) -> None:
    token = uuid4().hex
    script = script.replace("TOKEN", token).replace("sleep 300", f"sleep 300.{int(token[:6], 16)}")

    with anyio.fail_after(15):
        ran = await run(env, f"{script}\necho ok", 60.0)

    assert (ran.code, ran.timed_out, ran.stdout) == (0, False, b"ok\n")
    assert not alive(token)
    assert not alive(f"300.{int(token[:6], 16)}")


async def test_a_command_out_of_time_may_clean_up_and_is_killed_else(env: LocalExec) -> None:
    token = uuid4().hex

    polite = await run(env, "trap 'echo bye; exit 7' TERM; while :; do sleep 0.1; done", 0.5)
    deaf = await run(env, f"trap '' TERM; while :; do sleep 1; : {token}; done", 0.5)

    assert (polite.timed_out, polite.code, polite.stdout) == (True, 7, b"bye\n")
    assert (deaf.timed_out, deaf.code) == (True, -9)
    assert not alive(token)


async def test_lines_are_reported_while_it_runs_and_not_too_many(env: LocalExec) -> None:
    lines: list[str] = []

    await run(env, "true")
    ran = await run(env, "seq 100000; sleep 0.6; echo one; sleep 0.6", report=lines.append)

    assert ran.code == 0
    assert lines == ["99996", "99997", "99998", "99999", "100000", "one"]


async def test_output_is_heard_as_it_comes(env: LocalExec) -> None:
    heard: list[bytes] = []

    await run(env, "echo a; echo b >&2", listen=heard.append)

    assert sorted(b"".join(heard).split()) == [b"a", b"b"]


async def test_a_cancelled_command_leaves_no_process_and_no_descriptor(env: LocalExec) -> None:
    await run(env, "true")
    before = psutil.Process().num_fds()
    token = uuid4().hex

    for step in range(12):
        with anyio.move_on_after(step * 0.004) as scope:
            await run(env, f"(setsid sleep 300 &); sleep 300; : {token}")
        assert scope.cancelled_caught
        assert not alive(token)

    assert psutil.Process().num_fds() <= before


async def test_one_that_is_cancelled_does_not_touch_another(env: LocalExec) -> None:
    results: list[Executed] = []

    async def other() -> None:
        results.append(await run(env, "sleep 0.5; echo whole"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(other)
        with anyio.move_on_after(0.2):
            await run(env, "sleep 300")

    assert [ran.stdout for ran in results] == [b"whole\n"]


async def test_a_command_runs_in_a_folder_of_the_workspace_only(env: LocalExec) -> None:
    (env.home.workspace / "sub").mkdir()

    inside = await run(env, "pwd", folder="sub")

    assert inside.stdout.decode() == f"{env.home.workspace}/sub\n"
    for folder in ("..", "/etc", "gone", "sub/../.."):
        with pytest.raises(ToolFailed):
            await run(env, "pwd", folder=folder)


async def test_a_program_that_is_not_there_says_so(env: LocalExec) -> None:
    ran = await env.exec(Execution(argv=("no-such-program-at-all",)))

    assert ran.code == 127
    assert b"not found" in ran.stderr


async def test_files_stay_within_the_workspace(env: LocalExec) -> None:
    await env.write_file("sub/a.txt", b"\0bytes")

    assert await env.read_file("sub/a.txt") == b"\0bytes"
    assert await env.list_dir("sub") == ["a.txt"]
    assert (await env.file_exists("sub/a.txt"), await env.file_exists("b.txt")) == (True, False)
    for path in ("../x", "/etc/passwd", ".octo/x"):
        with pytest.raises(ToolFailed):
            await env.read_file(path)
        with pytest.raises(ToolFailed):
            await env.write_file(path, b"")


async def test_a_sandbox_that_was_set_and_cannot_be_had_is_an_error(tmp_path: Path) -> None:
    mode = "macos" if sys.platform == "linux" else "landlock"
    env = LocalExec(Home(workspace=tmp_path, policy=SandboxPolicy(mode=mode)))  # type: ignore[arg-type]

    with pytest.raises(ToolFailed, match=f"The sandbox '{mode}' cannot be used"):
        await run(env, "true")
