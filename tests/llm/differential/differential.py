"""What two readers of one answer must agree on, and the answers and requests to try them with."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from pydantic import TypeAdapter

from octo_lab.core.messages import (
    ChatRequest,
    Effort,
    Media,
    Message,
    OneTool,
    ToolCall,
    ToolSpec,
    Usage,
)
from octo_lab.core.stream import (
    Done,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    ToolCalled,
    UsageReported,
)
from octo_lab.llm.provider import Provider
from octo_lab.testing.llm_script import Call, Turn

EFFORTS: tuple[Effort, ...] = ("minimal", "low", "medium", "high")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """An answer as it was understood, however it came. ``stop`` is a StopReason."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    stop: str = ""


def reading_of(events: Sequence[StreamEvent]) -> Reading:
    """What our events say; the last one must be the only ``Done``."""
    *before, done = events
    assert isinstance(done, Done)
    assert not any(isinstance(event, Done) for event in before)
    usages = [event.usage for event in before if isinstance(event, UsageReported)]
    assert len(usages) <= 1
    return Reading(
        text="".join(event.text for event in before if isinstance(event, TextDelta)),
        reasoning="".join(event.text for event in before if isinstance(event, ReasoningDelta)),
        calls=tuple(event.call for event in before if isinstance(event, ToolCalled)),
        usage=usages[0] if usages else None,
        stop=done.reason,
    )


async def our_reading(provider: Provider, request: ChatRequest) -> Reading:
    """The answer of our own adapter; raises its ProviderError."""
    async with aclosing(provider.stream(request)) as events:
        return reading_of(await drained(events))


async def drained(items: AsyncIterable[StreamEvent]) -> list[StreamEvent]:
    return [item async for item in items]


def as_typed(adapter: TypeAdapter[Any], body: Mapping[str, Any]) -> object:
    """A request as the vendor's types know it: equal to ``body`` when they know all of it.

    Raises a ValidationError; a list that the types call an iterable is only checked as it is read.
    """
    return _whole(adapter.validate_python(body))


def _whole(value: object) -> object:
    if isinstance(value, Mapping):
        return {name: _whole(part) for name, part in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return [_whole(part) for part in value]
    return value


def same_arguments(first: Reading, second: Reading) -> bool:
    """Whether the calls have equal arguments as JSON, for readers that keep no text of them."""
    return [_parsed(call) for call in first.calls] == [_parsed(call) for call in second.calls]


def _parsed(call: ToolCall) -> tuple[str, str, object]:
    return call.id, call.name, json.loads(call.arguments)


_ODD = st.sampled_from(
    [
        "\u2028",
        "\u0085",
        "\x0b",
        "\r\n",
        "\n\ndata: {}",
        "\n\n",
        "\x00",
        "\ufeff",
        "\U0001f469\u200d\U0001f680",
        "e\u0301",
        "\u202e",
        "`<",
        "\\u0041\\",
        "[DONE]",
    ]
)
TEXTS = st.one_of(st.text(st.characters(codec="utf-8"), max_size=12), _ODD)
PIECES = st.lists(TEXTS, max_size=6)
NAMES = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_-]{0,20}", fullmatch=True)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**31), 2**31) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
ARGUMENTS = st.builds(
    lambda fields, plain: json.dumps(fields, ensure_ascii=plain),
    st.dictionaries(TEXTS, _VALUES, max_size=4),
    st.booleans(),
)


@st.composite
def usages(draw: st.DrawFn) -> tuple[int, int, int]:
    """Input, output and cached tokens as a script has them."""
    taken, given = draw(st.integers(1, 10**6)), draw(st.integers(1, 10**6))
    return taken, given, draw(st.integers(0, taken))


