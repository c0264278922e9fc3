"""A provider and an approver that follow a script, and remember what they were asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import anyio

from octo_lab.core.errors import ProviderError
from octo_lab.core.events import Decision
from octo_lab.core.messages import ChatRequest, ToolCall, Usage
from octo_lab.core.stream import (
    Done,
    StopReason,
    StreamEvent,
    TextDelta,
    ToolCalled,
    UsageReported,
)
from octo_lab.llm.provider import Events
from octo_lab.tools.tool import Question

Pause = Callable[[], Awaitable[object]]
Step = Sequence[StreamEvent | ProviderError | Pause] | ProviderError


class ScriptedProvider:
    """Plays one step per request, then fails the test that asks once too often.

    A step is a list of events, or an error raised at once. Inside a list, an error is raised
    where it stands and a function is awaited there (``anyio.sleep_forever`` hangs the stream).
    ``requests`` are the requests so far; ``closed`` counts streams that were ended early.
    """

    def __init__(self, *steps: Step, name: str = "scripted", model: str = "script") -> None:
        self.name = name
        self.model = model
        self.requests: list[ChatRequest] = []
        self.closed = 0
        self._steps = list(steps)

    def add(self, *steps: Step) -> None:
        """Append steps to the script."""
        self._steps += steps

    async def stream(self, request: ChatRequest) -> Events:
        self.requests.append(request)
        if not self._steps:
            raise AssertionError(f"The script has no step for request {len(self.requests)}")
        step = self._steps.pop(0)
        if isinstance(step, ProviderError):
            raise step
        ended = False
        try:
            for item in step:
                await anyio.lowlevel.checkpoint()
                if isinstance(item, ProviderError):
                    raise item
                if callable(item):
                    await item()
                    continue
                ended = isinstance(item, Done)
                yield item
        finally:
            self.closed += not ended


def says(
    *parts: str, reason: StopReason = "end_turn", usage: Usage = Usage(requests=1)
) -> list[StreamEvent]:
    """A step that answers with text, one chunk per part."""
    return [*(TextDelta(part) for part in parts), UsageReported(usage), Done(reason)]


def calls(*made: ToolCall, text: str = "", usage: Usage = Usage(requests=1)) -> list[StreamEvent]:
    """A step that makes tool calls, after some text if there is any."""
    said: list[StreamEvent] = [TextDelta(text)] if text else []
    return [*said, *(ToolCalled(call) for call in made), UsageReported(usage), Done("tool_use")]


class ScriptedApprover:
    """Gives the decisions it was made with, in turn, the last one for ever, where one is asked."""

    def __init__(self, *decisions: Decision) -> None:
        self.questions: list[Question] = []
        self._decisions = list(decisions)

    async def approve(self, question: Question) -> Decision:
        if not question.asks:
            return "once"
        self.questions.append(question)
        await anyio.lowlevel.checkpoint()
        return self._decisions.pop(0) if len(self._decisions) > 1 else self._decisions[0]
