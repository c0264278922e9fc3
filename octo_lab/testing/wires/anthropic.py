"""Anthropic messages as the protocol server speaks them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from octo_lab.llm.wires.anthropic.validate import header_problem, request_problem
from octo_lab.llm.wires.checks import Problem
from octo_lab.testing.llm_script import Call, Json, Turn
from octo_lab.testing.wires.server_wire import ServerWire

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def _pieces(turn: Turn, request: Json) -> list[bytes]:
    """The body of an answer, one piece for each event."""
    events = _events(turn, request) if turn.events is None else turn.events
    return [named(event) for event in events]


def named(event: Json | str) -> bytes:
    """One server-sent event under the name of its type; a line of data has none."""
    if isinstance(event, str):
        return f"data: {event}\n\n".encode()
    text = json.dumps(event, separators=(",", ":"))
    return f"event: {event.get('type')}\ndata: {text}\n\n".encode()


def _error_body(status: int, message: str, code: str | None, param: str | None) -> bytes:
    kind = _TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")
    kind = code if code and code in _TYPES.values() else kind
    error = {"type": kind, "message": f"{param}: {message}" if param else message}
    return json.dumps({"type": "error", "error": error, "request_id": "req_octo"}).encode()


def _events(turn: Turn, request: Json) -> Iterator[Json]:
    taken, given, cached = turn.usage or (0, 0, 0)
    usage = {
        "input_tokens": taken - cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": cached,
        "output_tokens": 1,
    }
    yield {"type": "message_start", "message": _message(request, usage if turn.usage else {})}
    for index, (start, deltas) in enumerate(_blocks(turn)):
        yield {"type": "content_block_start", "index": index, "content_block": start}
        if not index:
            yield {"type": "ping"}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    if turn.finish != "":
        reason = turn.finish or ("tool_use" if turn.calls else "end_turn")
        told = {"usage": {"output_tokens": given}} if turn.usage else {}
        delta = {"stop_reason": reason, "stop_sequence": None}
        yield {"type": "message_delta", "delta": delta, **told}
    if turn.done:
        yield {"type": "message_stop"}


def _message(request: Json, usage: Json) -> Json:
    return {
        "id": "msg_octo",
        "type": "message",
        "role": "assistant",
        "model": request.get("model", ""),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }


def _blocks(turn: Turn) -> Iterator[tuple[Json, list[Json]]]:
    """What each content block begins as, and the deltas that complete it."""
    if turn.reasoning or turn.signature:
        deltas: list[Json] = [{"type": "thinking_delta", "thinking": x} for x in turn.reasoning]
        signed: Json = {"type": "signature_delta", "signature": turn.signature or "c2lnbmVk"}
        yield {"type": "thinking", "thinking": "", "signature": ""}, [*deltas, signed]
    if turn.text:
        yield {"type": "text", "text": ""}, [{"type": "text_delta", "text": x} for x in turn.text]
    for call in turn.calls:
        start: Json = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        yield start, list(_fragments(call, turn.fragment))


def _fragments(call: Call, size: int) -> Iterator[Json]:
    yield {"type": "input_json_delta", "partial_json": ""}
    for at in range(0, len(call.arguments), size):
        yield {"type": "input_json_delta", "partial_json": call.arguments[at : at + size]}


def _key(headers: Mapping[str, str]) -> str:
    """The vendor's own client says it as others do, beside the version of the dialect."""
    key = headers.get("x-api-key", "")
    if not key and "anthropic-version" in headers:
        key = headers.get("authorization", "").removeprefix("Bearer ")
    return key


def _problem(_path: str, headers: Mapping[str, str], body: Json) -> Problem | None:
    betas = [beta.strip() for beta in headers.get("anthropic-beta", "").split(",")]
    problem = header_problem(headers)
    if problem is None:
        problem = request_problem(body, headers["anthropic-version"], betas)
    if problem is None and body.get("stream") is not True:
        problem = Problem("This server only streams.", "stream")
    return problem


def _listing(models: Sequence[str]) -> Json:
    data = [
        {"type": "model", "id": name, "display_name": name, "created_at": "2025-01-01T00:00:00Z"}
        for name in models
    ]
    first, last = (models[0], models[-1]) if models else (None, None)
    return {"data": data, "has_more": False, "first_id": first, "last_id": last}


def _model(_path: str, body: Json) -> str:
    return str(body.get("model", ""))


WIRE = ServerWire(
    name="anthropic",
    serves=lambda path: path.endswith("/v1/messages"),
    key=_key,
    problem=_problem,
    model=_model,
    pieces=_pieces,
    error_body=_error_body,
    listing=_listing,
)
