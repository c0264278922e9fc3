"""Reads a stream of the OpenAI Responses API: bytes in, events out, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

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
from octo_lab.llm.tool_calls import is_object
from octo_lab.llm.wires.counts import count, part
from octo_lab.llm.wires.endings import cut_short, filtered, refused
from octo_lab.llm.wires.event_json import event_json
from octo_lab.llm.wires.responses.kept import kept_items
from octo_lab.llm.wires.responses.output import Calls, Places, Spoken

Json = Mapping[str, Any]
Out = list[StreamEvent]
Ending = Literal["completed", "incomplete", "failed"]
MAX_EVENT = 8_388_608  # the last one tells the whole answer again
_FLAGGED = ("invalid_prompt", "bio_policy", "misalignment_policy_violation")
_REQUEST_FAULTS = ("invalid_", "image_", "empty_image", "unsupported_image", "failed_to_download")


class ResponsesReader:
    """One answer. Text, thinking and arguments that came in pieces are told again whole at the
    end of their item and of the answer: what the pieces lacked is taken from there.

    ``names`` gives aliases of tools back. Thinking that the vendor encrypted is kept as private
    state, with the items around it, for it is only accepted back in its place.
    """

    def __init__(
        self,
        name: str,
        model: str,
        names: Mapping[str, str] | None = None,
        key: Secret | None = None,
    ) -> None:
        self.begun = False
        self.spent: Usage | None = None
        self._ending: Ending | None = None
        self._reason = ""  # why an answer is incomplete
        self._name = name
        self._model = model
        self._names = names or {}
        self._key = key
        self._sse = SSEDecoder(limit=MAX_EVENT)
        self._places = Places()
        self._text = Spoken()
        self._thinking = Spoken()
        self._refusing = Spoken()
        self._refusal: list[str] = []
        self._calls = Calls()
        self._items: dict[int, Json] = {}

    @property
    def whole(self) -> bool:
        return self._ending is not None

    def feed(self, part: bytes) -> Out:
        """The deltas that this piece of the body completes."""
        out: Out = []
        for event in self._sse.feed(part):
            data = event.data
            if not self.whole and data and not data.isspace() and data[:6] != "[DONE]":
                self._read(event_json(data, self._name, self._key), out)
        return out

    def read_whole(self, body: bytes) -> Out:
        """An answer that came as one JSON body."""
        out: Out = []
        response = event_json(body.decode("utf-8", "replace"), self._name, self._key)
        if response.get("object") == "response" or "output" in response:
            status = response.get("status")
            ending = status if status in ("incomplete", "failed") else "completed"
            response = {"type": f"response.{ending}", "response": response}
        self._read(response, out)
        return out

    def close(self) -> Out:
        """The end of the answer."""
        if not self._ending:
            raise cut_short(self._name)
        if self._reason == "content_filter":
            raise filtered(self._name)
        if refusal := "".join(self._refusal):
            raise refused(self._name, refusal, self._key)
        calls = self._calls.calls(self._names)
        reason: StopReason = "tool_use" if calls else "end_turn"
        if self._ending == "incomplete":  # the last call may lack its end: then it never was one
            calls, reason = [call for call in calls if is_object(call.arguments)], "max_tokens"
        out: Out = [ToolCalled(call) for call in calls]
        if self.spent:
            out.append(UsageReported(self.spent))
        blob = kept_items([item for _, item in sorted(self._items.items())])
        if blob and self._ending == "completed":
            state = ProviderState(provider=self._name, model=self._model, blob=blob)
            out.append(StateKept(state))
        return [*out, Done(reason)]

    def _read(self, event: Json, out: Out) -> None:
        kind = event.get("type")
        if not isinstance(kind, str):
            if event.get("error") or "message" in event or "detail" in event:
                raise error_from_object(self._name, event, self._key)
            return
        self.begun = self.begun or kind.startswith("response.")
        handle = _HANDLERS.get(kind)
        if handle is None:
            return
        try:
            handle(self, event, out)
        except (AttributeError, KeyError, TypeError, ValueError) as exc:
            raise Unavailable(
                f"{self._name!r} sent an event {kind!r} of a shape that is not the Responses API's",
                hint="does that server speak it? else set the model's hint responses to false",
            ) from exc

    def _text_delta(self, event: Json, out: Out) -> None:
        place = self._places.of(event.get("output_index"), event.get("item_id"))
        key = ("text", place, event.get("content_index") or 0)
        _say(self._text.more(key, (place,), event["delta"]), out)

    def _summary_delta(self, event: Json, out: Out) -> None:
        self._think("summary", event, event.get("summary_index"), out)

    def _thinking_delta(self, event: Json, out: Out) -> None:
        self._think("thinking", event, event.get("content_index"), out)

    def _think(self, kind: str, event: Json, index: int | None, out: Out) -> None:
        key = (kind, self._places.of(event.get("output_index"), event.get("item_id")), index or 0)
        _ponder(self._thinking.more(key, key, event["delta"]), out)

    def _refusal_delta(self, event: Json, _out: Out) -> None:
        place = self._places.of(event.get("output_index"), event.get("item_id"))
        key = ("refusal", place, event.get("content_index") or 0)
        self._refusal.append(self._refusing.more(key, (), event["delta"]))

    def _arguments_delta(self, event: Json, _out: Out) -> None:
        place = self._places.of(event.get("output_index"), event.get("item_id"))
        self._calls.grow(place, event["delta"])

    def _arguments_done(self, event: Json, _out: Out) -> None:
        place = self._places.of(event.get("output_index"), event.get("item_id"))
        self._calls.settle(place, event["arguments"])

    def _item_added(self, event: Json, _out: Out) -> None:
        item = event.get("item")
        if item:  # some servers announce nothing
            place = self._places.of(event.get("output_index"), item.get("id"), item.get("call_id"))
            if item.get("type") == "function_call":
                self._calls.head(place, item)

    def _item_done(self, event: Json, out: Out) -> None:
        item = event["item"]
        place = self._places.of(event.get("output_index"), item.get("id"), item.get("call_id"))
        self._item(place, item, out)

    def _item(self, place: int, item: Json, out: Out) -> None:
        """A whole item."""
        self._items[place] = item
        match item.get("type"):
            case "message":
                for index, part in enumerate(item.get("content") or ()):
                    self._part(place, index, part, out)
            case "function_call":
                self._calls.head(place, item)
                self._calls.settle(place, item.get("arguments"))
            case "reasoning":
                for kind, parts in (("summary", "summary"), ("thinking", "content")):
                    for index, part in enumerate(item.get(parts) or ()):
                        key = (kind, place, index)
                        _ponder(self._thinking.whole(key, key, part["text"]), out)
            case _:
                pass

    def _part(self, place: int, index: int, part: Json, out: Out) -> None:
        match part.get("type"):
            case "output_text":
                _say(self._text.whole(("text", place, index), (place,), part["text"]), out)
            case "refusal":
                key = ("refusal", place, index)
                self._refusal.append(self._refusing.whole(key, (), part["refusal"]))
            case _:
                pass

    def _completed(self, event: Json, out: Out) -> None:
        self._end("completed", event["response"], out)

    def _incomplete(self, event: Json, out: Out) -> None:
        response = event["response"]
        self._reason = (response.get("incomplete_details") or {}).get("reason") or ""
        self._end("incomplete", response, out)

    def _end(self, ending: Ending, response: Json, out: Out) -> None:
        output = response.get("output") or ()
        for index, item in enumerate(output):
            known = self._places.known(item.get("id"), item.get("call_id"))
            place = index if known is None else known
            self._item(self._places.of(place, item.get("id")), item, out)
        self._count(response)
        self._ending = ending

    def _count(self, response: Json) -> None:
        if usage := response.get("usage"):
            self.spent = read_usage(usage)

    def _failed(self, event: Json, _out: Out) -> None:
        response = event["response"]
        self._count(response)
        error = response.get("error") or {}
        code = str(error.get("code"))
        if code in _FLAGGED:
            raise refused(self._name, str(error.get("message") or ""), self._key)
        kind = "invalid_request_error" if code.startswith(_REQUEST_FAULTS) else None
        raise error_from_object(self._name, {"error": {"type": kind, **error}}, self._key)

    def _error(self, event: Json, _out: Out) -> None:
        raise error_from_object(self._name, event, self._key)


def read_usage(usage: object) -> Usage:
    """Tokens as the vendor counts them; what a server does not know is 0."""
    told = usage if isinstance(usage, dict) else {}
    taken, given = count(told.get("input_tokens")), count(told.get("output_tokens"))
    asked, answered = part(told, "input_tokens_details"), part(told, "output_tokens_details")
    cached = min(count(asked.get("cached_tokens")), taken)
    return Usage(
        input_tokens=taken,
        output_tokens=given,
        cached_tokens=cached,
        written_tokens=min(count(asked.get("cache_write_tokens")), taken - cached),
        reasoning_tokens=min(count(answered.get("reasoning_tokens")), given),
        requests=1,
    )


def _say(text: str, out: Out) -> None:
    if text:
        out.append(TextDelta(text))


def _ponder(text: str, out: Out) -> None:
    if text:
        out.append(ReasoningDelta(text))


_HANDLERS: Mapping[str, Callable[[ResponsesReader, Json, Out], None]] = {
    "response.output_text.delta": ResponsesReader._text_delta,
    "response.reasoning_summary_text.delta": ResponsesReader._summary_delta,
    "response.reasoning_text.delta": ResponsesReader._thinking_delta,
    "response.refusal.delta": ResponsesReader._refusal_delta,
    "response.function_call_arguments.delta": ResponsesReader._arguments_delta,
    "response.function_call_arguments.done": ResponsesReader._arguments_done,
    "response.output_item.added": ResponsesReader._item_added,
    "response.output_item.done": ResponsesReader._item_done,
    "response.completed": ResponsesReader._completed,
    "response.incomplete": ResponsesReader._incomplete,
    "response.failed": ResponsesReader._failed,
    "error": ResponsesReader._error,
}
