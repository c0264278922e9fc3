"""What happens inside a turn, as the agent tells it: the one event vocabulary.

The agent calls ``Emit`` with each event, in order; it never waits for the listener.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from octo_lab.core.messages import CallOutcome, Media, ToolCall, Usage
from octo_lab.core.stream import ReasoningDelta, TextDelta, UsageReported

Decision = Literal["once", "session", "always", "deny"]
Limit = Literal["iterations", "tokens", "seconds", "idle"]


@dataclass(frozen=True, slots=True)
class TurnBegan:
    """The turn, or task, of that id begins; ``spent`` is what its session had taken before."""

    id: str
    spent: Usage = Usage()


@dataclass(frozen=True, slots=True)
class IterationStarted:
    """The model is asked for the ``number``-th time in this turn, counted from 1."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Replied:
    """The model's ``number``-th answer is whole: its text, and how many calls it makes."""

    number: int
    text: str
    calls: int


@dataclass(frozen=True, slots=True)
class ToolQueued:
    """The model made this call; it has not started yet."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """The call runs."""

    call_id: str


@dataclass(frozen=True, slots=True)
class ToolProgressed:
    """One more piece of a long call's output."""

    call_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinished:
    """The call ended; ``seconds`` is its wall time, ``diff`` what it changed in files."""

    call_id: str
    state: CallOutcome
    output: str
    seconds: float
    media: tuple[Media, ...] = ()
    diff: str = ""


@dataclass(frozen=True, slots=True)
class FileChanged:
    """A tool has changed, made or deleted the file; the path is relative to the workspace."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalAsked:
    """A call waits for a person. ``detail`` is what would run, ``risk`` why it is asked."""

    approval_id: str
    call_id: str
    tool: str
    detail: str
    risk: str


@dataclass(frozen=True, slots=True)
class ApprovalSettled:
    """The person, or the policy in their place, has answered."""

    approval_id: str
    call_id: str
    decision: Decision


@dataclass(frozen=True, slots=True)
class Noticed:
    """One line for the person that is no part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Steered:
    """The person said this while the turn ran; the model reads it with its next request."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitReached:
    """The turn ends at a limit; ``used`` and ``limit`` are in the limit's own unit."""

    kind: Limit
    used: float
    limit: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded:
    """The turn is over, after so many model calls and seconds. ``ok``: it was answered."""

    ok: bool
    stopped: bool
    iterations: int
    seconds: float


TurnEvent = (
    TextDelta
    | ReasoningDelta
    | UsageReported
    | TurnBegan
    | IterationStarted
    | Replied
    | ToolQueued
    | ToolStarted
    | ToolProgressed
    | ToolFinished
    | FileChanged
    | ApprovalAsked
    | ApprovalSettled
    | Noticed
    | Steered
    | LimitReached
    | TurnEnded
)
Emit = Callable[[TurnEvent], None]
