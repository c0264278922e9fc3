"""Reads an OpenAI chat-completions stream: bytes in, events out, no I/O."""

from __future__ import annotations

from collections.abc import Mapping
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
    ToolCalled,
    UsageReported,
)
from octo_lab.llm.errors import error_from_object
from octo_lab.llm.secret import Secret
from octo_lab.llm.sse import SSEDecoder
from octo_lab.llm.think import ThinkFilter
from octo_lab.llm.tool_calls import CallJoiner, is_object
from octo_lab.llm.wires.chat.thoughts import Thoughts
from octo_lab.llm.wires.chat.usage import read_usage
from octo_lab.llm.wires.endings import cut_short, filtered, refused
from octo_lab.llm.wires.event_json import event_json

Json = Mapping[str, Any]
_ENDS: dict[str, StopReason] = {
    "length": "max_tokens",
    "max_tokens": "max_tokens",
    "max_output_tokens": "max_tokens",
    "model_length": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "stop_sequence": "stop_sequence",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
}
_FILTERED = frozenset({"content_filter", "sensitive", "safety", "recitation", "prohibited_content"})
# DeepSeek has no machine free, GLM lost its connection, vLLM and SGLang gave the request up.
_BROKEN = frozenset({"insufficient_system_resource", "network_error", "abort"})


class ChatReader:
    """One answer. ``feed`` gives deltas as they come, ``close`` calls, state, usage and ``Done``.

    ``names`` are the true names of tools that were sent under another. Raises the typed error
    that an error object inside the stream means, Unavailable for what is no such stream or was
    given up by its server, ContentFiltered for a refusal and, in ``close``, StreamCut when the
    stream ended before the answer did.
    """

    def __init__(
        self,
        name: str,
        key: Secret | None = None,
        *,
        model: str = "",
        names: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.begun = False  # at least one chunk has come
        self.ended = False  # [DONE] has come
        self.finish = ""  # the server's finish_reason
        self._name = name
        self._key = key
        self._model = model
        self._sse = SSEDecoder()
        self._think = ThinkFilter()
        self._thoughts = Thoughts()
        self._joiner = CallJoiner(names)
        self._usage: Json | None = None
        self._refusal: list[str] = []

    def feed(self, part: bytes) -> list[StreamEvent]:
        """The deltas that this piece of the body completes."""
        out: list[StreamEvent] = []
        if self.ended:
            return out
        for event in self._sse.feed(part):
            data = event.data
            if data[:6] == "[DONE]":
                self.begun = self.ended = True
                break
            if data and not data.isspace():
                self._read(event_json(data, self._name, self._key), out)
        return out

    @property
    def whole(self) -> bool:
        """The answer is complete; usage and [DONE] may still come."""
        return bool(self.finish) or self.ended

    @property
    def spent(self) -> Usage | None:
        return read_usage(self._usage) if self._usage else None

    def read_whole(self, body: bytes) -> list[StreamEvent]:
        """An answer that came as one JSON body."""
        out: list[StreamEvent] = []
        self._read(event_json(body.decode("utf-8", "replace"), self._name, self._key), out)
        self.ended = True
        return out

    def close(self) -> list[StreamEvent]:
        """The end of the answer."""
        out: list[StreamEvent] = [*self._think.close()]
        self._check_end()
        calls = self._joiner.calls()
        reason = _ENDS.get(self.finish, "tool_use" if calls else "end_turn")
        if reason == "max_tokens":  # the last call may lack its end: then it never was a call
            calls = [call for call in calls if is_object(call.arguments)]
        out += [ToolCalled(call) for call in calls]
        if blob := self._thoughts.blob():
            out.append(StateKept(ProviderState(provider=self._name, model=self._model, blob=blob)))
        if spent := self.spent:
            out.append(UsageReported(spent))
        return [*out, Done(reason)]

    def _check_end(self) -> None:
        if not self.ended and not self.finish:
            raise cut_short(self._name)
        if self.finish in _BROKEN:
            raise Unavailable(
                f"{self._name!r} gave the answer up: {self.finish}",
                hint="the server is in trouble: try again, or choose another model",
            )
        if self.finish in _FILTERED:
            raise filtered(self._name)
        if self._refusal:
            raise refused(self._name, "".join(self._refusal), self._key)

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
        if _is_error(chunk, choices):
            raise error_from_object(self._name, chunk, self._key)
        if choices:
            choice = choices[0]
            if choice.get("index"):  # a second answer, which nobody asked for
                choice = next((one for one in choices if not one.get("index")), None)
            if choice:
                self._choice(choice, out)
        usage = chunk.get("usage")
        if usage:
            self._usage = usage
        elif "x_groq" in chunk:
            self._usage = chunk["x_groq"].get("usage") or self._usage

    def _choice(self, choice: Json, out: list[StreamEvent]) -> None:
        delta = choice.get("delta") or choice.get("message")
        if delta:
            for name, value in delta.items():
                if value and name != "content" and name != "role":
                    self._delta(delta, out)
                    break
            else:
                if content := delta.get("content"):  # the usual case: nothing else
                    out += self._think.feed(_text(content))
        finish = choice.get("finish_reason")
        if finish and isinstance(finish, str):
            if finish == "error":
                raise error_from_object(self._name, choice, self._key)
            self.finish = finish
        if "usage" in choice:  # where Moonshot has it
            self._usage = choice["usage"] or self._usage

    def _delta(self, delta: Json, out: list[StreamEvent]) -> None:
        if thought := self._thoughts.take(delta):
            out.append(ReasoningDelta(thought))
        if content := delta.get("content"):
            out += self._think.feed(_text(content))
        for fragment in delta.get("tool_calls") or ():
            self._joiner.add(fragment)
        function = delta.get("function_call")  # what there was before tools
        if function:
            self._joiner.add({"index": 0, "function": function})
        refusal = delta.get("refusal")
        if refusal and isinstance(refusal, str):
            self._refusal.append(refusal)


def _is_error(chunk: Json, choices: object) -> bool:
    """Whether a chunk is an error object in any of the shapes that come under status 200."""
    if chunk.get("error") or chunk.get("object") == "error":
        return True
    if "base_resp" in chunk and (chunk["base_resp"] or {}).get("status_code"):  # MiniMax
        return True
    return choices is None and ("message" in chunk or "detail" in chunk or "code" in chunk)


def _text(content: object) -> str:
    """Content, also where it is given as parts, as some servers do."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "".join(text for text in texts if isinstance(text, str))
