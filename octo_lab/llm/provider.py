"""The provider port: one method, always streaming."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Protocol

from octo_lab.core.messages import ChatRequest, Message, ProviderState, ToolCall, Usage
from octo_lab.core.stream import (
    Done,
    ReasoningDelta,
    StateKept,
    StreamEvent,
    TextDelta,
    ToolCalled,
    UsageReported,
)

Events = AsyncGenerator[StreamEvent, None]


class Provider(Protocol):
    """Turns one request into a stream of events; knows nothing of sessions or channels."""

    @property
    def name(self) -> str:
        """The provider, as in ``name/model``."""
        ...

    @property
    def model(self) -> str: ...

    def stream(self, request: ChatRequest) -> Events:
        """Yield deltas, then calls and usage, then exactly one ``Done``.

        Raises a ProviderError; closing the generator closes the connection at once.
        """
        ...


async def collect(events: Events) -> tuple[Message, Usage]:
    """Drain a stream into one assistant message and what it cost."""
    text: list[str] = []
    reasoning: list[str] = []
    calls: list[ToolCall] = []
    usage = Usage()
    state: ProviderState | None = None
    async with aclosing(events):
        async for event in events:
            match event:
                case TextDelta(part):
                    text.append(part)
                case ReasoningDelta(part):
                    reasoning.append(part)
                case ToolCalled(call):
                    calls.append(call)
                case UsageReported(reported):
                    usage += reported
                case StateKept(kept):
                    state = kept
                case Done():
                    break
    message = Message(
        role="assistant",
        content="".join(text),
        reasoning="".join(reasoning),
        tool_calls=tuple(calls),
        provider_state=state,
    )
    return message, usage
