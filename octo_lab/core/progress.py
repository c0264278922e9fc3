"""What a turn does, in octos' fourteen kinds of progress: a pure projection of its events."""

from __future__ import annotations

from dataclasses import dataclass

from octo_lab.core.events import (
    FileChanged,
    IterationStarted,
    LimitReached,
    Replied,
    ToolFinished,
    ToolQueued,
    TurnBegan,
    TurnEnded,
    TurnEvent,
)
from octo_lab.core.events import ToolStarted as CallStarted
from octo_lab.core.messages import Usage
from octo_lab.core.stream import TextDelta, UsageReported
from octo_lab.core.text import first_line

PREVIEW = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStarted:
    task_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    iteration: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A whole answer of the model, also when its text was streamed before."""

    content: str
    iteration: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted:
    name: str
    tool_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCompleted:
    """``duration`` is in seconds."""

    name: str
    tool_id: str
    success: bool
    output_preview: str
    duration: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FileModified:
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """What one answer took."""

    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCompleted:
    success: bool
    iterations: int
    duration: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskInterrupted:
    iterations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MaxIterationsReached:
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBudgetExceeded:
    used: int
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamChunk:
    text: str
    iteration: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamDone:
    iteration: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CostUpdate:
    """Costs are in US dollars, None where a price is unknown."""

    session_input_tokens: int
    session_output_tokens: int
    response_cost: float | None
    session_cost: float | None


ProgressEvent = (
    TaskStarted
    | Thinking
    | Response
    | ToolStarted
    | ToolCompleted
    | FileModified
    | TokenUsage
    | TaskCompleted
    | TaskInterrupted
    | MaxIterationsReached
    | TokenBudgetExceeded
    | StreamChunk
    | StreamDone
    | CostUpdate
)


class Progress:
    """Turns the events of one turn into progress."""

    def __init__(self) -> None:
        self._spent = Usage()
        self._iteration = 0
        self._streamed = False
        self._names: dict[str, str] = {}

    def feed(self, event: TurnEvent) -> list[ProgressEvent]:
        """What the event means; nothing for those that only people see."""
        match event:
            case TurnBegan(id, spent):
                self._spent += spent
                return [TaskStarted(task_id=id)]
            case IterationStarted(number):
                self._iteration, self._streamed = number, False
                return [Thinking(iteration=number)]
            case TextDelta(text):
                self._streamed = True
                return [StreamChunk(text=text, iteration=self._iteration)]
            case UsageReported(usage):
                return self._used(usage)
            case Replied():
                return self._replied(event)
            case TurnEnded():
                return [_ended(event)]
            case LimitReached():
                return _limited(event)
            case other:
                return self._tool(other)

    def _tool(self, event: TurnEvent) -> list[ProgressEvent]:
        match event:
            case ToolQueued(call):
                self._names[call.id] = call.name
            case CallStarted(call_id):
                return [ToolStarted(name=self._name(call_id), tool_id=call_id)]
            case ToolFinished():
                return [self._finished(event)]
            case FileChanged(path):
                return [FileModified(path=path)]
        return []

    def _used(self, usage: Usage) -> list[ProgressEvent]:
        self._spent += usage
        spent = self._spent
        return [
            TokenUsage(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens),
            CostUpdate(
                session_input_tokens=spent.input_tokens,
                session_output_tokens=spent.output_tokens,
                response_cost=usage.dollars,
                session_cost=spent.dollars,
            ),
        ]

    def _replied(self, event: Replied) -> list[ProgressEvent]:
        done: list[ProgressEvent] = [StreamDone(iteration=event.number)] if self._streamed else []
        if event.text.strip():
            done.append(Response(content=event.text, iteration=event.number))
        return done

    def _finished(self, event: ToolFinished) -> ToolCompleted:
        return ToolCompleted(
            name=self._name(event.call_id),
            tool_id=event.call_id,
            success=event.state == "ok",
            output_preview=first_line(event.output, PREVIEW),
            duration=event.seconds,
        )

    def _name(self, call_id: str) -> str:
        return self._names.get(call_id, "")


def _ended(event: TurnEnded) -> ProgressEvent:
    if event.stopped:
        return TaskInterrupted(iterations=event.iterations)
    return TaskCompleted(success=event.ok, iterations=event.iterations, duration=event.seconds)


def _limited(event: LimitReached) -> list[ProgressEvent]:
    """Limits of time have no kind of their own: the turn only ends without success."""
    match event.kind:
        case "iterations":
            return [MaxIterationsReached(limit=int(event.limit))]
        case "tokens":
            return [TokenBudgetExceeded(used=int(event.used), limit=int(event.limit))]
    return []
