"""What a tool asks of the network, and what it gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class WebRequest:
    """``limit`` is how many bytes of the body are kept; ``timeout`` seconds are for everything."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)
    limit: int = 5_000_000
    timeout: float = 30.0
    redirects: int = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class WebResponse:
    """``url`` is where the answer came from, after redirects; header names are lower-case.

    ``cut``: the body was longer than the request's limit.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    cut: bool = False


class Fetcher(Protocol):
    """Fetches over HTTP, from public addresses only unless the owner allowed others."""

    async def fetch(self, request: WebRequest) -> WebResponse:
        """Raises ToolDenied for an address that may not be reached, ToolFailed otherwise."""
        ...
