"""What a command makes that others obey later, for real inside bubblewrap."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from octo_lab.tools.exec_env import Executed, Execution
from octo_lab.tools.sandbox.folders import COARSE_NS
from octo_lab.tools.sandbox.local import Home, LocalExec
from octo_lab.tools.sandbox.policy import SandboxPolicy
from octo_lab.tools.sandbox.repository import plain_settings
from octo_lab.tools.sandbox.steering import Known, find_steering

pytestmark = [pytest.mark.anyio, pytest.mark.bwrap]


class Typing:
    """A feed with nothing in it: the program is one that goes on running."""

    def take(self) -> bytes | None:
        return None


@pytest.fixture
def env(tmp_path: Path) -> LocalExec:
    (tmp_path / "work").mkdir()
    return at(tmp_path / "work", tmp_path)


def at(workspace: Path, home: Path) -> LocalExec:
    policy = SandboxPolicy(mode="bwrap")
    environ = {"PATH": os.defpath}
    return LocalExec(Home(workspace=workspace, environ=environ, policy=policy, home=home))


async def run(env: LocalExec, script: str, **more: Any) -> Executed:
    execution = Execution(argv=("/bin/bash", "-c", script), timeout=30.0)
    ran = await env.exec(replace(execution, **more))
    assert (await env.choice()).kind == "bwrap"
    return ran


def left(folder: Path) -> list[str]:
    """What is there, with the names that were given by chance cut."""
    files = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    names = (str(path.relative_to(folder)) for path in files)
    return sorted(
        name.partition(".made-by-a-command-")[0] + "…" * (".made-" in name) for name in names
    )


@pytest.mark.parametrize(
    ("script", "files"),
    [
        ("echo obey > AGENTS.md", ["AGENTS.md…"]),
        ("echo OPENAI_BASE_URL=x > .env", [".env…"]),
        ("ln -s x CLAUDE.md", ["CLAUDE.md…"]),
        ("mkdir -p a/.octo; echo {} > a/.octo/config.json", ["a/.octo…"]),
        ("mkdir -p .git/hooks; echo x > .git/hooks/pre-commit", [".git/hooks/pre-commit…"]),
        ("mkdir -p a/b/.git; echo '[core] fsmonitor = x' > a/b/.git/config", ["a/b/.git/config…"]),
        ("mkdir .git; printf '[include]\\npath = ../x\\n' > .git/config", [".git/config…"]),
        ("mkdir .git; echo ../x > .git/commondir", [".git/commondir…"]),
        ("mkdir .git x; ln -s ../x .git/hooks", [".git/hooks…"]),
        ("echo 'gitdir: x' > .git", [".git…"]),
        ("mkdir -p a/refs a/objects a/HEAD; echo '[alias] s = !x' > a/config", ["a/config…"]),
        ("mkdir x; echo y > x/config; mv x .git", [".git/config…"]),
    ],
)  # fmt: skip
async def test_it_is_told_and_gets_another_name(
    env: LocalExec, script: str, files: list[str]
) -> None:
    ran = await run(env, script)

    assert ran.code == 0
    assert len(ran.notes) == 1
    assert "is obeyed by octo_lab, git, a shell or a kernel later: what the command" in ran.notes[0]
    found = [name.partition("/config.json")[0] for name in left(env.home.workspace)]
    assert found == files


@pytest.mark.parametrize(
    "script",
    [
        "mkdir -p x/hooks docs; echo y > docs/AGENTS.md; echo z > x/hooks/pre-commit; touch .envrc",
        "mkdir -p node_modules/x/.git; echo '[core] pager = x' > node_modules/x/.git/config",
    ],
)
async def test_other_files_keep_their_names(env: LocalExec, script: str) -> None:
    assert (await run(env, script)).notes == ()
    assert not [name for name in left(env.home.workspace) if "…" in name]


async def test_an_ordinary_repository_is_made_and_used(env: LocalExec) -> None:
    first = await run(
        env,
        "git init -q && git config user.name a && git config user.email b@c && echo 1 > f &&"
        " git add f && git commit -qm one && git clone -q . sub && git -C sub branch x",
    )
    second = await run(env, "git switch -qc other; git log --format=%s; git config core.pager x")

    assert (first.code, first.notes, first.stderr) == (0, (), b"")
    assert (second.stdout, second.notes) == (b"one\n", ())
    assert b"core.pager" not in (env.home.workspace / ".git" / "config").read_bytes()


async def test_what_was_changed_is_as_before(env: LocalExec) -> None:
    orders = env.home.workspace / "AGENTS.md"
    await anyio.Path(orders).write_text("mine\n")

    ran = await run(env, "echo evil >> AGENTS.md")
    gone = await run(env, "rm AGENTS.md")

    assert "; the former one is back." in ran.notes[0]
    assert left(env.home.workspace) == ["AGENTS.md…"]
    assert gone.notes == ()


async def test_a_hook_in_a_repository_below_is_not_changed(env: LocalExec) -> None:
    hooks = env.home.workspace / "sub" / ".git" / "hooks"
    await anyio.to_thread.run_sync(lambda: hooks.mkdir(parents=True))
    await anyio.Path(hooks, "post-commit").write_text("mine")

    ran = await run(env, "echo evil > sub/.git/hooks/post-commit; rm -rf sub/.git/hooks")

    assert b"Read-only file system" in ran.stderr
    assert await anyio.Path(hooks, "post-commit").read_text() == "mine"


async def test_what_a_person_changes_meanwhile_stays(env: LocalExec) -> None:
    await run(env, "git init -q; mkdir -p .git/hooks; git config user.name a")
    git = env.home.workspace / ".git"

    async def person() -> None:
        while not await anyio.Path(env.home.workspace, "ready").exists():  # noqa: ASYNC110 - a file
            await anyio.sleep(0.02)
        await anyio.Path(git, "config").write_text("[alias]\n\ts = status\n")
        await anyio.Path(git, "hooks", "pre-push").write_text("mine")
        await anyio.Path(env.home.workspace, "go").write_text("")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(person)
        ran = await run(env, "touch ready; until [ -e go ]; do sleep 0.02; done")

    assert (ran.code, ran.notes) == (0, ())
    assert await anyio.Path(git, "config").read_text() == "[alias]\n\ts = status\n"
    assert await anyio.Path(git, "hooks", "pre-push").read_text() == "mine"


async def test_what_a_person_agreed_to_stays(env: LocalExec) -> None:
    assert (await run(env, "echo x > AGENTS.md", steers=True)).notes == ()
    assert left(env.home.workspace) == ["AGENTS.md"]


async def test_a_program_that_goes_on_running_is_only_told_of(env: LocalExec) -> None:
    heard: list[bytes] = []

    await run(env, "echo x > AGENTS.md", feed=Typing(), listen=heard.append)

    assert b"".join(heard).endswith(b"it was made or changed while this ran: look at it.]\n")
    assert left(env.home.workspace) == ["AGENTS.md"]


async def test_start_up_files_are_not_made_in_a_home_folder(tmp_path: Path) -> None:
    env = at(tmp_path, tmp_path)

    ran = await run(env, "echo evil > .bashrc; mkdir -p .ipython; echo fine > .cache")

    assert len(ran.notes) == 2
    assert left(tmp_path) == [".bashrc…", ".cache"]


async def test_git_obeys_nothing_of_what_was_put_aside(env: LocalExec) -> None:
    trap = env.home.workspace / "trap"
    await run(
        env,
        "git init -q; mkdir -p .git/hooks; printf '#!/bin/sh\\ntouch sprung\\n' > trap;"
        " chmod +x trap; cp trap .git/hooks/post-index-change; git config core.fsmonitor ./trap",
    )
    status: Callable[[], object] = lambda: subprocess.run(  # noqa: E731
        ["git", "add", "trap"], cwd=trap.parent, check=True
    )
    await anyio.to_thread.run_sync(status)

    assert not await anyio.Path(trap.parent, "sprung").exists()


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("", True),
        ("[core]\n\tbare = false\n# x\n[remote \"o]\\\"\"]\n\turl = git@h:x\n", True),
        ("[core]\n\tbare = false \\\n\tpager = x", False),
        ("[core] pager = x", False),
        ("[core]bare=false\n[user] name = a\n[alias]\n", True),
        ("[CORE]\n\tFsMonitor = x", False),
        ("[filter \"x\"]\n\tclean = y", False),
        ("[filter.x]\n\tclean = y", False),
        ("[remote \"o\"]\n\tuploadpack = x", False),
        ("[include]\n\tpath = x", False),
        ("bare = false", False),
        ("[core]\n\tbare = \"a\nb\"", False),
    ],
)  # fmt: skip
def test_settings_are_plain_when_none_names_a_program(text: str, plain: bool) -> None:
    assert plain_settings(text) is plain


def test_a_large_workspace_is_looked_at_in_part(tmp_path: Path) -> None:
    for number in range(700):
        (tmp_path / f"{number}" / "x").mkdir(parents=True)
    assert find_steering(Known(), tmp_path, tmp_path / "0").repositories == ()


def test_a_second_look_sees_what_was_made_since_whatever_its_times_say(tmp_path: Path) -> None:
    folders = Known()
    made = []
    for name in ("a", "b", "c/d"):
        (tmp_path / name).mkdir(parents=True)
        before = (tmp_path / name).stat()
        while time.time_ns() <= before.st_ctime_ns + COARSE_NS:  # then what was read is trusted
            pass
        find_steering(folders, tmp_path, tmp_path / "home")
        (tmp_path / name / ".git").mkdir()
        os.utime(tmp_path / name, ns=(before.st_atime_ns, before.st_mtime_ns))
        made.append(tmp_path / name / ".git")
        found = find_steering(folders, tmp_path, tmp_path / "home").repositories
        assert set(found) == set(made)
