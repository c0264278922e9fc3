"""What one step of an answer can be, and what earlier steps gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from octo_lab.core.messages import CallOutcome, ToolSpec
from octo_lab.llm.offline.slots import Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool to call."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The end of the turn: Markdown for the person."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A call made earlier in this turn, and what came of it."""

    call: Call
    text: str
    outcome: CallOutcome = "ok"

    @property
    def failed(self) -> bool:
        return self.outcome != "ok"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What a step may depend on besides the request: results so far, the tools there are, the
    calls of the turn before that went well, and whether the person writes from a notebook."""

    tools: Sequence[ToolSpec] = ()
    done: tuple[Result, ...] = ()
    earlier: tuple[Call, ...] = ()
    has_kernel: bool = False

    @property
    def names(self) -> frozenset[str]:
        return frozenset(tool.name for tool in self.tools)


Step = Call | Reply


def say(request: Request, what: str, **facts: object) -> Reply:
    """A phrase in the language of the request."""
    return Reply(text=phrase(request, what, **facts))


def sorry(request: Request) -> Reply:
    """What is outside its power: it says so, and how to connect a model."""
    return Reply(text=f"{phrase(request, 'sorry')}\n\n{phrase(request, 'connect')}")


def phrase(request: Request, what: str, **facts: object) -> str:
    return request.language.say[what].format(**facts)


def result_of(done: tuple[Result, ...], tool: str) -> Result | None:
    """The newest result of ``tool``."""
    return next((result for result in reversed(done) if result.call.tool == tool), None)
