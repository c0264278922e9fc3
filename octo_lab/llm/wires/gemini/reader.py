"""Reads a Gemini stream: bytes in, events out, no I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from octo_lab.core.errors import BadRequest, Unavailable
from octo_lab.core.messages import ChatRequest, ProviderState, Usage
from octo_lab.core.stream import (
    Done,
    ReasoningDelta,
    Remarked,
    StateKept,
    StopReason,
    StreamEvent,
    TextDelta,
    ToolCalled,
    UsageReported,
)
from octo_lab.llm.errors import error_from_object, shown
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.sse import MAX_EVENT, SSEDecoder
from octo_lab.llm.tool_names import own_names
from octo_lab.llm.wires.counts import count
from octo_lab.llm.wires.endings import cut_short, filtered, refused
from octo_lab.llm.wires.event_json import event_json
from octo_lab.llm.wires.gemini.calls import Calls, taken_ids
from octo_lab.llm.wires.gemini.state import Signatures

Json = Mapping[str, Any]
_REASONS: dict[str, StopReason] = {"MAX_TOKENS": "max_tokens", "CONTINUATION": "max_tokens"}
# fmt: off
_FILTERED = frozenset((
    "SAFETY", "RECITATION", "LANGUAGE", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
    "ESCALATION", "PUP_LIMITED_DISABLED", "MODEL_ARMOR", "NO_IMAGE",
))
_FAILED = frozenset((
    "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE",
))
# fmt: on
_OPENINGS = (b"{", b"[")
_BARE = re.compile(rb"\n[{\[]")
_UNSIGNED = "MISSING_THOUGHT_SIGNATURE"
_UNSAID = (
    "",
    "FINISH_REASON_UNSPECIFIED",
    "BLOCK_REASON_UNSPECIFIED",
    "BLOCKED_REASON_UNSPECIFIED",
)


class GeminiReader:
    """One answer. ``feed`` gives deltas as they come, ``close`` calls, usage, state and ``Done``.

    Raises the typed error that an error object means and Unavailable for what is no such stream.
    ``close`` raises ContentFiltered for a refusal, Unavailable for an answer that the model
    spoiled or left empty, BadRequest when it misses its signatures, and StreamCut when no reason
    to finish has come: the dialect has no other mark of its end.
    """

    def __init__(self, request: ChatRequest, config: ProviderConfig) -> None:
        self.begun = False  # at least one chunk has come
        self.finish = ""  # the vendor's finishReason
        self._request = request
        self._config = config
        self._name = config.name
        self._sse = SSEDecoder()
        self._bare = bytearray()  # JSON that is no event
        self._line_begins = True
        self._calls: Calls | None = None
        self._signatures = Signatures()
        self._usage: Json | None = None
        self._blocked = ""
        self._said = ""  # the vendor's words about its finish
        self._spoke = False  # there was text or a thought

    @property
    def whole(self) -> bool:
        """The answer is complete; usage may still come."""
        return bool(self.finish or self._blocked)

    @property
    def spent(self) -> Usage | None:
        return read_usage(self._usage) if self._usage else None

    def feed(self, part: bytes) -> list[StreamEvent]:
        """The deltas that this piece of the body completes."""
        out: list[StreamEvent] = []
        for event in self._sse.feed(self._without_bare(part)):
            data = event.data
            if data and not data.isspace() and data[:6] != "[DONE]":  # as some gateways add
                self._read(event_json(data, self._name, self._config.api_key), out)
        return out

    def _without_bare(self, part: bytes) -> bytes:
        """What is of the event stream: the vendor puts an error behind it as bare JSON."""
        if self._bare or (self._line_begins and part[:1] in _OPENINGS):
            at = 0
        else:
            found = _BARE.search(part)
            self._line_begins = part[-1:] == b"\n" if part else self._line_begins
            if found is None:
                return part
            at = found.end() - 1
        self.begun = True
        self._bare += part[at:]
        if len(self._bare) > MAX_EVENT:
            raise Unavailable(f"{self._name!r} sent too much that is no event", hint="try again")
        return part[:at]

    def read_whole(self, body: bytes) -> list[StreamEvent]:
        """An answer that came as JSON: one object, or an array of what else are events."""
        out: list[StreamEvent] = []
        text = body.decode("utf-8", "replace").strip()
        several = text[:1] == "["
        text = f'{{"chunks":{text}}}' if several else text
        whole = event_json(text, self._name, self._config.api_key)
        for chunk in whole["chunks"] if several else [whole]:
            self._read(chunk, out)
        return out

    def close(self) -> list[StreamEvent]:
        """The end of the answer."""
        late = self.read_whole(bytes(self._bare)) if self._bare else []
        self._check()
        calls = self._calls.made(own_names(self._request)) if self._calls else []
        if not calls and not self._spoke and self.finish not in _REASONS:
            raise Unavailable(f"{self._name!r} answered nothing", hint="ask again")
        out = [*late, *(ToolCalled(call) for call in calls)]
        if spent := self.spent:
            out.append(UsageReported(spent))
        if blob := self._signatures.blob():
            config = self._config
            state = ProviderState(provider=config.name, model=config.model, blob=blob)
            out.append(StateKept(state))
        reason = _REASONS.get(self.finish, "tool_use" if calls else "end_turn")
        return [*out, Done(reason)]

    def _check(self) -> None:
        """Raises what the finish means when it is no answer."""
        finish = self.finish
        if self._blocked:
            raise refused(self._name, self._why(self._blocked), self._config.api_key)
        if not finish:
            raise cut_short(self._name)
        if finish in _FILTERED or finish.startswith("IMAGE_"):
            raise filtered(self._name, self._why(finish))
        if finish == _UNSIGNED:
            raise BadRequest(
                f"{self._name!r} misses the signatures of its earlier thoughts",
                hint="start afresh with /new, or ask again",
                complaint="a thought_signature is missing",
            )
        if finish in _FAILED:
            raise Unavailable(
                f"{self._name!r} spoiled its answer: {self._why(finish)}", hint="ask again"
            )

    def _why(self, word: str) -> str:
        said = f": {self._said}" if self._said else ""
        return shown(f"{word}{said}", self._config.api_key)

    def _read(self, chunk: Json, out: list[StreamEvent]) -> None:
        self.begun = True
        try:
            self._take(chunk, out)
        except (AttributeError, KeyError, TypeError, ValueError) as exc:
            raise Unavailable(
                f"{self._name!r} sent a chunk of a shape that is not Gemini's",
                hint="is the base URL that of a Gemini server? it usually ends in /v1beta",
            ) from exc

    def _take(self, chunk: Json, out: list[StreamEvent]) -> None:
        candidates = chunk.get("candidates")
        if candidates:
            self._candidate(candidates[0], out)
        elif chunk.get("error"):
            raise error_from_object(self._name, chunk, self._config.api_key)
        elif feedback := chunk.get("promptFeedback"):
            reason = feedback.get("blockReason")
            if reason and reason not in _UNSAID:
                self._blocked = str(reason)
                self._said = str(feedback.get("blockReasonMessage") or "")
        usage = chunk.get("usageMetadata")
        if isinstance(usage, dict):
            self._usage = usage  # cumulative: the last one holds

    def _candidate(self, candidate: Json, out: list[StreamEvent]) -> None:
        content = candidate.get("content")
        if content:
            for part in content.get("parts") or ():
                self._part(part, out)
        finish = candidate.get("finishReason")
        if finish and finish not in _UNSAID:
            self.finish = str(finish)
            self._said = str(candidate.get("finishMessage") or "")

    def _part(self, part: Json, out: list[StreamEvent]) -> None:
        signature = part.get("thoughtSignature")
        signature = signature if isinstance(signature, str) else ""
        text = part.get("text")
        if text is not None:
            self._text(str(text), part.get("thought") is True, signature, out)
        elif "functionCall" in part:
            self._call(part["functionCall"], signature)
        else:
            self._other(part, signature, out)

    def _text(self, text: str, thought: bool, signature: str, out: list[StreamEvent]) -> None:
        if thought:
            self._signatures.thought(text, signature)
        else:
            self._signatures.text(len(text), signature)
        if text:
            self._spoke = True
            out.append(ReasoningDelta(text) if thought else TextDelta(text))

    def _call(self, call: Json, signature: str) -> None:
        if self._calls is None:
            self._calls = Calls(*taken_ids(self._request.messages))
        id = self._calls.add(call)
        if id is not None:
            self._signatures.call(id, signature)
        elif signature:
            self._signatures.text(0, signature)

    def _other(self, part: Json, signature: str, out: list[StreamEvent]) -> None:
        """Code that the vendor ran is told as text; what cannot be is told of."""
        if code := part.get("executableCode"):
            language = str(code.get("language", "")).lower()
            self._text(f"\n```{language}\n{code.get('code', '')}\n```\n", False, signature, out)
        elif result := part.get("codeExecutionResult"):
            self._text(f"\n```\n{result.get('output', '')}\n```\n", False, signature, out)
        elif data := part.get("inlineData"):
            kind = shown(str(data.get("mimeType", "data")))
            out.append(Remarked(f"{self._name!r} also sent {kind!r}, which is not shown"))
            self._spoke = True
        elif signature:
            self._signatures.text(0, signature)


def read_usage(usage: Json) -> Usage:
    """Tokens as the vendor counts them: thoughts beside the answer, what its own tools said
    beside the prompt.
    """
    thoughts = count(usage.get("thoughtsTokenCount"))
    taken = count(usage.get("promptTokenCount")) + count(usage.get("toolUsePromptTokenCount"))
    return Usage(
        input_tokens=taken,
        output_tokens=count(usage.get("candidatesTokenCount")) + thoughts,
        cached_tokens=min(count(usage.get("cachedContentTokenCount")), taken),
        reasoning_tokens=thoughts,
        requests=1,
    )
