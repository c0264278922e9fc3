"""A whole answer: gathered from a stream, and made a stream again."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass

import anyio.lowlevel

from octo_lab.core.messages import Message, ProviderState, ToolCall, Usage
from octo_lab.core.stream import (
    Done,
    ReasoningDelta,
    StateKept,
    StopReason,
    StreamEvent,
    TextDelta,
    ToolCalled,
    UsageReported,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a provider said, what it took, and why it ended."""

    message: Message
    usage: Usage
    reason: StopReason

    @property
    def text(self) -> str:
        return self.message.content


class Gathering:
    """Adds up the events of one stream."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[ToolCall] = []
        self._state: ProviderState | None = None
        self.usage = Usage()

    def add(self, event: StreamEvent) -> None:
        match event:
            case TextDelta(part):
                self._text.append(part)
            case ReasoningDelta(part):
                self._reasoning.append(part)
            case ToolCalled(call):
                self._calls.append(call)
            case UsageReported(usage):
                self.usage += usage
            case StateKept(state):
                self._state = state

    @property
    def message(self) -> Message:
        """What was said so far."""
        return Message(
            role="assistant",
            content="".join(self._text),
            reasoning="".join(self._reasoning),
            tool_calls=tuple(self._calls),
            provider_state=self._state,
        )

    def answer(self, reason: StopReason) -> Answer:
        """All of it; call it when ``Done`` has come."""
        return Answer(message=self.message, usage=self.usage, reason=reason)


async def replayed(answer: Answer) -> AsyncGenerator[StreamEvent, None]:
    """An answer as a stream of its own, which took nothing."""
    await anyio.lowlevel.checkpoint()
    for event in _events(answer.message):
        yield event
    yield UsageReported(Usage())
    yield Done(answer.reason)


def _events(message: Message) -> list[StreamEvent]:
    events: list[StreamEvent] = []
    if message.reasoning:
        events.append(ReasoningDelta(message.reasoning))
    if message.content:
        events.append(TextDelta(message.content))
    events += [ToolCalled(call) for call in message.tool_calls]
    if message.provider_state is not None:
        events.append(StateKept(message.provider_state))
    return events
