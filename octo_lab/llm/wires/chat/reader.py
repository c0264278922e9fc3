"""Reads an OpenAI chat-completions stream: bytes in, events out, no I/O."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json

from octo_lab.core.errors import ContentFiltered, ProviderError, StreamCut, Unavailable
from octo_lab.core.messages import Usage
from octo_lab.core.stream import (
    Done,
    ReasoningDelta,
    StopReason,
    StreamEvent,
    ToolCalled,
    UsageReported,
)
from octo_lab.core.text import clean
from octo_lab.llm.errors import error_from_object, shown
from octo_lab.llm.secret import Secret
from octo_lab.llm.sse import SSEDecoder
from octo_lab.llm.think import ThinkFilter
from octo_lab.llm.tool_calls import CallJoiner, is_object

Json = Mapping[str, Any]
MOST_TOKENS = 2**40  # more is a server's mistake, and would not fit where sums are kept
_REASONS: dict[str, StopReason] = {"length": "max_tokens", "max_tokens": "max_tokens"}


class ChatReader:
    """One answer. ``feed`` gives deltas as they come, ``close`` calls, usage and ``Done``.

    Raises the typed error that an error object inside the stream means, Unavailable for what is
    no such stream, ContentFiltered for a refusal and, in ``close``, StreamCut when the stream
    ended before the answer did.
    """

    def __init__(self, name: str, key: Secret | None = None) -> None:
        self.begun = False  # at least one chunk has come
        self.ended = False  # [DONE] has come
        self.finish = ""  # the server's finish_reason
        self._name = name
        self._key = key
        self._sse = SSEDecoder()
        self._think = ThinkFilter()
        self._joiner = CallJoiner()
        self._usage: Usage | None = None
        self._refusal: list[str] = []

    def feed(self, part: bytes) -> list[StreamEvent]:
        """The deltas that this piece of the body completes."""
        out: list[StreamEvent] = []
        if self.ended:
            return out
        for event in self._sse.feed(part):
            if event.data[:6] == "[DONE]":
                self.begun = self.ended = True
                break
            if event.data and not event.data.isspace():
                self._read(self._json(event.data), out)
        return out

    @property
    def whole(self) -> bool:
        """The answer is complete; usage and [DONE] may still come."""
        return bool(self.finish) or self.ended

    def read_whole(self, body: bytes) -> list[StreamEvent]:
        """An answer that came as one JSON body."""
        out: list[StreamEvent] = []
        self._read(self._json(body.decode("utf-8", "replace")), out)
        self.ended = True
        return out

    def _read(self, chunk: Json, out: list[StreamEvent]) -> None:
        self.begun = True
        try:
            self._take(chunk, out)
        except (AttributeError, KeyError, TypeError, ValueError) as exc:
            raise Unavailable(
                f"{self._name!r} sent a chunk of a shape that is not chat-completions",
                hint="is the base URL that of an OpenAI-compatible server?",
            ) from exc

    def _take(self, chunk: Json, out: list[StreamEvent]) -> None:
        choices = chunk.get("choices")
        if chunk.get("error") or chunk.get("object") == "error":
            raise error_from_object(self._name, chunk, self._key)
        if choices:
            self._choice(choices[0], out)
        elif choices is None and ("message" in chunk or "detail" in chunk):
            raise error_from_object(self._name, chunk, self._key)
        usage = chunk.get("usage")
        if usage:
            self._usage = read_usage(usage)

    def close(self) -> list[StreamEvent]:
        """The end of the answer."""
        out: list[StreamEvent] = [*self._think.close()]
        if not self.ended and not self.finish:
            raise StreamCut(
                f"The answer of {self._name!r} ended before it was whole", hint="ask again"
            )
        if self.finish == "content_filter":
            raise ContentFiltered(
                f"{self._name!r} stopped the answer: its filter objects", hint="ask in another way"
            )
        if self._refusal:
            said = shown("".join(self._refusal), self._key)
            raise ContentFiltered(f"{self._name!r} refused: {said}", hint="ask in another way")
        calls = self._joiner.calls()
        reason = _REASONS.get(self.finish, "tool_use" if calls else "end_turn")
        if reason == "max_tokens":  # the last call may lack its end: then it never was a call
            calls = [call for call in calls if is_object(call.arguments)]
        out += [ToolCalled(call) for call in calls]
        if self._usage:
            out.append(UsageReported(self._usage))
        return [*out, Done(reason)]

    def _choice(self, choice: Json, out: list[StreamEvent]) -> None:
        delta = choice.get("delta") or choice.get("message")
        if delta:
            self._delta(delta, out)
        finish = choice.get("finish_reason")
        if finish and isinstance(finish, str):
            if finish == "error":
                raise error_from_object(self._name, choice, self._key)
            self.finish = finish

    def _delta(self, delta: Json, out: list[StreamEvent]) -> None:
        reasoning = delta.get("reasoning_content") or delta.get("reasoning")
        if reasoning and isinstance(reasoning, str):
            out.append(ReasoningDelta(reasoning))
        content = delta.get("content")
        if content:
            out += self._think.feed(content if isinstance(content, str) else _joined(content))
        for fragment in delta.get("tool_calls") or ():
            self._joiner.add(fragment)
        refusal = delta.get("refusal")
        if refusal and isinstance(refusal, str):
            self._refusal.append(refusal)

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
        try:
            return json.loads(clean(json.dumps(json.loads(data), ensure_ascii=False)))
        except (ValueError, RecursionError):
            raise self._garbled(data) from None

    def _garbled(self, data: str) -> ProviderError:
        said = shown(data[:120], self._key)
        return Unavailable(f"{self._name!r} sent what is no JSON: {said!r}", hint="try again")


def read_usage(usage: Json) -> Usage:
    """Tokens as the vendor counts them; what a server does not know is 0."""
    details = usage.get("prompt_tokens_details") or {}
    return Usage(
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        cached_tokens=_count(details.get("cached_tokens"))
        or _count(usage.get("prompt_cache_hit_tokens")),
        requests=1,
    )


def _count(value: object) -> int:
    return value if type(value) is int and 0 < value <= MOST_TOKENS else 0


def _joined(content: object) -> str:
    """Text of content given as parts, as some servers do."""
    parts = content if isinstance(content, list) else ()
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "".join(text for text in texts if isinstance(text, str))
