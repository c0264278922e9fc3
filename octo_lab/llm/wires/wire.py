"""A dialect as three functions: what is sent, how the answer is read, what a key looks like."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from octo_lab.core.messages import ChatRequest, Usage
from octo_lab.core.stream import StreamEvent
from octo_lab.llm.hints import ModelHints
from octo_lab.llm.provider_config import ProviderConfig

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request of a dialect: where to, with which headers (not the key's), and what."""

    url: str
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict)


class AnswerReader(Protocol):
    """Reads one answer without I/O.

    Raises the typed error that the server's words mean, Unavailable for what is no such stream,
    ContentFiltered for a refusal and, in ``close``, StreamCut when the terminal event is missing.
    """

    @property
    def begun(self) -> bool:
        """At least one event of the dialect has come."""
        ...

    @property
    def whole(self) -> bool:
        """The answer is complete; usage and the end of the body may still come."""
        ...

    @property
    def spent(self) -> Usage | None:
        """What the server has said so far that the answer took; None while it said nothing."""
        ...

    def feed(self, part: bytes) -> list[StreamEvent]:
        """The deltas that this piece of an event stream completes."""
        ...

    def read_whole(self, body: bytes) -> list[StreamEvent]:
        """The deltas of an answer that came as one JSON body."""
        ...

    def close(self) -> list[StreamEvent]:
        """What is known at the end: calls, usage, state and ``Done``."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """``write`` repairs the transcript on the way; ``read`` makes the reader of its answer.

    ``authorize`` gives the headers that carry a key, ``models_path`` where the list of models
    is, under the base URL.
    """

    write: Callable[[ChatRequest, ProviderConfig, ModelHints], Asked]
    read: Callable[[ChatRequest, ProviderConfig], AnswerReader]
    authorize: Callable[[str], Mapping[str, str]]
    models_path: str = "/models"
