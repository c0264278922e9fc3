"""Reads an Anthropic messages stream: bytes in, events out, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from octo_lab.core.errors import Unavailable
from octo_lab.core.messages import ProviderState, Usage
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
from octo_lab.llm.errors import error_from_object
from octo_lab.llm.secret import Secret
from octo_lab.llm.sse import SSEDecoder
from octo_lab.llm.wires.anthropic.blocks import Block, Blocks
from octo_lab.llm.wires.anthropic.usage import Totals
from octo_lab.llm.wires.endings import cut_short, refused
from octo_lab.llm.wires.event_json import event_json

Json = Mapping[str, Any]
_ENDS: dict[str, StopReason] = {
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
        names: Mapping[str, str] = MappingProxyType({}),
        answer: str = "",
    ) -> None:
        self.begun = False
        self.whole = False  # message_stop has come
        self._name = name
        self._model = model
        self._key = key
        self._names = names
        self._answer = answer
        self._sse = SSEDecoder()
        self._blocks = Blocks()
        self._totals = Totals()
        self._stop = ""
        self._refusal = ""
        self._steps: dict[str, Callable[[Json, list[StreamEvent]], None]] = {
            "content_block_delta": self._delta,
            "content_block_start": self._start,
            "content_block_stop": self._end,
            "message_start": self._begin,
            "message_delta": self._change,
            "message_stop": self._finish,
            "error": self._fail,
        }

    @property
    def spent(self) -> Usage | None:
        return self._totals.usage()

    def feed(self, part: bytes) -> list[StreamEvent]:
        """The deltas that this piece of the body completes."""
        out: list[StreamEvent] = []
        for event in self._sse.feed(part):
            data = event.data
            if self.whole:
                break
            if data and data[:6] != "[DONE]" and not data.isspace():
                self._read(event_json(data, self._name, self._key), out)
        return out

    def read_whole(self, body: bytes) -> list[StreamEvent]:
        """An answer that came as one JSON body."""
        message = event_json(body.decode("utf-8", "replace"), self._name, self._key)
        out: list[StreamEvent] = []
        for chunk in _as_events(message):
            self._read(chunk, out)
        return out

    def close(self) -> list[StreamEvent]:
        """The end of the answer."""
        if not self.whole:
            raise cut_short(self._name)
        if self._stop == "refusal":
            raise refused(self._name, self._refusal, self._key)
        reason = _ENDS.get(self._stop)
        calls = self._blocks.calls(self._names, self._answer, cut=reason == "max_tokens")
        answered = next(self._blocks.inputs(self._answer), "") if self._answer else ""
        out: list[StreamEvent] = []
        if text := self._held(answered, called=bool(calls)):
            out.append(TextDelta(text))
        out += [ToolCalled(call) for call in calls.values()]
        # Where a tool's input became the answer's text, thinking has no place to come back to.
        if blob := "" if answered else self._blocks.state(calls):
            out.append(StateKept(ProviderState(provider=self._name, model=self._model, blob=blob)))
        if spent := self.spent:
            out.append(UsageReported(spent))
        called = calls or (self._stop == "tool_use" and not self._answer)
        return [*out, Done(reason or ("tool_use" if called else "end_turn"))]

    def _held(self, answered: str, *, called: bool) -> str:
        """Text that waited: for the tool that stands for the answer might yet be called, alone."""
        if not self._answer or (answered and called):
            return ""
        return answered or self._blocks.texts()

    def _read(self, chunk: Json, out: list[StreamEvent]) -> None:
        try:
            step = self._steps.get(chunk["type"])
            self.begun = True
            if step is not None:  # else a ping, or an event of tomorrow
                step(chunk, out)
        except (AttributeError, KeyError, TypeError, ValueError) as exc:
            if chunk.get("error"):
                self._fail(chunk, out)
            raise Unavailable(
                f"{self._name!r} sent an event of a shape that is not Anthropic's messages",
                hint="is the base URL that of an Anthropic-compatible server?",
            ) from exc

    def _delta(self, chunk: Json, out: list[StreamEvent]) -> None:
        delta, index = chunk["delta"], chunk.get("index")
        match delta["type"]:
            case "text_delta":
                self._text(self._blocks.at(index, "text"), delta["text"], out)
            case "thinking_delta":
                self._think(self._blocks.at(index, "thinking"), delta["thinking"], out)
            case "input_json_delta":
                block, text = self._blocks.at(index, ""), delta["partial_json"]
                if text and block.kind == "tool_use":
                    self._blocks.keep(block, text)
            case "signature_delta":
                self._blocks.at(index, "thinking").signature = str(delta["signature"])

    def _start(self, chunk: Json, out: list[StreamEvent]) -> None:
        start = chunk["content_block"]
        block = self._blocks.open(chunk.get("index"), str(start["type"]), start)
        match block.kind:
            case "text":
                self._text(block, start.get("text") or "", out)
            case "thinking":
                self._think(block, start.get("thinking") or "", out)
                block.signature = str(start.get("signature") or "")

    def _text(self, block: Block, text: object, out: list[StreamEvent]) -> None:
        if not text or block.kind != "text":
            return
        if not isinstance(text, str):
            raise TypeError(f"{text!r} is no text")
        block.size += len(text)
        if self._answer:
            self._blocks.keep(block, text)
        else:
            out.append(TextDelta(text))

    def _think(self, block: Block, text: str, out: list[StreamEvent]) -> None:
        if text and block.kind == "thinking":
            self._blocks.keep(block, text)
            out.append(ReasoningDelta(text))

    def _end(self, chunk: Json, _out: list[StreamEvent]) -> None:
        self._blocks.close(chunk.get("index"))

    def _begin(self, chunk: Json, _out: list[StreamEvent]) -> None:
        self._totals.take(chunk["message"].get("usage"))

    def _change(self, chunk: Json, _out: list[StreamEvent]) -> None:
        self._totals.take(chunk.get("usage"))
        delta = chunk.get("delta") or {}
        self._stop = str(delta.get("stop_reason") or self._stop)
        details = delta.get("stop_details") or {}
        self._refusal = str(details.get("explanation") or self._refusal)

    def _finish(self, _chunk: Json, _out: list[StreamEvent]) -> None:
        self.whole = True

    def _fail(self, chunk: Json, _out: list[StreamEvent]) -> None:
        error = chunk.get("error")
        if isinstance(error, Mapping) and "code" not in error:
            status = _STATUSES.get(str(error.get("type")))
            chunk = {"error": {**error, **({"status": status} if status else {})}}
        raise error_from_object(self._name, chunk, self._key)


def _as_events(message: Json) -> list[dict[str, Any]]:
    """The events that would have carried a whole message; what is none stays what it is."""
    content = message.get("content")
    if message.get("type") != "message" or not isinstance(content, list):
        return [dict(message)]
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    for index, block in enumerate(content):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events.append({"type": "content_block_stop", "index": index})
    return [*events, {"type": "message_delta", "delta": message}, {"type": "message_stop"}]
