"""A provider that can be exchanged while it is in use."""

from __future__ import annotations

from octo_lab.core.messages import ChatRequest
from octo_lab.llm.provider import Events, Provider


class Swappable:
    """Wraps any provider; the next request goes to whichever was set last."""

    def __init__(self, inner: Provider) -> None:
        self.inner = inner

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def model(self) -> str:
        return self.inner.model

    def stream(self, request: ChatRequest) -> Events:
        """A stream that has begun goes on with the provider it began with."""
        return self.inner.stream(request)
