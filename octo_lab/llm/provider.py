"""The provider port: one method, always streaming."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Protocol

from octo_lab.core.errors import StreamCut
from octo_lab.core.messages import ChatRequest, Message, Usage
from octo_lab.core.stream import Done, StreamEvent
from octo_lab.llm.answer import Answer, Gathering

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
    gathering = Gathering()
    async with aclosing(events):
        async for event in events:
            gathering.add(event)
            if isinstance(event, Done):
                break
    return gathering.message, gathering.usage


async def whole(events: Events) -> Answer:
    """Drain a stream into its answer; raises StreamCut when it ends without ``Done``."""
    gathering = Gathering()
    async with aclosing(events):
        async for event in events:
            gathering.add(event)
            if isinstance(event, Done):
                return gathering.answer(event.reason)
    raise StreamCut("The answer ended before it was whole", hint="ask again")
