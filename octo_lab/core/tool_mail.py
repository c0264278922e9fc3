"""Controls that are about tools, and their replies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from octo_lab.core.messages import CallOutcome, Media

LONGEST_CALL = 900.0
BY_HAND = "octo tools"
"""The dialog that keeps what calls of persons changed in files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GetTools:
    """The tools there are, and which of them this channel is offered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTool:
    """Run one tool with ``arguments``, a JSON object, under the policy of an agent's call.

    ``yes`` answers what would be asked about. ``dry``: decide, and run nothing. ``id`` is what
    ``GetProgress`` asks by.
    """

    name: str
    arguments: str = "{}"
    yes: bool = False
    dry: bool = False
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GetProgress:
    """What a running call has said after its first ``seen`` characters."""

    id: str
    seen: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolInfo:
    """One tool. ``why_not`` says why it is not offered, '' when it is.

    ``decision`` and ``reason`` are of a call whose arguments are harmless; ``judged``: they are
    looked at, and may be asked about or denied.
    """

    name: str
    group: str
    risk: str
    source: str
    description: str
    decision: Literal["allow", "ask", "deny"]
    reason: str
    why_not: str = ""
    judged: bool = False
    schema: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolList:
    tools: tuple[ToolInfo, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """What was decided of a call and, where it ran, what came of it.

    ``state`` is '' where nothing ran. ``diff`` shows what it changed in files; ``undo``: that can
    be taken back. ``notes`` are lines for the person.
    """

    name: str
    decision: Literal["allow", "ask", "deny"]
    reason: str
    state: CallOutcome | Literal[""] = ""
    text: str = ""
    seconds: float = 0.0
    media: tuple[Media, ...] = ()
    diff: str = ""
    undo: bool = False
    notes: tuple[str, ...] = ()
