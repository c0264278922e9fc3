"""The tool ``glob``: files of the workspace by the pattern of their names."""

from __future__ import annotations

import re
from functools import partial
from pathlib import PurePosixPath

import anyio.from_thread
import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field

from octo_lab.core.errors import ToolFailed
from octo_lab.tools.editing import one_line
from octo_lab.tools.gitignore import walk_unignored
from octo_lab.tools.gitpatterns import GitPatterns
from octo_lab.tools.model_tool import model_tool
from octo_lab.tools.tool import ToolContext
from octo_lab.tools.workspace import files_of

_BRACE = re.compile(r"\{([^{}]*)\}")
_MOST = 64


class GlobArgs(BaseModel):
    model_config = ConfigDict(extra="forbid")

    pattern: str = Field(
        min_length=1,
        max_length=1000,
        description="For example `**/*.py` or `src/*.{ts,tsx}`.",
    )
    limit: int = Field(default=100, ge=1, le=1000, description="How many files at most.")


async def glob(ctx: ToolContext, args: GlobArgs) -> str:
    """Find files of the workspace by a pattern of their paths, sorted by name.

    Files named by .gitignore are left out.
    """
    return await anyio.to_thread.run_sync(partial(_find, ctx, args))


def _find(ctx: ToolContext, args: GlobArgs) -> str:
    wanted = GitPatterns([_anchored(pattern) for pattern in _expanded(args.pattern)])
    found = []
    for entry in walk_unignored(files_of(ctx)):
        anyio.from_thread.check_cancelled()
        if wanted.ignored(entry.path):
            found.append(entry.path)
    shown = [one_line(path) for path in sorted(found)[: args.limit]]
    if len(found) > args.limit:
        shown.append(f"[{len(found) - args.limit} more files: narrow the pattern, or raise limit]")
    return "\n".join(shown) or _nothing(args.pattern)


def _nothing(pattern: str) -> str:
    deeper = "" if "/" in pattern else f" At any depth: `**/{pattern}`."
    return f"No file fits {pattern!r}.{deeper}"


def _expanded(pattern: str) -> list[str]:
    """``a.{b,c}`` stands for ``a.b`` and ``a.c``."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        if len(done) + len(waiting) > _MOST:
            raise ToolFailed(f"{pattern!r} has too many alternatives", hint="search for each")
        current = waiting.pop()
        brace = _BRACE.search(current)
        if brace is None:
            done.append(current)
            continue
        before, after = current[: brace.start()], current[brace.end() :]
        waiting += [f"{before}{word}{after}" for word in brace[1].split(",")]
    return done


def _anchored(pattern: str) -> str:
    """The pattern as one of a .gitignore, which begins at the workspace."""
    pure = PurePosixPath(pattern)
    if pure.is_absolute() or ".." in pure.parts:
        raise ToolFailed(
            f"{pattern!r} leads outside the workspace",
            hint="give a pattern relative to the workspace, without '..'",
        )
    inner = pattern.removeprefix("./")
    if inner.endswith("/") or inner.rsplit("/", 1)[-1] == "**":
        inner = f"{inner.removesuffix('**').rstrip('/')}/**/*".removeprefix("/")
    return f"/{inner}"


TOOL = model_tool(glob, GlobArgs, name="glob", group="fs", source="workspace", timeout=60.0)
