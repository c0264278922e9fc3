"""A provider that is sent no secrets."""

from __future__ import annotations

from octo_lab.core.messages import ChatRequest
from octo_lab.llm.provider import Events, Provider
from octo_lab.security.outgoing import Outgoing


class Masked:
    """Wraps any provider: each request goes out as ``outgoing`` leaves it."""

    def __init__(self, inner: Provider, outgoing: Outgoing) -> None:
        self._inner = inner
        self._outgoing = outgoing

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def model(self) -> str:
        return self._inner.model

    def stream(self, request: ChatRequest) -> Events:
        return self._inner.stream(self._outgoing(request))
