"""Which tools a turn may use, and who must say yes before one runs."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from octo_lab.core.errors import ToolDenied
from octo_lab.tools.tool import Approver, Question, Tool


def select_tools(
    tools: Iterable[Tool],
    *,
    channel: str,
    patterns: Sequence[str] | None = None,
    allow: Sequence[str] = ("*",),
    deny: Sequence[str] = (),
) -> list[Tool]:
    """The tools offered to one turn.

    A pattern is a name with ``*``, or ``group:NAME``. ``patterns`` is the turn's own wish
    (``None``: all, empty: none), ``allow`` the owner's (empty: all); ``deny`` wins over both.
    """

    def offered(tool: Tool) -> bool:
        return (
            tool.offered_to(channel)
            and (patterns is None or _matches(tool, patterns))
            and (not allow or _matches(tool, allow))
            and not _matches(tool, deny)
        )

    return [tool for tool in tools if offered(tool)]


def unmatched(patterns: Sequence[str], tools: Sequence[Tool]) -> str:
    """One line naming the wishes that no offered tool fits; empty when all fit."""
    idle = [p for p in patterns if not any(_matches(tool, (p,)) for tool in tools)]
    if not idle:
        return ""
    missing = ", ".join(map(repr, idle))
    near = difflib.get_close_matches(idle[0], [tool.name for tool in tools], n=1)
    return f"No tool fits {missing}" + (f" (did you mean {near[0]!r}?)." if near else ".")


def _matches(tool: Tool, patterns: Iterable[str]) -> bool:
    names = (tool.name, f"group:{tool.group}")
    return any(fnmatchcase(name, pattern) for pattern in patterns for name in names)


async def get_approval(question: Question, approver: Approver) -> None:
    """Have the call decided before it runs; raises ToolDenied when the answer is no."""
    if await approver.approve(question) == "deny":
        raise ToolDenied(
            f"The use of {question.call.name!r} was denied",
            hint="do not try it again in this turn; go on without it, or say what you need",
        )
