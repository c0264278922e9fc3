"""Progress as lines of a console, and as the JSON of an event stream."""

from __future__ import annotations

from typing import Any, Literal

from octo_lab.core.progress import (
    CostUpdate,
    FileModified,
    MaxIterationsReached,
    ProgressEvent,
    Response,
    StreamChunk,
    StreamDone,
    TaskCompleted,
    TaskInterrupted,
    TaskStarted,
    Thinking,
    TokenBudgetExceeded,
    TokenUsage,
    ToolCompleted,
    ToolStarted,
)

_COLOURS = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "cyan": 36, "dim": 2}
_SHOWN_LINES = 3
Colour = Literal["red", "green", "yellow", "blue", "cyan", "dim"]


def duration(seconds: float) -> str:
    """Seconds with one decimal above one second, else whole milliseconds."""
    return f"{seconds:.1f}s" if seconds > 1 else f"{round(seconds * 1000)}ms"


def sse(event: ProgressEvent) -> dict[str, Any]:
    """The event as JSON; kinds that no client asks for are ``other``."""
    match event:
        case ToolStarted(name=name):
            return {"type": "tool_start", "tool": name}
        case ToolCompleted(name=name, success=success):
            return {"type": "tool_end", "tool": name, "success": success}
        case StreamChunk(text=text):
            return {"type": "token", "text": text}
        case StreamDone():
            return {"type": "stream_end"}
        case CostUpdate():
            return {
                "type": "cost_update",
                "input_tokens": event.session_input_tokens,
                "output_tokens": event.session_output_tokens,
                "session_cost": event.session_cost,
            }
        case Thinking(iteration=iteration):
            return {"type": "thinking", "iteration": iteration}
        case Response(iteration=iteration):
            return {"type": "response", "iteration": iteration}
    return {"type": "other"}


class Console:
    """Gives what to print for each event; text that streams is printed as whole lines.

    ``verbose`` adds ids, previews and the tokens of each answer.
    """

    def __init__(self, *, colours: bool = False, verbose: bool = False) -> None:
        self._colours = colours
        self._verbose = verbose
        self._line = ""
        self._streamed = 0

    def feed(self, event: ProgressEvent) -> str:
        """Text to print, with its line ends; '' for nothing."""
        match event:
            case StreamChunk(text=text, iteration=iteration):
                self._streamed = iteration
                whole, end, self._line = (self._line + text).rpartition("\n")
                return whole + end
            case StreamDone():
                return self.flush()
            case Response(iteration=iteration) if iteration == self._streamed:
                return ""
        text = self._said(event)
        return f"{self.flush()}{text}\n" if text else ""

    def flush(self) -> str:
        """The line that has not ended."""
        line, self._line = self._line, ""
        return f"{line}\n" if line else ""

    def _said(self, event: ProgressEvent) -> str:
        match event:
            case TaskStarted(task_id=task_id):
                return self._paint("dim", f"▶ Task {task_id}") if self._verbose else ""
            case Thinking(iteration=iteration):
                return self._paint("yellow", f"⟳ Thinking… (iteration {iteration})")
            case Response(content=content):
                shown = "\n  ".join(content.strip().splitlines()[:_SHOWN_LINES])
                return self._paint("cyan", f"◆ {shown}")
            case TokenUsage():
                tokens = f"Tokens: {event.input_tokens} in, {event.output_tokens} out"
                return self._paint("dim", tokens) if self._verbose else ""
            case CostUpdate():
                return self._paint("dim", _cost(event))
            case FileModified(path=path):
                return self._paint("green", f"📝 {path}")
            case ToolStarted(name=name):
                return self._paint("blue", f"⚙ {name}")
            case ToolCompleted():
                return self._completed(event)
        return self._ended(event)

    def _completed(self, event: ToolCompleted) -> str:
        mark, colour = _mark(event.success)
        line = self._paint(colour, f"{mark} {event.name} ({duration(event.duration)})")
        preview = event.output_preview if self._verbose or not event.success else ""
        return f"{line}\n  {preview}" if preview else line

    def _ended(self, event: ProgressEvent) -> str:
        match event:
            case TaskCompleted():
                mark, colour = _mark(event.success)
                took = f"{_iterations(event.iterations)}, {duration(event.duration)}"
                return self._paint(colour, f"{mark} Done ({took})")
            case TaskInterrupted(iterations=iterations):
                return self._paint("yellow", f"⚠ Interrupted after {_iterations(iterations)}")
            case MaxIterationsReached(limit=limit):
                return self._paint("yellow", f"⚠ Reached the limit of {_iterations(limit)}")
            case TokenBudgetExceeded(used=used, limit=limit):
                return self._paint("yellow", f"⚠ Used {used} of {limit} tokens")
        return ""

    def _paint(self, colour: Colour, text: str) -> str:
        return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if self._colours else text


def _mark(success: bool) -> tuple[str, Colour]:
    return ("✓", "green") if success else ("✗", "red")


def _iterations(count: int) -> str:
    return "1 iteration" if count == 1 else f"{count} iterations"


def _cost(event: CostUpdate) -> str:
    tokens = f"Tokens: {event.session_input_tokens} in, {event.session_output_tokens} out"
    if event.session_cost is None:
        return tokens
    own = f"${event.response_cost:.4f}, " if event.response_cost is not None else ""
    return f"{tokens} · Cost: {own}${event.session_cost:.4f} in all"
