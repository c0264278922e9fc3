"""A provider that is sent no secrets, and can be exchanged while it is in use."""

from __future__ import annotations

from octo_lab.core.messages import ChatRequest
from octo_lab.llm.provider import Events, Provider
from octo_lab.security.outgoing import Outgoing


class Masked:
    """Wraps any provider; the next request goes to whichever was set last."""

    def __init__(self, inner: Provider, outgoing: Outgoing) -> None:
        self.inner = inner
        self._outgoing = outgoing

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def model(self) -> str:
        return self.inner.model

    def stream(self, request: ChatRequest) -> Events:
        """A stream that has begun goes on with the provider it began with."""
        return self.inner.stream(self._outgoing(request))
