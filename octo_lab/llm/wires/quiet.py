"""Tells a server that is only alive from one that answers."""

from __future__ import annotations

import re

import anyio

from octo_lab.core.errors import TimedOut
from octo_lab.core.liveness import alive

# Comments, and the events that Anthropic and OpenAI send while nothing happens.
_NO_NEWS = re.compile(
    rb"(?:\s|:[^\r\n]*[\r\n]|(?:event: ?(?:ping|keepalive)\s+)?"
    rb'data: ?\{ ?"type": ?"(?:ping|keepalive)"[^\r\n]*[\r\n])*'
)


class Quiet:
    """Raises TimedOut when for ``patience`` seconds nothing came but signs of life."""

    def __init__(self, name: str, patience: float) -> None:
        self._name = name
        self._patience = patience
        self._since: float | None = None

    def hear(self, part: bytes) -> None:
        """A piece of the body of which no event came."""
        if not _NO_NEWS.fullmatch(part):
            self._since = None
            alive()
        elif self._since is None:
            self._since = anyio.current_time()
        elif anyio.current_time() - self._since > self._patience:
            raise TimedOut(
                f"{self._name!r} sent only signs of life for {self._patience:g} s",
                hint="try again",
            )

    def end(self) -> None:
        """There was news."""
        self._since = None
