"""Scripted answers of the LLM protocol server, and the bytes they become."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


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
    """The text of the last message of a request."""
    content = request["messages"][-1].get("content") or ""
    if isinstance(content, str):
        return content
    return " ".join(part["text"] for part in content if part["type"] == "text")


def pieces(turn: Turn, request: Json) -> list[bytes]:
    """The body of an answer, one piece for each event."""
    if turn.raw is not None:
        return [turn.raw]
    if turn.status != 200:
        return [error_body(turn.message, code=turn.code)]
    events = _events(turn, request) if turn.events is None else turn.events
    data = [_data(event) for event in events]
    return [*data, b"data: [DONE]\n\n"] if turn.done else data


def error_body(message: str, *, code: str | None = None, param: str | None = None) -> bytes:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return json.dumps({"error": error}).encode()


def _words(text: str) -> list[str]:
    return [f"{' ' if index else ''}{word}" for index, word in enumerate(text.split(" "))]


def _data(event: Json | str) -> bytes:
    text = event if isinstance(event, str) else json.dumps(event, separators=(",", ":"))
    return f"data: {text}\n\n".encode()


def _events(turn: Turn, request: Json) -> list[Json]:
    deltas: list[Json] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": part} for part in turn.reasoning]
    deltas += [{"content": part} for part in turn.text]
    deltas += [{"tool_calls": part} for part in _fragments(turn)]
    events = [_chunk(request, delta) for delta in deltas]
    if turn.finish != "":
        reason = turn.finish or ("tool_calls" if turn.calls else "stop")
        events.append(_chunk(request, {}, reason))
    if turn.usage and (request.get("stream_options") or {}).get("include_usage"):
        events.append(_usage(request, turn.usage))
    return events


def _fragments(turn: Turn) -> list[list[Json]]:
    """Heads of all calls first, then their arguments in turns: as parallel calls arrive."""
    heads: list[list[Json]] = [
        [
            {
                "index": n,
                "id": c.id,
                "type": "function",
                "function": {"name": c.name, "arguments": ""},
            }
        ]
        for n, c in enumerate(turn.calls)
    ]
    size = turn.fragment
    longest = max((len(c.arguments) for c in turn.calls), default=0)
    tails: list[list[Json]] = [
        [
            {"index": n, "function": {"arguments": c.arguments[at : at + size]}}
            for n, c in enumerate(turn.calls)
            if at < len(c.arguments)
        ]
        for at in range(0, longest, size)
    ]
    return heads + tails


def _chunk(request: Json, delta: Json, finish: str | None = None) -> Json:
    return {
        "id": "chatcmpl-octo",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": request.get("model", ""),
        "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}],
    }


def _usage(request: Json, usage: tuple[int, int, int]) -> Json:
    prompt, completion, cached = usage
    return {
        **_chunk(request, {}),
        "choices": [],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": cached},
        },
    }
