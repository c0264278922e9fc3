"""Layers round a provider that see each request, each event and the end of its stream."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from octo_lab.core.messages import ChatRequest
from octo_lab.core.stream import Done, StreamEvent
from octo_lab.llm.answer import Answer, Gathering, replayed
from octo_lab.llm.provider import Events, Provider


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request on its way; ``at`` is when, on the clock of Layered (monotonic seconds)."""

    provider: str
    model: str
    request: ChatRequest
    at: float


class Layer(Protocol):
    """What a layer may do. Streams run at once, so what belongs to one is told by ``asked``, the
    same object in each call. No hook may block or wait.
    """

    def before(self, asked: Asked) -> Answer | None:
        """An answer given here is replayed; later layers and the provider are not asked."""
        ...

    def event(self, asked: Asked, event: StreamEvent) -> StreamEvent:
        """Each event on its way; what is returned goes on."""
        ...

    def after(self, asked: Asked, answer: Answer) -> None:
        """The answer is whole; its ``Done`` goes on next."""
        ...

    def on_error(self, asked: Asked, error: BaseException) -> None:
        """The stream failed, or its reader closed or cancelled it before its end."""
        ...


class Layered:
    """A provider with layers, which run in the order they are given in, all the way through."""

    def __init__(
        self,
        inner: Provider,
        layers: Iterable[Layer],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.inner = inner
        self.layers = tuple(layers)
        self._clock = clock

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def model(self) -> str:
        return self.inner.model

    async def stream(self, request: ChatRequest) -> Events:
        asked = Asked(provider=self.name, model=self.model, request=request, at=self._clock())
        layers, answer = self._begin(asked)
        gathering, ended = Gathering(), False
        try:
            async with aclosing(replayed(answer) if answer else self.inner.stream(request)) as told:
                async for event in told:
                    for layer in layers:
                        event = layer.event(asked, event)
                    gathering.add(event)
                    if isinstance(event, Done):
                        ended = True
                        _end(layers, asked, gathering.answer(event.reason))
                    yield event
        except BaseException as error:
            if not ended:
                for layer in layers:
                    layer.on_error(asked, error)
            raise

    def _begin(self, asked: Asked) -> tuple[tuple[Layer, ...], Answer | None]:
        """The layers that take part: all, or those up to the one that has the answer."""
        for index, layer in enumerate(self.layers, start=1):
            answer = layer.before(asked)
            if answer is not None:
                return self.layers[:index], answer
        return self.layers, None


def _end(layers: Iterable[Layer], asked: Asked, answer: Answer) -> None:
    for layer in layers:
        layer.after(asked, answer)