@st.composite
def turns(
    draw: st.DrawFn,
    *,
    finishes: Sequence[str | None] = (None,),
    reasoning: bool = True,
    without_usage: bool = True,
) -> Turn:
    """Scripted answers: text with odd characters, empty pieces, parallel calls in fragments of
    any size, written in pieces of any size.
    """
    made = draw(st.lists(st.tuples(NAMES, ARGUMENTS), max_size=3))
    return Turn(
        text=draw(PIECES),
        reasoning=draw(PIECES) if reasoning else (),
        calls=[
            Call(name=name, arguments=arguments, id=f"call_{n}")
            for n, (name, arguments) in enumerate(made)
        ],
        fragment=draw(st.integers(1, 40)),
        usage=draw(st.none() | usages()) if without_usage else draw(usages()),
        finish=draw(st.sampled_from(finishes)),
        delay=None,
        split=draw(st.none() | st.integers(1, 400)),
    )


def in_utf8(body: bytes) -> bytes:
    """The same stream of events, its JSON not in ASCII but as most servers write it."""
    return b"\n".join(map(_line_in_utf8, body.split(b"\n")))


def _line_in_utf8(line: bytes) -> bytes:
    head, mark, data = line.partition(b"data: {")
    if head or not mark:
        return line
    plain = json.dumps(json.loads(b"{" + data), ensure_ascii=False, separators=(",", ":"))
    return b"data: " + plain.encode()


_ANY_NAME = st.one_of(
    NAMES, st.sampled_from(["mcp.server/tool", "x" * 80, "9lives", "\u5de5\u5177"])
)
_MEDIA = st.builds(
    Media,
    mime=st.sampled_from(["image/png", "image/jpeg", "application/pdf"]),
    data=st.binary(max_size=4),
    name=st.sampled_from(["", "plot.png"]),
)
_IDS = st.sampled_from(["a", "b", "c", ""])
_CALLS = st.lists(
    st.builds(
        ToolCall, id=_IDS, name=_ANY_NAME, arguments=ARGUMENTS | st.sampled_from(["", '{"x', "[]"])
    ),
    max_size=3,
).map(tuple)
_MEDIA_LISTS = st.lists(_MEDIA, max_size=2).map(tuple)
_MESSAGES = st.one_of(
    st.builds(Message, role=st.just("system"), content=TEXTS),
    st.builds(Message, role=st.just("user"), content=TEXTS, media=_MEDIA_LISTS),
    st.builds(
        Message, role=st.just("assistant"), content=TEXTS, reasoning=TEXTS, tool_calls=_CALLS
    ),
    st.builds(Message, role=st.just("tool"), content=TEXTS, tool_call_id=_IDS, media=_MEDIA_LISTS),
)
_FIELD = {"type": "string", "description": "a field"}
SCHEMAS: tuple[Mapping[str, Any] | None, ...] = (
    None,
    {},
    {"type": "object", "properties": {"a": _FIELD}},
    {
        "type": "object",
        "properties": {"a": _FIELD},
        "required": ["a"],
        "additionalProperties": False,
    },
)


@st.composite
def requests(draw: st.DrawFn) -> ChatRequest:
    """Requests with damaged histories, tools, pictures, schemas and every choice."""
    names = draw(st.lists(_ANY_NAME, max_size=3, unique=True))
    choices = ["auto", "required", "none", *map(OneTool, names)] if names else ["auto", "required"]
    return ChatRequest(
        messages=draw(st.lists(_MESSAGES, max_size=8)),
        tools=[
            ToolSpec(
                name=name,
                description=draw(TEXTS),
                schema={"type": "object", "properties": {"a": _FIELD}},
            )
            for name in names
        ],
        tool_choice=draw(st.sampled_from(choices)),
        max_tokens=draw(st.sampled_from([None, 0, 1, 4096])),
        temperature=draw(st.sampled_from([None, 0.0, 1.0])),
        stop=draw(st.sampled_from([(), ("END",), ("a", "b", "c", "d", "e", "")])),
        response_schema=draw(st.sampled_from(SCHEMAS)),
        effort=draw(st.sampled_from([None, *EFFORTS])),
    )
