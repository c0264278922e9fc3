"""Adds to usage what it cost, and adds up the usage of a provider."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace

from octo_lab.core.messages import ChatRequest, Usage
from octo_lab.core.stream import Done, StreamEvent, UsageReported
from octo_lab.llm.answer import Answer
from octo_lab.llm.metering.middleware import Asked
from octo_lab.llm.metering.pricing import Price
from octo_lab.llm.provider import Events, Provider


class Priced:
    """A provider whose usage says what it cost.

    A cost that the server itself reported stays. An answer whose server reported no usage still
    counts as a request, of unknown price, so that no sum claims to be whole without it.
    """

    def __init__(self, inner: Provider, price: Price | None) -> None:
        self.inner = inner
        self.price = price

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def model(self) -> str:
        return self.inner.model

    async def stream(self, request: ChatRequest) -> Events:
        reported = False
        async with aclosing(self.inner.stream(request)) as events:
            async for event in events:
                if isinstance(event, UsageReported):
                    reported = True
                    event = UsageReported(with_cost(event.usage, self.price))
                elif isinstance(event, Done) and not reported:
                    yield UsageReported(Usage(requests=1))
                yield event


def with_cost(usage: Usage, price: Price | None) -> Usage:
    """The usage of requests to one model, priced unless it is already or nobody knows how."""
    counted = usage.input_tokens or usage.output_tokens
    if price is None or usage.priced or not counted:
        return usage
    return replace(usage, cost=price.cost(usage), priced=usage.requests)


class Totals:
    """A layer that adds up the usage of all answers, also of those that were broken off."""

    def __init__(self) -> None:
        self.usage = Usage()

    def before(self, asked: Asked) -> Answer | None:
        return None

    def event(self, asked: Asked, event: StreamEvent) -> StreamEvent:
        if isinstance(event, UsageReported):
            self.usage += event.usage
        return event

    def after(self, asked: Asked, answer: Answer) -> None:
        """Its usage is counted already."""

    def on_error(self, asked: Asked, error: BaseException) -> None:
        """What was reported before is counted already."""
