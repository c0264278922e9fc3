"""A container that runs already, played by a program that takes the arguments of ``docker``."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4

import anyio
import psutil
import pytest

from octo_lab.core.errors import ToolFailed
from octo_lab.tools.exec_env import Execution
from octo_lab.tools.sandbox.container import ContainerExec

pytestmark = pytest.mark.anyio

# As the real one it passes only named variables, and its end ends nothing inside.
DOCKER = """#!/usr/bin/env python3
import os, subprocess, sys
words = sys.argv[1:]
assert words[:2] == ["exec", "--interactive"], words
del words[:2]
told = {"PATH": os.defpath}
while words[0] == "--env":
    told[words[1]] = os.environ[words[1]]
    del words[:2]
assert words.pop(0) == "box"
inside = subprocess.Popen(words, env=told, cwd=FOLDER, start_new_session=True)
sys.exit(inside.wait() % 256)
"""


@pytest.fixture
def box(tmp_path: Path) -> ContainerExec:
    docker = tmp_path / "bin" / "docker"
    docker.parent.mkdir()
    (tmp_path / "inside").mkdir()
    docker.write_text(DOCKER.replace("FOLDER", repr(str(tmp_path / "inside"))))
    docker.chmod(0o755)
    path = f"{docker.parent}:{os.environ['PATH']}"
    return ContainerExec("box", {"API_KEY": "secret"}, path=path)


def alive(token: str) -> bool:
    return any(
        token in word
        for process in psutil.process_iter(["cmdline"])
        for word in process.info["cmdline"] or ()
    )


async def test_commands_run_in_its_working_folder(box: ContainerExec, tmp_path: Path) -> None:
    (tmp_path / "inside" / "sub").mkdir()
    script = "pwd; echo $MINE $API_KEY; cat >&2; exit 3"

    ran = await box.exec(
        Execution(argv=("sh", "-c", script), folder="sub", stdin=b"in", environ={"MINE": "1"})
    )

    assert ran.stdout.decode() == f"{tmp_path}/inside/sub\n1\n"
    assert (ran.stderr, ran.code) == (b"in", 3)


async def test_files_are_kept_there(box: ContainerExec, tmp_path: Path) -> None:
    await box.write_file("sub/a b.txt", b"\0bytes")

    assert (tmp_path / "inside" / "sub" / "a b.txt").read_bytes() == b"\0bytes"
    assert await box.read_file("sub/a b.txt") == b"\0bytes"
    assert await box.list_dir("sub") == ["a b.txt"]
    assert await box.file_exists("sub/a b.txt")
    assert not await box.file_exists("sub")
    for path in ("gone", "-n", "nul\0"):
        with pytest.raises(ToolFailed):
            await box.read_file(path)


async def test_what_a_command_leaves_in_it_is_ended(box: ContainerExec) -> None:
    token = uuid4().hex
    left = f"setsid sh -c 'trap \"\" TERM; sleep 300; : {token}' </dev/null >/dev/null 2>&1 &"

    await box.exec(Execution(argv=("sh", "-c", left)))
    assert not alive(token)

    with anyio.move_on_after(1):
        await box.exec(Execution(argv=("sh", "-c", f"{left} sleep 300; : {token}")))
    assert not alive(token)

    ran = await box.exec(Execution(argv=("sh", "-c", f"sleep 300; : {token}"), timeout=0.5))
    assert ran.timed_out
    assert not alive(token)
