"""Which files are asked about before a tool touches them, and where tools reach beside the
workspace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from octo_lab.security.paths import Root
from octo_lab.tools.tool import Tool
from octo_lab.tools.verdict import Verdict

REACHING = frozenset(
    {"read_file", "write_file", "edit_file", "diff_edit", "list_dir", "grep", "code_structure"}
)
"""Tools whose ``path`` may be absolute."""

_STEERING = frozenset({".git", ".hg", ".svn"})
_ORDERS = frozenset(
    {"agents.md", "claude.md", ".env"}
)  # what octo_lab reads at the workspace's top

Judge = Callable[[Any, Path], Verdict | None]


def judge_write(args: Any, workspace: Path) -> Verdict | None:
    """What lies in a repository's own folder can make git run programs, and what octo_lab reads
    itself, or programs that start later, stays in force when this conversation is over; a person
    decides.
    """
    pure = PurePosixPath(args.path)
    parts = [part.casefold() for part in pure.parts]
    if not _STEERING.isdisjoint(parts):
        return Verdict("ask", f"{args.path!r} steers what the version control does")
    at_top = pure.is_absolute() or len(parts) == 1
    if ".octo" in parts or (at_top and not _ORDERS.isdisjoint(parts[-1:])):
        return Verdict("ask", f"{args.path!r} steers octo_lab from now on")
    if _of_home(workspace / pure, workspace):
        return Verdict("ask", f"{args.path!r} may steer programs that start later")
    return None


def _of_home(path: Path, workspace: Path) -> bool:
    """Whether it lies hidden in the home folder, and the workspace does not lie there, too."""
    home = Path.home()
    if not path.is_relative_to(home):
        return False
    first = home.joinpath(*path.relative_to(home).parts[:1])
    return first.name.startswith(".") and not workspace.is_relative_to(first)


def scopes_write(args: Any, workspace: Path) -> Sequence[str]:
    """A standing yes covers the tool, but of what is asked about only this very file."""
    return (args.path,) if judge_write(args, workspace) else ()


def with_roots(tools: Iterable[Tool], roots: Sequence[Root], *, soft: bool) -> tuple[Tool, ...]:
    """The tools, told of the other ``roots``; ``soft``: they ask about paths beyond these."""
    if not roots and not soft:
        return tuple(tools)
    return tuple(
        _reaching(tool, roots, soft=soft) if tool.name in REACHING else tool for tool in tools
    )


def _reaching(tool: Tool, roots: Sequence[Root], *, soft: bool) -> Tool:
    known = [f"{root.path}{'' if root.writable else ' (read only)'}" for root in roots]
    more = [f"Beside the workspace: {', '.join(known)}."] if known else []
    if not soft:
        return replace(tool, description=" ".join([tool.description, *more]))
    more.append("Other absolute paths are asked about.")
    return replace(
        tool,
        description=" ".join([tool.description, *more]),
        judge=partial(_judge, roots, tool.judge),
        scopes=partial(_scopes, roots, tool.scopes),
    )


def _judge(
    roots: Sequence[Root], inner: Judge | None, args: Any, workspace: Path
) -> Verdict | None:
    judged = inner(args, workspace) if inner else None
    if judged is None and _outside(roots, args.path, workspace):
        return Verdict("ask", f"{args.path!r} is outside the workspace")
    return judged


def _scopes(
    roots: Sequence[Root],
    inner: Callable[[Any, Path], Sequence[str]] | None,
    args: Any,
    workspace: Path,
) -> Sequence[str]:
    if _outside(roots, args.path, workspace):
        return (args.path,)
    return inner(args, workspace) if inner else ()


def _outside(roots: Sequence[Root], path: str, workspace: Path) -> bool:
    """By its words alone: nothing is looked up, and links are not followed anyway."""
    pure = PurePosixPath(path)
    known = (workspace, *(root.path for root in roots))
    return pure.is_absolute() and not any(pure.is_relative_to(folder) for folder in known)
