"""The OpenAI Responses API as the protocol server speaks it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from octo_lab.llm.wires.checks import Problem
from octo_lab.llm.wires.responses.validate import request_problem
from octo_lab.testing.llm_script import Call, Json, Turn, as_data
from octo_lab.testing.wires import chat
from octo_lab.testing.wires.server_wire import ServerWire

# A script's finish, as the vendor words it: how the answer ends, and why.
_ENDS = {
    "length": ("incomplete", "max_output_tokens"),
    "content_filter": ("incomplete", "content_filter"),
    "failed": ("failed", None),
}
_ENCRYPTED = "reasoning.encrypted_content"


def _pieces(turn: Turn, request: Json) -> list[bytes]:
    """The body of an answer, one piece for each event."""
    if turn.events is not None:
        return [_as_event(event) for event in turn.events]
    events = enumerate(_events(turn, request))
    return [_as_event({**event, "sequence_number": number}) for number, event in events]


def _as_event(event: Json | str) -> bytes:
    """Each event is named twice: before its data and in them."""
    if isinstance(event, str) or "type" not in event:
        return as_data(event)
    return f"event: {event['type']}\n".encode() + as_data(event)


def _events(turn: Turn, request: Json) -> Iterator[Json]:
    """``finish`` may be 'length', 'content_filter', 'failed' or 'refusal', which makes the text
    one; with '' the terminal event is left out.
    """
    begun = _response(turn, request, "in_progress", [])
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    output: list[Json] = []
    for steps in _items(turn, request):
        told = [{**step, "output_index": len(output)} for step in steps]
        yield from told
        output.append(told[-1]["item"])
    status, _ = _ENDS.get(turn.finish or "", ("completed", None))
    if turn.finish != "":
        yield {"type": f"response.{status}", "response": _response(turn, request, status, output)}


def _items(turn: Turn, request: Json) -> Iterator[Iterator[Json]]:
    if turn.reasoning:
        yield _thinking(turn, _ENCRYPTED in (request.get("include") or ()))
    if turn.text:
        yield _message(turn)
    for number, call in enumerate(turn.calls):
        yield _call(call, f"fc_octo_{number}", turn.fragment)


def _thinking(turn: Turn, encrypted: bool) -> Iterator[Json]:
    id, text = "rs_octo", "".join(turn.reasoning)
    item: Json = {"id": id, "type": "reasoning", "summary": []}
    yield _item("added", item)
    at: Json = {"item_id": id, "summary_index": 0}
    whole = {"type": "summary_text", "text": text}
    yield {**at, "type": "response.reasoning_summary_part.added", "part": {**whole, "text": ""}}
    for piece in turn.reasoning:
        yield {**at, "type": "response.reasoning_summary_text.delta", "delta": piece}
    yield {**at, "type": "response.reasoning_summary_text.done", "text": text}
    yield {**at, "type": "response.reasoning_summary_part.done", "part": whole}
    kept = {"encrypted_content": "Z3VhcmRlZA=="} if encrypted else {}
    yield _item("done", {**item, "summary": [whole], **kept})


def _message(turn: Turn) -> Iterator[Json]:
    id, text = "msg_octo", "".join(turn.text)
    item: Json = {"id": id, "type": "message", "role": "assistant", "content": []}
    yield _item("added", {**item, "status": "in_progress"})
    at: Json = {"item_id": id, "content_index": 0}
    kind, field, more = _saying(turn)
    part: Json = {"type": kind, field: "", **({} if kind == "refusal" else {"annotations": []})}
    yield {**at, "type": "response.content_part.added", "part": part}
    for piece in turn.text:
        yield {**at, "type": f"response.{kind}.delta", "delta": piece, **more}
    yield {**at, "type": f"response.{kind}.done", field: text, **more}
    part = {**part, field: text}
    yield {**at, "type": "response.content_part.done", "part": part}
    yield _item("done", {**item, "status": "completed", "content": [part]})


def _saying(turn: Turn) -> tuple[str, str, Json]:
    """How text is told: kind of the part, its field, and what else its events hold."""
    if turn.finish == "refusal":
        return "refusal", "refusal", {}
    return "output_text", "text", {"logprobs": []}


def _call(call: Call, id: str, size: int) -> Iterator[Json]:
    item: Json = {"id": id, "type": "function_call", "call_id": call.id, "name": call.name}
    yield _item("added", {**item, "status": "in_progress", "arguments": ""})
    kind = "response.function_call_arguments"
    for at in range(0, len(call.arguments), size):
        piece = call.arguments[at : at + size]
        yield {"type": f"{kind}.delta", "item_id": id, "delta": piece}
    yield {"type": f"{kind}.done", "item_id": id, "arguments": call.arguments}
    yield _item("done", {**item, "status": "completed", "arguments": call.arguments})


def _item(step: str, item: Json) -> Json:
    return {"type": f"response.output_item.{step}", "item": item}


def _response(turn: Turn, request: Json, status: str, output: list[Json]) -> Json:
    ended = status != "in_progress"
    _, reason = _ENDS.get(turn.finish or "", ("", None))
    error = {"code": turn.code or "server_error", "message": turn.message or "scripted failure"}
    return {
        "id": "resp_octo",
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": error if status == "failed" else None,
        "incomplete_details": {"reason": reason} if ended and reason else None,
        "instructions": request.get("instructions"),
        "max_output_tokens": request.get("max_output_tokens"),
        "model": request.get("model", ""),
        "output": output,
        "parallel_tool_calls": True,
        "store": request.get("store", True),
        "temperature": request.get("temperature", 1.0),
        "tool_choice": request.get("tool_choice", "auto"),
        "tools": request.get("tools", []),
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": _usage(turn) if ended else None,
        "metadata": {},
    }


def _usage(turn: Turn) -> Json | None:
    if turn.usage is None:
        return None
    taken, given, cached = turn.usage
    return {
        "input_tokens": taken,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
        "output_tokens": given,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": taken + given,
    }


def _error_body(status: int, message: str, code: str | None, param: str | None) -> bytes:
    kind = "server_error" if status >= 500 else "invalid_request_error"
    error = {"message": message, "type": kind, "param": param, "code": code}
    return json.dumps({"error": error}).encode()


def _problem(_path: str, _headers: Mapping[str, str], body: Json) -> Problem | None:
    problem = request_problem(body)
    if problem is None and body.get("stream") is not True:
        problem = Problem("This server only streams.", "stream")
    return problem


WIRE = ServerWire(
    name="responses",
    serves=lambda path: path.endswith("/responses"),
    key=chat.WIRE.key,
    problem=_problem,
    model=chat.WIRE.model,
    pieces=_pieces,
    error_body=_error_body,
)
