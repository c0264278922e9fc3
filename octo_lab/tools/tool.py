"""A tool as a value: what the model sees of it, and the function that does it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from octo_lab.core.events import Decision
from octo_lab.core.messages import Media, ToolCall, ToolSpec
from octo_lab.security.paths import Root
from octo_lab.security.taint import Taint
from octo_lab.tools.changes import Changes
from octo_lab.tools.screen import Screen
from octo_lab.tools.verdict import Verdict

Risk = Literal["read", "write", "execute", "network"]
"""What a tool may do: look, change files, run programs, reach other machines."""
Source = Literal["own", "workspace", "private", "outside"]
"""Where its results come from: octo_lab itself, the owner's ordinary files and variables, what is
the owner's alone (secrets, memory, other people's messages), strangers (the web, a channel)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a call gave: text for the model (bounded by the caller) and media."""

    text: str
    media: tuple[Media, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What must be decided before a call runs. A grant covers ``scope``.

    ``tool`` is the tool's own name, its group in ``group``; '' where only the call's name is
    known. ``scopes`` are the parts of ``scope``, each of which must be granted (none: it is one).
    ``judged`` says what the arguments mean: a grant or a person may overrule its ``ask``, the
    settings may not, and nobody its ``deny``. ``asks``: a person is asked where nothing else
    decides. ``hosts`` are those that the call would reach. ``why`` is what makes it graver than
    others of its risk.
    """

    call: ToolCall
    scope: str
    detail: str
    risk: str
    tool: str = ""
    group: str = ""
    scopes: tuple[str, ...] = ()
    judged: Verdict | None = None
    asks: bool = True
    hosts: tuple[str, ...] = ()
    why: str = ""


class Approver(Protocol):
    """Asks a person, or decides by policy where none can answer."""

    async def approve(self, question: Question) -> Decision: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a call may know of its turn.

    ``channel`` is where the turn came from, ``report`` shows a line of progress. ``private`` are
    octo_lab's own folders, which no tool shows, wherever they lie; ``roots`` are other folders that
    may be used, with ``soft`` any. ``taint`` is that of the
    conversation, ``changes`` are those of the turn, ``screen`` is what each result passes.
    """

    workspace: Path
    channel: str
    chat_id: str
    session: str
    turn_id: str
    call_id: str
    report: Callable[[str], None]
    private: tuple[Path, ...] = ()
    roots: tuple[Root, ...] = ()
    soft: bool = False
    taint: Taint = field(default_factory=Taint)
    changes: Changes = field(default_factory=Changes)
    screen: Screen = field(default_factory=Screen)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool.

    ``schema`` is a JSON Schema of type ``object``; ``parse`` turns the model's JSON object into
    what ``run`` takes and raises ToolFailed with a message the model can act on. ``channels``
    limits where the turn may have come from (``None``: anywhere): elsewhere the tool is neither
    offered nor run. ``asks``: a person approves the first use in a session; ``detail`` says in
    words what would run. ``timeout`` is in seconds. ``output`` is how many characters of a result
    are kept, if not what the turn allows: for a tool that bounds its results itself. ``hosts``
    are those that a call would reach, as far as its arguments tell. ``judge`` says what the
    arguments mean for the policy, in a workspace; ``scopes`` what a standing yes for them covers,
    if not the whole tool. ``own_name`` is the tool's name where a model sees another. ``offline``
    tells whether its runs now reach no other machine, whatever they do. ``ready`` is awaited
    before a call is judged. ``missing`` says what must be installed before the tool can be
    offered. ``local`` are channels for whose turns a run reaches no other machine. ``sends`` is
    whether a run with these arguments may tell another machine something.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    parse: Callable[[Mapping[str, Any]], Any]
    run: Callable[[ToolContext, Any], Awaitable[ToolResult | str]]
    group: str
    source: Source
    risk: Risk = "read"
    channels: frozenset[str] | None = None
    asks: bool = False
    detail: Callable[[Any], str] = str
    timeout: float = 120.0
    output: int | None = None
    hosts: Callable[[Any], Sequence[str]] | None = None
    judge: Callable[[Any, Path], Verdict | None] | None = None
    scopes: Callable[[Any, Path], Sequence[str]] | None = None
    own_name: str = ""
    offline: Callable[[], bool] = lambda: False
    ready: Callable[[], Awaitable[object]] | None = None
    missing: str = ""
    local: frozenset[str] = frozenset()
    sends: Callable[[Any], bool] = lambda args: True

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(name=self.name, description=self.description, schema=self.schema)

    def offered_to(self, channel: str) -> bool:
        return not self.missing and (self.channels is None or channel in self.channels)
