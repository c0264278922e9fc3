"""Programs that go on running: started, read, written to, ended with their owner."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import anyio
import psutil
import pytest

from octo_lab.core.errors import ToolFailed
from octo_lab.tools.sandbox.local import Home, LocalExec
from octo_lab.tools.sandbox.policy import SandboxPolicy
from octo_lab.tools.sandbox.programs import Program, ProgramBounds, Programs, Typed, Unread

pytestmark = pytest.mark.anyio

ECHO = "while read -r line; do echo got $line; done; echo over"


@pytest.fixture
def env(tmp_path: Path) -> LocalExec:
    policy = SandboxPolicy(mode="none")
    return LocalExec(Home(workspace=tmp_path, environ={"PATH": os.defpath}, policy=policy))


@pytest.fixture
async def programs(env: LocalExec) -> AsyncIterator[Programs]:
    async with anyio.create_task_group() as tasks:
        yield Programs(env, tasks, ProgramBounds(each=2, all=3, output=1000, kept=1))
        tasks.cancel_scope.cancel()


def start(programs: Programs, script: str, session: str = "s") -> Program:
    return programs.start(session, script, ("sh", "-c", script), ".")


async def read_until(programs: Programs, program: Program, wanted: bytes) -> bytes:
    read = b""
    with anyio.fail_after(10):
        while wanted not in read:
            read += await programs.read(program, 1.0)
    return read


async def test_what_is_written_is_answered_until_the_input_is_closed(programs: Programs) -> None:
    program = start(programs, ECHO)
    program.typed.write(b"one\n")
    assert await read_until(programs, program, b"\n") == b"got one\n"

    program.typed.write(b"two\n")
    program.typed.close()
    assert await read_until(programs, program, b"over\n") == b"got two\nover\n"
    await program.ended.wait()

    assert (program.state, program.end) == ("ended", "exit code 0")
    assert programs.get("s", program.name) is program
    with pytest.raises(ToolFailed, match="input was closed"):
        program.typed.write(b"more")


async def test_one_that_is_ended_leaves_no_process(programs: Programs) -> None:
    token = uuid4().hex
    program = start(programs, f"(setsid sleep 300 &); echo up; sleep 300; : {token}")
    await read_until(programs, program, b"up")

    await programs.end(program)

    assert program.state == "ended"
    assert not any(token in " ".join(p.info["cmdline"] or ()) for p in _all())


def _all() -> list[psutil.Process]:
    return list(psutil.process_iter(["cmdline"]))


async def test_all_end_with_their_owner(env: LocalExec) -> None:
    token = uuid4().hex
    async with anyio.create_task_group() as tasks:
        programs = Programs(env, tasks)
        program = start(programs, f"echo up; sleep 300; : {token}")
        await read_until(programs, program, b"up")
        tasks.cancel_scope.cancel()

    assert program.state == "ended"
    assert not any(token in " ".join(p.info["cmdline"] or ()) for p in _all())


async def test_only_so_many_run_and_another_conversation_sees_none(programs: Programs) -> None:
    first, second = start(programs, "sleep 300"), start(programs, "sleep 300")
    with pytest.raises(ToolFailed, match=f"end one first: {first.name}, {second.name}"):
        start(programs, "true")

    start(programs, "sleep 300", "t")
    with pytest.raises(ToolFailed, match="those of other conversations"):
        start(programs, "true", "u")

    with pytest.raises(ToolFailed, match="known: none"):
        programs.get("u", first.name)
    assert programs.of("s") == [first, second]


async def test_of_those_that_ended_the_newest_are_remembered(programs: Programs) -> None:
    names = []
    for _ in range(4):
        program = start(programs, "true")
        await program.ended.wait()
        names.append(program.name)

    assert [program.name for program in programs.of("s")] == names[2:]


async def test_one_that_nobody_uses_is_ended(env: LocalExec) -> None:
    async with anyio.create_task_group() as tasks:
        programs = Programs(env, tasks, ProgramBounds(idle=0.3))
        program = start(programs, "sleep 300")
        with anyio.fail_after(10):
            await program.ended.wait()

    assert program.end == "ended: not used for 0.3 s"


async def test_one_that_cannot_be_started_says_why(programs: Programs) -> None:
    program = programs.start("s", "x", ("sh", "-c", "true"), "gone")

    with anyio.fail_after(10):
        await program.ended.wait()

    assert program.end == "failed: 'gone' does not exist"


async def test_output_that_nobody_reads_is_bounded(programs: Programs) -> None:
    program = start(programs, "head -c 100000 /dev/zero; echo end")
    with anyio.fail_after(10):
        await program.ended.wait()

    read = await programs.read(program, 0)

    assert read.startswith("[… 99004 bytes omitted …]\n".encode())
    assert read.endswith(b"\0end\n")
    assert await programs.read(program, 0) == b""


def test_input_that_is_not_taken_is_bounded() -> None:
    typed = Typed(most=5)
    typed.write(b"abc")
    with pytest.raises(ToolFailed, match="does not read"):
        typed.write(b"def")

    assert (typed.take(), typed.take()) == (b"abc", b"")
    typed.write(b"defgh")
    typed.close()
    assert (typed.take(), typed.take()) == (b"defgh", None)


def test_unread_output_is_given_once() -> None:
    unread = Unread(4)
    unread.add(b"abcdef")

    assert bool(unread)
    assert unread.take() == "[… 2 bytes omitted …]\ncdef".encode()
    assert not unread
