"""What is said to a model and by it: messages, calls, requests. Pure values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["system", "user", "assistant", "tool"]
Effort = Literal["minimal", "low", "medium", "high"]
CallOutcome = Literal["ok", "error", "denied", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """A picture or file that travels with a message; ``mime`` is its IANA media type.

    ``sent``: the person has been sent it in a message of its own, and no model gets it.
    """

    mime: str
    data: bytes = field(repr=False)
    name: str = ""
    sent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call the model made; ``arguments`` is the JSON text exactly as it arrived."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderState:
    """What one provider wants back verbatim; replayed only to the same provider and model."""

    provider: str
    model: str
    blob: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One entry of a transcript.

    ``tool_calls`` belong to an assistant message; ``tool_call_id``, ``tool_name``,
    ``outcome``, ``seconds`` and ``diff`` to a tool message, which answers exactly one call. The
    diff is what the call changed in files, for people; no model is sent it. ``origin`` says
    whose words it holds, if a stranger's: the tool and where it got them from.
    """

    role: Role
    content: str = ""
    reasoning: str = ""
    media: tuple[Media, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    tool_name: str = ""
    outcome: CallOutcome = "ok"
    seconds: float | None = None
    diff: str = field(default="", repr=False)
    origin: str = ""
    provider_state: ProviderState | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as a model sees it; ``schema`` is a JSON Schema of type ``object``."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class OneTool:
    """A tool choice: this tool and no other must be called."""

    name: str


ToolChoice = Literal["auto", "required", "none"] | OneTool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """Everything a provider needs for one answer. ``None`` leaves a choice to the provider.

    ``response_schema`` asks for JSON that fits it (structured output); an empty one asks for any
    JSON object. ``effort``: how much a model that reasons should think. Not ``streamed``, the
    answer comes in one piece.
    """

    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    tool_choice: ToolChoice = "auto"
    max_tokens: int | None = None
    temperature: float | None = None
    stop: tuple[str, ...] = ()
    response_schema: Mapping[str, Any] | None = None
    effort: Effort | None = None
    streamed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one or more requests, and what they cost.

    ``cached_tokens`` (read from the vendor's cache) and ``written_tokens`` (put into it) are part
    of ``input_tokens``, ``reasoning_tokens`` of ``output_tokens``. ``cost`` is in US dollars, of
    the ``priced`` ones of the ``requests``.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    reasoning_tokens: int = 0
    requests: int = 0
    cost: float = 0.0
    priced: int = 0

    @property
    def dollars(self) -> float | None:
        """The whole cost, or None while the price of any request is unknown."""
        return self.cost if self.requests and self.priced == self.requests else None

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            written_tokens=self.written_tokens + other.written_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            requests=self.requests + other.requests,
            cost=self.cost + other.cost,
            priced=self.priced + other.priced,
        )
