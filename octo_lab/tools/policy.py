"""Which tools a turn may use, and who must say yes before one runs."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Literal

from octo_lab.core.errors import ToolDenied
from octo_lab.tools.tool import Approver, Question, Tool

Origin = Literal["owner", "known", "stranger"]
"""Who speaks in a channel: whoever owns the machine, somebody the owner knows, anybody."""

OWNED = frozenset({"notebook", "terminal", "web"})  # where whoever types owns the machine
_ALSO: Mapping[str, tuple[str, ...]] = {
    "python": ("runtime",),
    "grep": ("search",),
    "glob": ("search",),
    "list_dir": ("search",),
    "web_search": ("search",),
    "deep_search": ("research",),
    "site_crawl": ("research",),
    "send_file": ("media",),
    "take_photo": ("media",),
    "configure_tool": ("admin",),
    "switch_model": ("admin",),
}
"""Groups that a tool belongs to besides its own."""


def names_of(name: str, group: str) -> tuple[str, ...]:
    """All that a pattern may mean a tool by: its own name, and each of its groups."""
    return (name, *(f"group:{one}" for one in (group, *_ALSO.get(name, ()))))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelTools:
    """What a channel is offered. ``allow`` adds to what its origin may use, ``deny`` wins."""

    origin: Origin = "known"
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


def channel_tools(channel: str, channels: Mapping[str, ChannelTools]) -> ChannelTools:
    """What was set for a channel; else its owner's own channels count as theirs."""
    found = channels.get(channel) or channels.get("*")
    return found or ChannelTools(origin="owner" if channel in OWNED else "known")


def select_tools(
    tools: Iterable[Tool],
    *,
    channel: str,
    patterns: Sequence[str] | None = None,
    allow: Sequence[str] = ("*",),
    deny: Sequence[str] = (),
    channels: Mapping[str, ChannelTools] = MappingProxyType({}),
) -> list[Tool]:
    """The tools offered to one turn.

    A pattern is a name with ``*``, or ``group:NAME``. ``patterns`` is the turn's own wish
    (``None``: all, empty: none), ``allow`` the owner's (empty: all); ``deny`` wins over both.
    """
    here = channel_tools(channel, channels)
    return [
        tool
        for tool in tools
        if (patterns is None or _matches(tool, patterns))
        and not why_not(tool, channel=channel, allow=allow, deny=deny, here=here)
    ]


def why_not(
    tool: Tool, *, channel: str, allow: Sequence[str], deny: Sequence[str], here: ChannelTools
) -> str:
    """Why a tool is not offered in a channel; empty when it is."""
    if tool.missing:
        return tool.missing
    if not tool.offered_to(channel):
        return f"it is never offered in {channel!r}"
    if _matches(tool, deny):
        return "tools.deny names it"
    if _matches(tool, here.deny):
        return f"tools.channels.{channel}.deny names it"
    if _matches(tool, here.allow):
        return ""
    if allow and not _matches(tool, allow):
        return "tools.allow does not name it"
    return "" if _may(here.origin, tool) else f"{_WHO[here.origin]} may not use it"


_WHO: Mapping[Origin, str] = {"known": "who speaks there", "stranger": "a stranger"}


def _may(origin: Origin, tool: Tool) -> bool:
    """What an origin may use by itself. Those who are not the owner change and run nothing, and a
    stranger sees nothing of the workspace.
    """
    match origin:
        case "owner":
            return True
        case "known":
            return tool.risk in {"read", "network"} and tool.source != "private"
    return tool.risk in {"read", "network"} and tool.source in {"own", "outside"}


def unmatched(patterns: Sequence[str], tools: Sequence[Tool]) -> str:
    """One line naming the wishes that no offered tool fits; empty when all fit."""
    idle = [p for p in patterns if not any(_matches(tool, (p,)) for tool in tools)]
    if not idle:
        return ""
    missing = ", ".join(map(repr, idle))
    near = difflib.get_close_matches(idle[0], [tool.name for tool in tools], n=1)
    return f"No tool fits {missing}" + (f" (did you mean {near[0]!r}?)." if near else ".")


def _matches(tool: Tool, patterns: Sequence[str]) -> bool:
    if not patterns or "*" in patterns:  # what is usual is quick: every turn asks for every tool
        return bool(patterns)
    names = names_of(tool.own_name or tool.name, tool.group)
    return any(fnmatchcase(name, pattern) for pattern in patterns for name in names)


async def get_approval(question: Question, approver: Approver) -> None:
    """Have the call decided before it runs; raises ToolDenied when the answer is no."""
    if await approver.approve(question) == "deny":
        raise ToolDenied(
            f"The use of {question.call.name!r} was denied",
            hint="do not try it again in this turn; go on without it, or say what you need",
        )
