"""Gemini's native dialect as the protocol server speaks it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from octo_lab.llm.wires.checks import Problem
from octo_lab.llm.wires.gemini.validate import request_problem
from octo_lab.testing.llm_script import Json, Turn, as_data
from octo_lab.testing.wires.server_wire import ServerWire

_CAMEL = re.compile(r"_([a-z])")
METHOD = ":streamGenerateContent"
# A script's finish as the vendor words it; any other is sent as it is.
_FINISHES = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}
_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def _pieces(turn: Turn, request: Json) -> list[bytes]:
    """The body of an answer, one piece for each event; nothing marks its end."""
    events = _events(turn, request) if turn.events is None else turn.events
    return [as_data(event) for event in events]


def _events(turn: Turn, request: Json) -> Iterator[Json]:
    """One chunk for each piece of text, all calls in one; the last says why it is the last."""
    parts: list[list[Json]] = [
        [{"text": piece, "thought": True}] for piece in _thoughts(turn, request)
    ]
    parts += [[{"text": piece}] for piece in turn.text]
    if turn.calls:
        parts.append([_call(call.id, call.name, call.arguments) for call in turn.calls])
    if turn.finish == "":
        yield from (_chunk(some, None, turn) for some in parts)
        return
    finish = turn.finish or "STOP"
    parts = parts or [[{"text": ""}]]
    for index, some in enumerate(parts):
        last = index == len(parts) - 1
        yield _chunk(some, _FINISHES.get(finish, finish) if last else None, turn)


def _thoughts(turn: Turn, request: Json) -> Sequence[str]:
    """Thoughts are told only to who asked for them."""
    chosen = _in_camel_case(request).get("generationConfig", {}).get("thinkingConfig", {})
    return turn.reasoning if chosen.get("includeThoughts") else ()


def _call(id: str, name: str, arguments: str) -> Json:
    return {"functionCall": {"id": id, "name": name, "args": json.loads(arguments)}}


def _chunk(parts: Sequence[Json], finish: str | None, turn: Turn) -> Json:
    candidate: Json = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    chunk: Json = {"candidates": [candidate]}
    if finish:
        candidate["finishReason"] = finish
    if turn.usage:
        chunk["usageMetadata"] = _usage(turn.usage, whole=bool(finish))
    return {**chunk, "modelVersion": "scripted", "responseId": "octo"}


def _usage(usage: tuple[int, int, int], *, whole: bool) -> Json:
    """Every chunk counts; only in the last one is the answer counted to its end."""
    prompt, given, cached = usage
    given = given if whole else 1
    counted = {"promptTokenCount": prompt, "candidatesTokenCount": given}
    cached_count = {"cachedContentTokenCount": cached} if cached else {}
    return {**counted, **cached_count, "totalTokenCount": prompt + given}


def _error_body(status: int, message: str, code: str | None, param: str | None) -> bytes:
    word = _STATUSES.get(status) or HTTPStatus(status).phrase.upper().replace(" ", "_")
    kind = "type.googleapis.com/google.rpc"
    details: list[Json] = []
    if code:
        details.append({"@type": f"{kind}.ErrorInfo", "reason": code.upper(), "domain": "octo"})
    if param:
        violation = {"field": param, "description": message}
        details.append({"@type": f"{kind}.BadRequest", "fieldViolations": [violation]})
    error: Json = {"code": status, "message": message, "status": word}
    return json.dumps({"error": {**error, "details": details} if details else error}).encode()


def _key(headers: Mapping[str, str]) -> str:
    return headers.get("x-goog-api-key", "")


def _problem(path: str, _headers: Mapping[str, str], body: Json) -> Problem | None:
    query = parse_qs(urlsplit(path).query)
    if "key" in query:
        return Problem("This server takes a key only in its header.", "key")
    if query.get("alt") != ["sse"]:
        return Problem("This server only streams server-sent events.", "alt")
    return request_problem(_in_camel_case(body))


def _in_camel_case(value: Any) -> Any:
    """As the vendor reads a request: its own names may be in snake case, as its client has them."""
    if isinstance(value, list):
        return [_in_camel_case(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {_CAMEL.sub(_upper, name): _inner(name, item) for name, item in value.items()}


def _inner(name: str, value: Any) -> Any:
    if name in ("args", "response"):
        return value
    if name == "properties" and isinstance(value, dict):
        return {own: _in_camel_case(schema) for own, schema in value.items()}
    return _in_camel_case(value)


def _upper(found: re.Match[str]) -> str:
    return found[1].upper()


def _model(path: str, _body: Json) -> str:
    return unquote(urlsplit(path).path.rpartition("/")[2].removesuffix(METHOD))


def _listing(models: Sequence[str]) -> Json:
    methods = ["generateContent", "countTokens"]
    return {
        "models": [
            {"name": f"models/{name}", "supportedGenerationMethods": methods} for name in models
        ]
    }


WIRE = ServerWire(
    name="gemini",
    serves=lambda path: path.endswith(METHOD) and "/models/" in path,
    key=_key,
    problem=_problem,
    model=_model,
    pieces=_pieces,
    error_body=_error_body,
    listing=_listing,
)
