"""What a provider streams back. A stream is complete only when ``Done`` has come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from octo_lab.core.messages import ProviderState, ToolCall, Usage

StopReason = Literal["end_turn", "tool_use", "max_tokens", "stop_sequence"]


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the visible answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """More of the model's thinking."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """One whole call: its fragments have been joined."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class UsageReported:
    """What the request cost, in tokens. ``by`` is who answered, as ``provider/model``, where
    several might have.
    """

    usage: Usage
    by: str = ""


@dataclass(frozen=True, slots=True)
class StateKept:
    """Private state this provider wants back with the next request."""

    state: ProviderState


@dataclass(frozen=True, slots=True)
class Remarked:
    """One line for the person about how the answer comes about: a wait, another model."""

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """The terminal event: the answer is whole."""

    reason: StopReason


StreamEvent = TextDelta | ReasoningDelta | ToolCalled | UsageReported | StateKept | Remarked | Done
