"""Scripted answers of the LLM protocol server; ``testing/wires`` turns them into bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from octo_lab.testing.faults import Fault

Json = dict[str, Any]
NO_FAULT = Fault()


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One tool call of a scripted answer."""

    name: str
    arguments: str = "{}"
    id: str = "call_1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One scripted answer.

    Order on the wire: ``reasoning``, ``text``, ``calls`` (arguments in pieces of ``fragment``
    characters), usage, ``[DONE]``. ``delay`` is seconds between two events (``None``: all in one
    write), ``wait`` seconds before the first. ``cut`` drops the connection after so many bytes of
    the body; ``hang`` keeps it open after the last event; ``split`` writes so many bytes at a
    time. ``status`` other than 200 answers a vendor-like error with ``message`` and ``code``.
    ``raw`` is a body sent as it is; ``events`` are JSON objects or data lines sent as they are.
    ``signature`` is what the vendor signs its thinking with, where the dialect has that.
    ``fault`` is what goes wrong on the way.
    """

    text: Sequence[str] = ()
    reasoning: Sequence[str] = ()
    calls: Sequence[Call] = ()
    fragment: int = 8
    usage: tuple[int, int, int] | None = (10, 5, 0)
    finish: str | None = None
    done: bool = True
    delay: float | None = 0.0
    wait: float = 0.0
    cut: int | None = None
    hang: bool = False
    split: int | None = None
    status: int = 200
    message: str = ""
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    events: Sequence[Json | str] | None = None
    signature: str = ""
    fault: Fault = NO_FAULT


def says(*text: str, delay: float | None = 0.0, **more: Any) -> Turn:
    """An answer of text, one event a piece."""
    return Turn(text=text, delay=delay, **more)


def calls(*made: Call, text: Sequence[str] = (), **more: Any) -> Turn:
    """An answer that calls tools."""
    return Turn(calls=made, text=text, **more)


def call(name: str, /, *, id: str = "call_1", **arguments: Any) -> Call:
    """One tool call with these arguments."""
    return Call(name=name, arguments=json.dumps(arguments), id=id)


def fails(status: int, message: str = "scripted failure", **more: Any) -> Turn:
    """An error answer, as vendors give it."""
    return Turn(status=status, message=message, **more)


def echo(request: Json) -> Turn:
    """Say the last user text again, word by word."""
    return says(*_words(f"echo: {last_text(request)}"))


def last_text(request: Json) -> str:
    """The text of the last message of a request, in whatever dialect it is."""
    said = request.get("messages") or request.get("input") or request.get("contents") or [{}]
    if isinstance(said, str):
        return said
    content = said[-1].get("content") or said[-1].get("parts") or ""
    if isinstance(content, str):
        return content
    return " ".join(part["text"] for part in content if isinstance(part.get("text"), str))


def _words(text: str) -> list[str]:
    return [f"{' ' if index else ''}{word}" for index, word in enumerate(text.split(" "))]


def as_data(event: Json | str) -> bytes:
    """One server-sent event without a name."""
    text = event if isinstance(event, str) else json.dumps(event, separators=(",", ":"))
    return f"data: {text}\n\n".encode()
