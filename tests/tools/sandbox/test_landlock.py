"""Landlock: the whole command line, and what it takes away for real."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from octo_lab.tools.exec_env import Executed, Execution
from octo_lab.tools.sandbox import landlock_exec
from octo_lab.tools.sandbox.bwrap import ETC
from octo_lab.tools.sandbox.landlock import landlock_argv, landlock_gaps
from octo_lab.tools.sandbox.landlock_exec import landlock_version, rights_of
from octo_lab.tools.sandbox.local import Home, LocalExec
from octo_lab.tools.sandbox.policy import Job, SandboxPolicy

pytestmark = pytest.mark.anyio


def test_what_may_be_read_and_written_goes_to_the_script() -> None:
    job = Job(
        argv=("ls", "-l"),
        workspace=Path("/w"),
        readable=(Path("/py"),),
        fixed=(Path("/w/.venv"),),
        hidden_folders=(Path("/w/.octo"),),
    )

    argv = landlock_argv(job, scratch=Path("/tmp/octo-1"), python="/py/python")

    script = str(Path(landlock_exec.__file__))
    assert argv[:4] == ["/py/python", "-I", "-S", script]
    assert argv[5:] == ["ls", "-l"]
    system = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"]
    devices = ["null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm"]
    assert json.loads(argv[4]) == {
        "read": [*system, *(f"/etc/{name}" for name in ETC), "/proc", "/py"],
        "write": ["/w", "/tmp/octo-1", *(f"/dev/{name}" for name in devices)],
        "hidden": ["/w/.octo"],
        "fixed": ["/w/.venv"],
        "network": False,
    }


def test_a_newer_version_knows_more_rights() -> None:
    assert [rights_of(version).bit_count() for version in (1, 2, 3, 4, 5, 7)] == [
        *(13, 14, 15, 15, 16, 16)
    ]


def test_an_older_version_has_more_gaps() -> None:
    assert [len(landlock_gaps(version)) for version in (3, 4, 6)] == [5, 5, 4]
    assert "no network is cut" in landlock_gaps(3)
    assert "UDP and the sockets of files are not cut" in landlock_gaps(4)


@pytest.fixture
def env(tmp_path: Path) -> LocalExec:
    if landlock_version() < 4:
        pytest.skip("no Landlock of version 4 in this kernel")
    (tmp_path / "w").mkdir()
    (tmp_path / "outside").write_text("canary")
    return LocalExec(
        Home(
            workspace=tmp_path / "w",
            environ={"PATH": os.defpath},
            policy=SandboxPolicy(mode="landlock"),
        )
    )


async def run(env: LocalExec, script: str) -> Executed:
    return await env.exec(Execution(argv=("/bin/bash", "-c", script), timeout=20.0))


async def test_only_the_workspace_and_the_system_are_read(env: LocalExec) -> None:
    ran = await run(
        env,
        "echo fine > x; cat x ../outside /etc/shadow /proc/$PPID/environ;"
        " ls /root /home; mkdir sub && mv x sub/y && ln -s /etc/shadow l; cat l sub/y",
    )

    assert ran.stdout == b"fine\nfine\n"
    assert ran.stderr.count(b"Permission denied") >= 4


@pytest.fixture
def kept(env: LocalExec) -> Path:
    """A workspace with octo_lab's own folder, a file and a folder in it."""
    work = env.home.workspace
    for name in (".octo", "sub"):
        (work / name).mkdir()
    (work / ".octo" / "octo.db").write_text("canary")
    (work / "a.txt").write_text("mine\n")
    (work / "way").symlink_to(".octo")
    return work


async def test_octo_labs_own_folder_is_not_read_or_changed(env: LocalExec, kept: Path) -> None:
    ran = await run(
        env,
        "cat .octo/octo.db way/octo.db sub/../.octo/octo.db; echo evil > .octo/octo.db;"
        " echo evil > .octo/config.json; ln -s x .octo/y; rm .octo/octo.db; mv .octo x;"
        " ln .octo/octo.db sub/l; cp -r .octo sub/o; mkdir .octo/z; cat sub/o/octo.db;"
        " rm -rf .octo",
    )

    assert ran.stdout == b""
    assert [path.name for path in (kept / ".octo").iterdir()] == ["octo.db"]
    assert (kept / ".octo" / "octo.db").read_text() == "canary"


