"""Models that answer as the tests of routing want them to."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from functools import partial
from typing import Any

import anyio

from octo_lab.core.messages import ChatRequest, Message, Usage
from octo_lab.core.stream import Done, Remarked, StreamEvent, TextDelta, UsageReported
from octo_lab.llm.provider import Events, Provider
from octo_lab.llm.resilience.slot import Slot
from octo_lab.testing.providers import Pause, ScriptedProvider, Step, says
from octo_lab.testing.virtual_time import VirtualTime

REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])
VIRTUAL = ("asyncio", {"loop_factory": VirtualTime})


def scripted(name: str, *steps: Step) -> ScriptedProvider:
    return ScriptedProvider(*steps, name=name, model="m")


def slot(provider: Provider, **more: Any) -> Slot:
    """A slot in the time of the loop."""
    return Slot(provider, clock=anyio.current_time, **more)


def slots(*providers: Provider, **more: Any) -> list[Slot]:
    return [slot(provider, **more) for provider in providers]


def after(seconds: float, *parts: str, tokens: int = 0) -> list[StreamEvent | Pause]:
    """A step that begins to answer after a while."""
    usage = Usage(requests=1, output_tokens=tokens)
    return [partial(anyio.sleep, seconds), *says(*parts, usage=usage)]


async def listen(provider: Provider) -> tuple[str, list[str]]:
    """What the answer says, and what was remarked."""
    events = await drain(provider.stream(REQUEST))
    said = "".join(event.text for event in events if isinstance(event, TextDelta))
    return said, remarks(events)


async def drain(stream: Events) -> list[StreamEvent]:
    async with aclosing(stream) as events:
        return [event async for event in events]


def remarks(events: Sequence[StreamEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, Remarked)]


class Refusing:
    """A model that cannot even be asked."""

    name = model = "m"

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def stream(self, request: ChatRequest) -> Events:
        if request is REQUEST:
            raise self._error
        yield Done("end_turn")


class Trace:
    """A model with a life: each request takes and fails as ``latency`` and ``fails`` say of its
    moment.
    """

    model = "m"

    def __init__(self, name: str, latency: Any, fails: Any = lambda now: None) -> None:
        self.name = name
        self.requests = 0
        self._latency = latency
        self._fails = fails

    async def stream(self, request: ChatRequest) -> Events:
        self.requests += 1
        await anyio.sleep(self._latency())
        error = self._fails(anyio.current_time())
        if error is not None:
            raise error
        yield TextDelta(self.name)
        yield UsageReported(Usage(requests=1, output_tokens=100))
        yield Done("end_turn")
