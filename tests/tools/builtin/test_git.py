"""The tool ``git`` against real repositories, friendly and hostile."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from octo_lab.core.errors import ToolDenied, ToolFailed
from octo_lab.security.net.ports import WebRequest, WebResponse
from octo_lab.tools.builtin import git
from octo_lab.tools.powers import Powers
from octo_lab.tools.sandbox.local import Home, LocalExec
from octo_lab.tools.sandbox.policy import SandboxPolicy
from octo_lab.tools.tool import Tool, ToolContext
from octo_lab.tools.verdict import Verdict

pytestmark = pytest.mark.anyio

Git = Callable[..., Awaitable[str]]


class NoWeb:
    async def fetch(self, request: WebRequest) -> WebResponse:
        raise ToolDenied("no web here")


def run(folder: Path, *argv: str) -> None:
    environ = {
        "PATH": os.defpath,
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z",
        "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z",
    }
    subprocess.run(argv, cwd=folder, env=environ, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for line in (
        "git init -q -b main",
        "git config user.name Ada",
        "git config user.email ada@example.org",
    ):
        run(tmp_path, *line.split())
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "ž b.txt").write_text("x\n")
    run(tmp_path, "git", "add", ".")
    run(tmp_path, "git", "commit", "-q", "-m", "First")
    (tmp_path / "a.txt").write_text("one\n2\n")
    (tmp_path / "new.txt").write_text("")
    return tmp_path


def tool_at(folder: Path, *, mode: str = "none") -> Tool:
    policy = SandboxPolicy(mode=mode)  # type: ignore[arg-type]
    env = LocalExec(Home(workspace=folder, environ={"PATH": os.defpath}, policy=policy))
    return git.tool(Powers(exec=env, web=NoWeb()))


@pytest.fixture
def use(repository: Path, ctx: ToolContext) -> Git:
    tool = tool_at(repository)

    async def use_git(action: str, **more: object) -> str:
        try:
            return str(await tool.run(ctx, tool.parse({"action": action, **more})))
        except ToolFailed as exc:
            return f"failed: {exc}"

    return use_git


async def test_what_is_there_is_shown(use: Git) -> None:
    assert await use("status") == "## main\n M a.txt\n?? new.txt"
    diff = await use("diff")
    assert diff.endswith("@@ -1,2 +1,2 @@\n one\n-two\n+2")
    assert await use("diff", staged=True) == "No differences."
    log = await use("log")
    assert log.split(" ", 1)[1] == "2026-01-02T03:04:05+00:00 Ada (HEAD -> main)\n    First"
    assert " ž b.txt | 1 +\n" in await use("show")
    assert await use("show", ref="HEAD:a.txt") == "one\ntwo"
    blame = await use("blame", paths=["a.txt"])
    assert [line.rsplit(") ", 1)[1] for line in blame.split("\n")] == ["one", "2"]
    assert (await use("branches")).endswith("First")


async def test_changes_are_made_and_told_as_not_undoable(use: Git, ctx: ToolContext) -> None:
    assert await use("add", paths=["."]) == "Done."
    assert await use("status") == "## main\nM  a.txt\nA  new.txt"
    assert await use("unstage", paths=["new.txt"]) == "Done."
    assert "1 file changed" in await use("commit", message="Second\n\n--amend is no option")
    assert (await use("log", limit=1)).endswith("    Second")
    assert await use("branch", name="topic") == "Done."
    await use("switch", name="topic")
    assert (await use("status")).startswith("## topic")
    assert ctx.changes.unknown == [
        "git add .",
        "git unstage new.txt",
        "git commit Second",
        "git branch topic",
        "git switch topic",
    ]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({"action": "log", "ref": "--output=x"}, "'--output=x' is no revision or branch"),
        ({"action": "diff", "ref": "a b"}, "'a b' is no revision or branch"),
        ({"action": "branch", "name": "-D"}, "'-D' is no revision or branch"),
        ({"action": "add"}, "which files?"),
        ({"action": "commit"}, "a commit needs a message"),
        ({"action": "blame"}, "blame takes one file"),
        ({"action": "switch"}, "which branch?"),
        ({"action": "add", "paths": ["../x"]}, "'../x' leads outside the workspace"),
        ({"action": "add", "paths": ["/etc"]}, "'/etc' is outside the workspace"),
        ({"action": "show", "ref": "nope"}, "git says: fatal: "),
    ],
)
async def test_what_cannot_be_done_says_why(use: Git, call: dict[str, object], said: str) -> None:
    assert (await use(**call)).startswith(f"failed: {said}")


async def test_a_path_is_no_option_and_no_pattern(use: Git, repository: Path) -> None:
    await anyio.Path(repository, "--all").write_text("")
    await anyio.Path(repository, "*").write_text("")
    await use("add", paths=["--all", "*"])
    assert await use("status") == "## main\nA  *\nA  --all\n M a.txt\n?? new.txt"


async def test_a_folder_without_a_repository_says_so(ctx: ToolContext, tmp_path: Path) -> None:
    tool = tool_at(tmp_path)
    with pytest.raises(ToolFailed, match="not a git repository"):
        await tool.run(ctx, tool.parse({"action": "status"}))


async def test_no_files_are_compared_outside_of_a_repository(
    ctx: ToolContext, tmp_path: Path
) -> None:
    (tmp_path / "out").symlink_to("/etc")
    (tmp_path / "b").write_text("x\n")
    tool = tool_at(tmp_path)
    with pytest.raises(ToolFailed, match="not a git repository"):
        await tool.run(ctx, tool.parse({"action": "diff", "paths": ["out/passwd", "b"]}))


async def test_only_what_changes_something_is_asked_about(tmp_path: Path) -> None:
    tool = tool_at(tmp_path)
    assert tool.judge is not None
    judge = tool.judge
    decisions = {
        action: verdict.decision
        for action in ("status", "diff", "log", "show", "blame", "branches", "add", "restore")
        if (verdict := judge(tool.parse({"action": action}), tmp_path))
    }
    assert decisions == {
        **dict.fromkeys(("status", "diff", "log", "show", "blame", "branches"), "allow"),
        **dict.fromkeys(("add", "restore"), "ask"),
    }
    assert judge(tool.parse({"action": "commit"}), tmp_path) == Verdict(
        "ask", "git commit changes the repository"
    )


def _booby_trap(folder: Path) -> None:
    """Every setting and file through which a repository could run a program."""
    trap = folder / "trap.sh"
    trap.write_text(f"#!/bin/sh\necho $0 $* >> {folder}/sprung\ncat\n")
    trap.chmod(0o755)
    for name in (
        "core.pager",
        "pager.log",
        "pager.status",
        "core.fsmonitor",
        "diff.external",
        "diff.x.command",
        "diff.x.textconv",
        "filter.x.clean",
        "filter.x.smudge",
        "filter.a.b.process",
        "gpg.program",
        "core.sshCommand",
        "core.editor",
        "core.askPass",
        "core.gitProxy",
        "merge.x.driver",
        "trailer.x.command",
        "remote.origin.uploadpack",
        "diff.tool",
        "difftool.x.cmd",
        "submodule.x.update",
        "credential.helper",
        "alias.status",
    ):
        value = f"!{trap}" if name.startswith("alias") else str(trap)
        run(folder, "git", "config", name, value)
    for name in ("log.showSignature", "commit.gpgSign", "status.submoduleSummary"):
        run(folder, "git", "config", name, "true")
    for name, value in (("promisor", "true"), ("url", str(folder))):
        run(folder, "git", "config", f"remote.origin.{name}", value)
    (folder / "more.cfg").write_text(f'[filter "inc"]\n\tclean = {trap}\n')
    run(folder, "git", "config", "include.path", "../more.cfg")
    run(folder, "git", "config", "core.hooksPath", str(folder / "hooks"))
    (folder / "hooks").mkdir()
    for hook in ("post-index-change", "fsmonitor-watchman", "reference-transaction"):
        (folder / "hooks" / hook).symlink_to(trap)
    (folder / ".gitattributes").write_text(
        "*.txt diff=x filter=x\nnew.txt filter=a.b\nb.txt filter=inc\n"
    )


async def test_a_hostile_repository_runs_nothing_when_it_is_looked_at(
    use: Git, repository: Path
) -> None:
    await anyio.to_thread.run_sync(_booby_trap, repository)
    for action in git.LOOKS:
        more: dict[str, object] = {"paths": ["a.txt"]} if action == "blame" else {}
        assert not (await use(action, **more)).startswith("failed"), action
    assert not await anyio.Path(repository, "sprung").exists()
    await anyio.to_thread.run_sync(partial(run, repository, "git", "status"))
    assert await anyio.Path(repository, "sprung").exists()  # the traps do work


async def test_files_that_lie_elsewhere_are_not_shown(use: Git, repository: Path) -> None:
    set_it = partial(run, repository, "git", "config", "core.worktree", "/etc")
    await anyio.to_thread.run_sync(set_it)
    assert (await use("status")).startswith("failed: the repository's configuration moves")


async def test_it_works_inside_the_sandbox(repository: Path, ctx: ToolContext) -> None:
    tool = tool_at(repository, mode="bwrap")
    status = await tool.run(ctx, tool.parse({"action": "status"}))
    assert status == "## main\n M a.txt\n?? new.txt"
    await tool.run(ctx, tool.parse({"action": "commit", "paths": ["a.txt"], "message": "m"}))
    assert await tool.run(ctx, tool.parse({"action": "status"})) == "## main\n?? new.txt"
