"""Reads an Anthropic messages stream: bytes in, events out, no I/O."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import from_json

from octo_lab.core.errors import ContentFiltered, ProviderError, StreamCut, Unavailable
from octo_lab.core.ids import new_id
from octo_lab.core.messages import ProviderState, ToolCall, Usage
from octo_lab.core.stream import (
    Done,
    ReasoningDelta,
    StateKept,
    StopReason,
    StreamEvent,
    TextDelta,
    ToolCalled,
    UsageReported,
)
from octo_lab.core.text import clean
from octo_lab.llm.errors import error_from_object, shown
from octo_lab.llm.secret import Secret
from octo_lab.llm.sse import SSEDecoder
from octo_lab.llm.tool_calls import MAX_ARGUMENTS, MAX_CALLS, is_object
from octo_lab.llm.wires.anthropic.state import THINKING, pack

Json = Mapping[str, Any]
MAX_BLOCKS = 2_048
MOST_TOKENS = 2**40  # more is a server's mistake, and would not fit where sums are kept
_REASONS: dict[str, StopReason] = {
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "stop_sequence": "stop_sequence",
}
# The status that the vendor would have answered with, had it not begun to stream.
_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_COUNTS = (
    *("input_tokens", "output_tokens", "cache_read_input_tokens"),
    *("cache_creation_input_tokens",),
)


class _Block:
    """A content block that grows; ``start`` is what it began as."""

    __slots__ = ("closed", "kind", "parts", "signature", "size", "start")

    def __init__(self, kind: str, start: Json) -> None:
        self.kind = kind
        self.start = start
        self.parts: list[str] = []  # of thinking, or of a call's input
        self.size = 0  # characters of text
        self.signature = ""
        self.closed = False


class MessagesReader:
    """One answer. ``feed`` gives deltas as they come; ``close`` calls, state, usage and ``Done``.

    ``names`` are the true names of tools that were offered under another, ``answer`` is the tool
    whose input is the answer's text. Raises as AnswerReader says.
    """

    def __init__(
        self,
        name: str,
        model: str,
        *,
        key: Secret | None = None,
        names: Mapping[str, str] = {},
        answer: str = "",
    ) -> None:
        self.begun = False
        self.whole = False  # message_stop has come
        self._name = name
        self._model = model
        self._key = key
        self._names = names
        self._answer = answer
        self._held: list[str] = []  # text, where a tool's input may be the answer
        self._sse = SSEDecoder()
        self._blocks: list[_Block] = []
        self._open: dict[object, _Block] = {}  # by the index the server gave
        self._size = 0
        self._counts: dict[str, int] = {}
        self._stop = ""
        self._refusal = ""
        self._altered = False  # something could not be kept as it came
        self._steps: dict[str, Callable[[Json, list[StreamEvent]], None]] = {
            "content_block_delta": self._delta,
            "content_block_start": self._start,
            "content_block_stop": self._end,
            "message_start": self._begin,
            "message_delta": self._change,
            "message_stop": self._finish,
            "error": self._fail,
        }

    def feed(self, part: bytes) -> list[StreamEvent]:
        """The deltas that this piece of the body completes."""
        out: list[StreamEvent] = []
        for event in self._sse.feed(part):
            data = event.data
            if self.whole:
                break
            if data and data[:6] != "[DONE]" and not data.isspace():
                self._read(self._json(data), out)
        return out

    def read_whole(self, body: bytes) -> list[StreamEvent]:
        """An answer that came as one JSON body."""
        out: list[StreamEvent] = []
        message = self._json(body.decode("utf-8", "replace"))
        if message.get("type") != "message":
            self._read(message, out)
            return out
        self._read({"type": "message_start", "message": message}, out)
        for index, block in enumerate(message.get("content") or ()):
            self._read({"type": "content_block_start", "index": index, "content_block": block}, out)
            self._read({"type": "content_block_stop", "index": index}, out)
        self._read({"type": "message_delta", "delta": message}, out)
        self._read({"type": "message_stop"}, out)
        return out

    def close(self) -> list[StreamEvent]:
        """The end of the answer."""
        if not self.whole:
            raise StreamCut(
                f"The answer of {self._name!r} ended before it was whole", hint="ask again"
            )
        if self._stop == "refusal":
            said = shown(self._refusal, self._key)
            raise ContentFiltered(
                f"{self._name!r} refused to answer{': ' if said else ''}{said}",
                hint="ask in another way",
            )
        calls = self._calls()
        out: list[StreamEvent] = []
        if self._answer and not calls:
            out += self._answered()
        out += [ToolCalled(call) for call in calls.values()]
        out += self._state(calls)
        if self._counts:
            out.append(UsageReported(self._usage()))
        return [*out, Done(_REASONS.get(self._stop, "tool_use" if calls else "end_turn"))]

    def _read(self, chunk: Json, out: list[StreamEvent]) -> None:
        try:
            step = self._steps.get(chunk["type"])
            self.begun = True
            if step is not None:  # else a ping, or an event of tomorrow
                step(chunk, out)
        except (AttributeError, KeyError, TypeError, ValueError) as exc:
            if "error" in chunk:
                self._fail(chunk, out)
            raise Unavailable(
                f"{self._name!r} sent an event of a shape that is not Anthropic's messages",
                hint="is the base URL that of an Anthropic-compatible server?",
            ) from exc

    def _delta(self, chunk: Json, out: list[StreamEvent]) -> None:
        delta = chunk["delta"]
        match delta["type"]:
            case "text_delta":
                self._text(self._at(chunk, "text"), delta["text"], out)
            case "thinking_delta":
                self._think(self._at(chunk, "thinking"), delta["thinking"], out)
            case "input_json_delta":
                self._argue(self._at(chunk, ""), delta["partial_json"])
            case "signature_delta":
                self._at(chunk, "thinking").signature = delta["signature"]

    def _at(self, chunk: Json, kind: str) -> _Block:
        """The block that grows; some hosts do not say that one begins."""
        index = chunk.get("index")
        block = self._open.get(index)
        return block if block is not None else self._opened(index, kind, {"type": kind})

    def _opened(self, index: object, kind: str, start: Json) -> _Block:
        if len(self._blocks) >= MAX_BLOCKS:
            raise Unavailable(f"The answer of {self._name!r} has more than {MAX_BLOCKS} parts")
        block = _Block(kind, start)
        self._blocks.append(block)
        self._open[index] = block
        return block

    def _start(self, chunk: Json, out: list[StreamEvent]) -> None:
        start = chunk["content_block"]
        block = self._opened(chunk.get("index"), start["type"], start)
        match block.kind:
            case "text":
                self._text(block, start.get("text") or "", out)
            case "thinking":
                self._think(block, start.get("thinking") or "", out)
                block.signature = start.get("signature") or ""

    def _text(self, block: _Block, text: str, out: list[StreamEvent]) -> None:
        if not text or block.kind != "text":
            return
        block.size += len(text)
        if self._answer:
            self._grow(len(text))
            self._held.append(text)
        else:
            out.append(TextDelta(text))

    def _think(self, block: _Block, text: str, out: list[StreamEvent]) -> None:
        if text and block.kind == "thinking":
            self._grow(len(text))
            block.parts.append(text)
            out.append(ReasoningDelta(text))

    def _argue(self, block: _Block, text: str) -> None:
        if text and block.kind == "tool_use":
            self._grow(len(text))
            block.parts.append(text)

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > MAX_ARGUMENTS:
            raise Unavailable(f"The answer of {self._name!r} is too long")

    def _end(self, chunk: Json, _out: list[StreamEvent]) -> None:
        block = self._open.pop(chunk.get("index"), None)
        if block is not None:
            block.closed = True

    def _begin(self, chunk: Json, _out: list[StreamEvent]) -> None:
        self._count(chunk["message"].get("usage"))

    def _change(self, chunk: Json, _out: list[StreamEvent]) -> None:
        self._count(chunk.get("usage"))
        delta = chunk.get("delta") or {}
        self._stop = delta.get("stop_reason") or self._stop
        details = delta.get("stop_details") or {}
        self._refusal = str(details.get("explanation") or "")

    def _finish(self, _chunk: Json, _out: list[StreamEvent]) -> None:
        self.whole = True

    def _fail(self, chunk: Json, _out: list[StreamEvent]) -> None:
        error = chunk.get("error")
        if isinstance(error, Mapping) and "code" not in error:
            status = _STATUSES.get(str(error.get("type")))
            chunk = {"error": {**error, **({"status": status} if status else {})}}
        raise error_from_object(self._name, chunk, self._key)

    def _count(self, usage: Json | None) -> None:
        """Counts are running totals; some hosts know them only at the end."""
        if not usage:
            return
        details = usage.get("output_tokens_details") or {}
        for name, value in (
            *((name, usage.get(name)) for name in _COUNTS),
            ("thinking_tokens", details.get("thinking_tokens")),
        ):
            if type(value) is int and 0 <= value <= MOST_TOKENS:
                self._counts[name] = max(value, self._counts.get(name, 0))

    def _usage(self) -> Usage:
        count = self._counts.get
        read, written = count("cache_read_input_tokens", 0), count("cache_creation_input_tokens", 0)
        return Usage(
            input_tokens=count("input_tokens", 0) + read + written,
            output_tokens=count("output_tokens", 0),
            cached_tokens=read,
            written_tokens=written,
            reasoning_tokens=count("thinking_tokens", 0),
            requests=1,
        )

    def _calls(self) -> dict[int, ToolCall]:
        """The calls by the place of their blocks; one that is not whole never was a call."""
        cut = _REASONS.get(self._stop) == "max_tokens"
        calls: dict[int, ToolCall] = {}
        seen: set[str] = set()
        for place, block in enumerate(self._blocks):
            if block.kind != "tool_use" or block.start.get("name") == (self._answer or None):
                continue
            arguments = _arguments(block)
            if (cut or not block.closed) and not is_object(arguments):
                continue
            if len(calls) >= MAX_CALLS:
                raise Unavailable(f"The model made more than {MAX_CALLS} tool calls at once")
            id = str(block.start.get("id") or "")
            id = id if id and id not in seen else f"toolu_{new_id()}"
            seen.add(id)
            name = str(block.start.get("name") or "")
            name = self._names.get(name, name)
            calls[place] = ToolCall(id=id, name=name, arguments=arguments)
        return calls

    def _answered(self) -> list[StreamEvent]:
        given = [
            _arguments(block)
            for block in self._blocks
            if block.kind == "tool_use" and block.start.get("name") == self._answer
        ]
        text = given[-1] if given else "".join(self._held)
        return [TextDelta(text)] if text else []

    def _state(self, calls: Mapping[int, ToolCall]) -> list[StreamEvent]:
        """Thinking in its place, if there was any; where a tool's input became the answer's text
        there are no such places.
        """
        if self._altered or self._answer or not any(b.kind in THINKING for b in self._blocks):
            return []
        order: list[dict[str, Any] | int | None] = []
        for place, block in enumerate(self._blocks):
            if block.kind in THINKING:
                order.append(_thought(block))
            elif block.kind == "text" and block.size:
                order.append(block.size)
            elif place in calls:
                order.append(None)
        return [StateKept(ProviderState(provider=self._name, model=self._model, blob=pack(order)))]

    def _json(self, data: str) -> Json:
        try:
            chunk = from_json(data)
        except ValueError:
            chunk = self._odd_json(data)
        if not isinstance(chunk, dict):
            raise self._garbled(data)
        return chunk

    def _odd_json(self, data: str) -> object:
        """JSON with lone surrogates, which only the standard library reads."""
        self._altered = True
        try:
            return json.loads(clean(json.dumps(json.loads(data), ensure_ascii=False)))
        except (ValueError, RecursionError):
            raise self._garbled(data) from None

    def _garbled(self, data: str) -> ProviderError:
        said = shown(data[:120], self._key)
        return Unavailable(f"{self._name!r} sent what is no JSON: {said!r}", hint="try again")


def _thought(block: _Block) -> dict[str, Any]:
    """A thinking block as it came, its pieces joined."""
    thought = dict(block.start)
    if block.kind == "thinking":
        thought["thinking"] = "".join(block.parts)
        if block.signature or "signature" in thought:
            thought["signature"] = block.signature
    return thought


def _arguments(block: _Block) -> str:
    """The input as it was streamed, or as it was given whole."""
    text = "".join(block.parts)
    if text.strip():
        return text
    given = block.start.get("input")
    return json.dumps(given, ensure_ascii=False) if given else "{}"
