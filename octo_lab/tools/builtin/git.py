"""The tool ``git``: the history of the workspace. What only looks runs unasked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, get_args

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field

from octo_lab.core.errors import ToolFailed
from octo_lab.core.text import clean, first_line
from octo_lab.tools.exec_env import Executed, Execution
from octo_lab.tools.gitargv import (
    find_repository,
    git_argv,
    list_filters,
    must_be_repository,
    read_filters,
)
from octo_lab.tools.model_tool import model_tool
from octo_lab.tools.powers import Powers
from octo_lab.tools.tool import Tool, ToolContext
from octo_lab.tools.verdict import Verdict
from octo_lab.tools.workspace import files_of

Look = Literal["status", "diff", "log", "show", "blame", "branches"]
Act = Literal["add", "unstage", "restore", "commit", "branch", "switch"]
LOOKS: tuple[str, ...] = get_args(Look)
CHANNELS = frozenset({"notebook", "terminal", "web"})
_OUTPUT = 50_000
_SECONDS = 60.0
_NAMES = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")


class GitArgs(BaseModel):
    model_config = ConfigDict(extra="forbid")

    action: Literal[Look, Act]
    paths: list[str] = Field(default=[], max_length=200, description="Only these files or folders.")
    ref: str = Field(
        default="",
        max_length=200,
        description="A commit, branch or range: of diff, log, show, blame, restore, branch.",
    )
    name: str = Field(default="", max_length=200, description="The branch, for branch and switch.")
    message: str = Field(default="", max_length=20_000, description="The message, for commit.")
    staged: bool = Field(default=False, description="For diff: what will be committed.")
    limit: int = Field(default=20, ge=1, le=500, description="For log: how many commits.")


async def git(powers: Powers, ctx: ToolContext, args: GitArgs) -> str:
    """Look at the git history of the workspace, or change it.

    status, diff, log, show, blame and branches only look. add, unstage, restore (discards what
    was not committed), commit, branch (makes one) and switch ask the person first.
    """
    paths = await anyio.to_thread.run_sync(partial(_names, ctx, args.paths))
    looks, words = args.action in LOOKS, _Words(args, paths)
    filters = read_filters(await _run(powers, list_filters(), usual=(0, 1)))
    if must_be_repository(args.action, words):
        await _run(powers, find_repository())
    argv = git_argv(args.action, words, looks=looks, filters=filters)
    if not looks:
        await ctx.changes.unseen(_detail(args))
    stdin = clean(args.message).encode() if args.action == "commit" else b""
    said = await _run(powers, argv, stdin=stdin, steers=not looks)
    return said.decode(errors="replace").strip("\n") or _NOTHING.get(args.action, "Done.")


_NOTHING: Mapping[str, str] = {
    "diff": "No differences.",
    "log": "No commits.",
    "branches": "No branches.",
}


class _Words:
    """The parts of a command line that come from the model, checked."""

    def __init__(self, args: GitArgs, paths: Sequence[str]) -> None:
        self.paths = paths
        self.ref = _checked(args.ref)
        self.name = _checked(args.name)
        self.staged = args.staged
        self.limit = args.limit
        self.message = args.message.strip()


def _checked(word: str) -> str:
    """A name that git cannot take for an option, or for several words."""
    if word.startswith("-") or not word.isprintable() or any(map(str.isspace, word)):
        raise ToolFailed(f"{word!r} is no revision or branch", hint="for example HEAD~1 or main")
    return word


def _names(ctx: ToolContext, paths: Sequence[str]) -> list[str]:
    """The paths, below the workspace and nowhere else."""
    names = [files_of(ctx).name(path) for path in paths]
    outside = [name for name in names if name.startswith("/")]
    if outside:
        raise ToolFailed(f"{outside[0]!r} is outside the workspace")
    return names


async def _run(
    powers: Powers,
    argv: Sequence[str],
    *,
    stdin: bytes = b"",
    usual: Sequence[int] = (0,),
    steers: bool = False,
) -> bytes:
    names = {name: powers.environ[name] for name in _NAMES if name in powers.environ}
    environ = {**names, "GIT_NO_LAZY_FETCH": "1"}  # from a program that the repository names
    execution = Execution(
        argv=argv,
        stdin=stdin,
        timeout=_SECONDS,
        output=_OUTPUT,
        environ=environ,
        steers=steers,
    )
    done = await powers.exec.exec(execution)
    if done.code not in usual:
        raise _failure(done)
    return done.stdout


def _failure(done: Executed) -> ToolFailed:
    said = (done.stderr or done.stdout).decode(errors="replace").strip()
    if "tell me who you are" in said:
        return ToolFailed(
            "git does not know who commits",
            hint="set user.name and user.email in the repository, with `git config`",
        )
    if done.timed_out:
        return ToolFailed(f"git was stopped after {_SECONDS:g} s")
    return ToolFailed(f"git says: {said[:2000] or f'exit code {done.code}'}")


def _judge(args: GitArgs, workspace: Path) -> Verdict:
    if args.action in LOOKS:
        return Verdict("allow", f"git {args.action} only looks")
    return Verdict("ask", f"git {args.action} changes the repository")


def _detail(args: GitArgs) -> str:
    words = [args.name, args.ref, *args.paths, first_line(args.message)]
    return " ".join(["git", args.action, *filter(None, words)])


def tool(powers: Powers) -> Tool:
    return model_tool(
        partial(git, powers),
        GitArgs,
        name="git",
        group="runtime",
        source="workspace",
        risk="write",
        channels=CHANNELS,
        asks=True,
        detail=_detail,
        judge=_judge,
        scopes=lambda args, workspace: (args.action,),
        timeout=2 * _SECONDS + 30.0,
    )