async def test_beside_it_files_are_changed_and_in_folders_made(env: LocalExec, kept: Path) -> None:
    ran = await run(
        env, "echo more >> a.txt; cat a.txt; ls; echo x > sub/new; mv sub/new sub/b; touch top"
    )

    assert ran.stdout == b"mine\nmore\na.txt\nsub\nway\n"
    assert b"cannot touch 'top': Permission denied" in ran.stderr
    assert [path.name for path in (kept / "sub").iterdir()] == ["b"]


async def test_where_there_is_none_the_whole_workspace_is_open(env: LocalExec) -> None:
    ran = await run(env, "touch top && mkdir sub && mv top sub && rm -r sub && echo fine")

    assert ran.stdout == b"fine\n"
    assert not list(env.home.workspace.iterdir())


async def test_what_is_obeyed_later_is_put_aside(env: LocalExec) -> None:
    config = env.home.workspace / ".git" / "config"
    config.parent.mkdir()
    config.write_text("[core]\n\tbare = false\n")

    ran = await run(env, "echo '[core] pager = x' >> .git/config; echo evil > AGENTS.md")

    assert len([note for note in ran.notes if "is obeyed by" in note]) == 2
    assert config.read_text() == "[core]\n\tbare = false\n"


async def test_nothing_outside_is_written(env: LocalExec, tmp_path: Path) -> None:
    ran = await run(
        env,
        "for p in / /usr /etc /tmp /root /var/tmp /proc/sys/kernel/hostname ..; do"
        " touch $p/octo-was-here 2>/dev/null && echo $p; done; echo x >> ../outside && echo wrote;"
        " rm ../outside && echo removed; ln ../outside in && echo linked;"
        " touch $TMPDIR/mine || echo no",
    )

    assert ran.stdout == b""
    assert (tmp_path / "outside").read_text() == "canary"


async def test_no_right_of_root_is_left(env: LocalExec) -> None:
    ran = await run(env, "grep -E 'Cap(Inh|Prm|Eff|Bnd|Amb)|NoNew' /proc/self/status | cut -f2")

    assert ran.stdout.decode().split() == [*["0" * 16] * 5, "1"]


async def test_no_other_process_is_looked_into_or_ended(env: LocalExec) -> None:
    with sleeper(LEAK="canary") as other:
        ran = await run(
            env,
            f"cat /proc/{other.pid}/environ /proc/{os.getpid()}/environ /proc/{os.getpid()}/maps;"
            f" kill -9 {other.pid}; cat /proc/{os.getpid()}/root/etc/shadow",
        )
        assert other.poll() is None
        other.kill()

    assert ran.stdout == b""


def sleeper(**variables: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "60"], env=variables)


async def test_no_tcp_server_is_reached(env: LocalExec) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        ran = await run(env, f"exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]} && echo in")
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()

    assert ran.stdout == b""
    assert b"Permission denied" in ran.stderr


async def test_files_of_the_workspace_do_not_stand_in_for_libraries(env: LocalExec) -> None:
    for name in ("json", "ctypes", "os", "stat", "typing", "contextlib"):
        (env.home.workspace / f"{name}.py").write_text("raise SystemExit('evil')")

    assert (await run(env, "echo fine")).stdout == b"fine\n"


async def test_the_first_command_says_that_the_walls_are_weak(env: LocalExec) -> None:
    told: list[str] = []
    execution = Execution(argv=("true",), report=told.append)

    first, second = await env.exec(execution), await env.exec(execution)

    assert len(first.notes) == 1
    assert first.notes[0].startswith("A weak sandbox (landlock) holds here: other processes")
    assert second.notes == ()
    assert told == list(first.notes)


async def test_a_program_that_is_not_there_is_named(env: LocalExec) -> None:
    ran = await env.exec(Execution(argv=("no-such-program-at-all",)))

    assert (ran.code, ran.stderr) == (1, b"no-such-program-at-all: not found\n")
    assert sys.platform == "linux"
