"""Ten small repositories with a failing test, mended by a model through the tools alone."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from octo_lab.app import open_app
from octo_lab.config.settings import SandboxSettings
from octo_lab.core.mail import AskOptions, RunCommand
from octo_lab.core.replies import Told
from octo_lab.core.turns import ToolBlock, TurnSnapshot
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.llm_server import LlmServer
from octo_lab.testing.setups import setup_in
from tests.cli.octo import Octo
from tests.integration.coding.programmer import Programmer
from tests.integration.coding.repository import Repository, files_in
from tests.integration.coding.several import MISSING, RENAME, SEVERAL, SHADOW
from tests.integration.coding.single import ENCODING, SCRIPT, SINGLE

pytestmark = [pytest.mark.anyio, pytest.mark.bwrap]

ALL = (*SINGLE, *SEVERAL)
OWN = ("data", ".octo")


def by_name(repository: Repository) -> str:
    return repository.name


def calls(turn: TurnSnapshot, *names: str) -> list[ToolBlock]:
    blocks = [block for block in turn.blocks if isinstance(block, ToolBlock)]
    return [block for block in blocks if block.name in names] if names else blocks


@pytest.mark.parametrize("repository", ALL, ids=by_name)
async def test_it_is_mended_undone_and_mended_again(tmp_path: Path, repository: Repository) -> None:
    work, beside = tmp_path / "work", tmp_path / "beside"
    for folder in (work, beside):
        repository.make(folder)
    programmer, channel = Programmer(repository.work()), MemoryChannel("notebook")
    before = psutil.Process().children(recursive=True)

    async with LlmServer(then=programmer) as server:
        made = setup_in(
            work, channel, base_url=server.base_url, sandbox=SandboxSettings(mode="bwrap")
        )
        setup = replace(made, environ={"PATH": f"{sys.prefix}/bin:/usr/bin:/bin"})
        async with open_app(setup):
            asked = await channel.ask("Fix the failing test.", AskOptions(headless=True))
            turn = await channel.turn(asked)
            mended = files_in(work, without=OWN)
            undone, gone = await command(channel, "/undo"), files_in(work, without=OWN)
            again, back = await command(channel, "/redo"), files_in(work, without=OWN)

    assert programmer.failure is None
    assert (turn.state, {block.state for block in calls(turn)} <= {"ok", "error"}) == (
        "completed",
        True,
    )
    assert mended == back == {**repository.after(), **repository.beside()}
    assert gone == {**repository.before(), **repository.beside()}
    tests = calls(turn, "shell")
    assert len(tests) > 1
    assert {block.output.split("\n")[0] for block in tests} == {"bwrap"}
    shown = "".join(block.diff for block in calls(turn))
    for name, data in repository.mended.items():
        assert (f"+++ b/{name}\n" if data is not None else f"--- a/{name}\n") in shown
    assert not undone.failed
    assert "What these changed cannot be undone: `shell: cat /proc/1/comm;" in undone.text
    assert all(repr(name) in undone.text and repr(name) in again.text for name in repository.mended)
    around = {f"beside/{name}": file for name, file in repository.before().items()}
    assert files_in(tmp_path, without=("work",)) == around
    assert psutil.Process().children(recursive=True) == before


async def command(channel: MemoryChannel, line: str) -> Told:
    told = await channel.control(RunCommand(line=line))
    assert isinstance(told, Told)
    return told


@pytest.mark.parametrize("repository", [ENCODING, SCRIPT, MISSING, SHADOW, RENAME], ids=by_name)
def test_octo_run_mends_it_and_takes_it_back(tmp_path: Path, repository: Repository) -> None:
    programmer = Programmer(repository.work())
    with LlmServer(then=programmer) as server:
        octo = Octo(folder=tmp_path, env={"OCTO_SANDBOX__MODE": "bwrap"}).with_model(server)
        repository.make(octo.workspace)
        tools = ("--tools", "group:fs", "-t", "g*p", "-t", "shell")
        ran = octo("run", "-s", "mending", *tools, "Fix the failing test.")
        mended = files_in(octo.workspace, without=OWN)
        undone = octo("run", "-s", "mending", "/undo")

    assert programmer.failure is None, ran
    assert ran.code == 0, ran
    assert mended == {**repository.after(), **repository.beside()}
    for name, data in repository.mended.items():
        assert (f"  +++ b/{name}\n" if data is not None else f"  --- a/{name}\n") in ran.err
    assert undone.code == 0, undone
    assert "cannot be undone: `shell:" in undone.out
    assert files_in(octo.workspace, without=OWN) == {**repository.before(), **repository.beside()}
