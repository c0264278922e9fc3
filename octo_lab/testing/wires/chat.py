"""OpenAI chat-completions as the protocol server speaks it."""

from __future__ import annotations

import json
from collections.abc import Mapping

from octo_lab.llm.wires.chat.validate import request_problem
from octo_lab.llm.wires.checks import Problem
from octo_lab.testing.llm_script import Json, Turn, as_data
from octo_lab.testing.wires.server_wire import ServerWire


def _pieces(turn: Turn, request: Json) -> list[bytes]:
    """The body of an answer, one piece for each event."""
    events = _events(turn, request) if turn.events is None else turn.events
    data = [as_data(event) for event in events]
    return [*data, b"data: [DONE]\n\n"] if turn.done else data


def _error_body(_status: int, message: str, code: str | None, param: str | None) -> bytes:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return json.dumps({"error": error}).encode()


def _events(turn: Turn, request: Json) -> list[Json]:
    deltas: list[Json] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": part} for part in turn.reasoning]
    deltas += [{"content": part} for part in turn.text]
    deltas += [{"tool_calls": part} for part in _fragments(turn)]
    events = [_chunk(request, delta) for delta in deltas]
    if turn.finish != "":
        reason = turn.finish or ("tool_calls" if turn.calls else "stop")
        events.append(_chunk(request, {}, reason))
    if turn.usage and (request.get("stream_options") or {}).get("include_usage"):
        events.append(_usage(request, turn.usage))
    return events


def _fragments(turn: Turn) -> list[list[Json]]:
    """Heads of all calls first, then their arguments in turns: as parallel calls arrive."""
    heads: list[list[Json]] = [
        [
            {
                "index": n,
                "id": c.id,
                "type": "function",
                "function": {"name": c.name, "arguments": ""},
            }
        ]
        for n, c in enumerate(turn.calls)
    ]
    size = turn.fragment
    longest = max((len(c.arguments) for c in turn.calls), default=0)
    tails: list[list[Json]] = [
        [
            {"index": n, "function": {"arguments": c.arguments[at : at + size]}}
            for n, c in enumerate(turn.calls)
            if at < len(c.arguments)
        ]
        for at in range(0, longest, size)
    ]
    return heads + tails


def _chunk(request: Json, delta: Json, finish: str | None = None) -> Json:
    return {
        "id": "chatcmpl-octo",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": request.get("model", ""),
        "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}],
    }


def _usage(request: Json, usage: tuple[int, int, int]) -> Json:
    prompt, completion, cached = usage
    return {
        **_chunk(request, {}),
        "choices": [],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": cached},
        },
    }


def _key(headers: Mapping[str, str]) -> str:
    return headers.get("authorization", "").removeprefix("Bearer ")


def _problem(_path: str, _headers: Mapping[str, str], body: Json) -> Problem | None:
    problem = request_problem(body, extended=True)
    if problem is None and body.get("stream") is not True:
        problem = Problem("This server only streams.", "stream")
    return problem


def _model(_path: str, body: Json) -> str:
    return str(body.get("model", ""))


WIRE = ServerWire(
    name="chat",
    serves=lambda path: path.endswith("/chat/completions"),
    key=_key,
    problem=_problem,
    model=_model,
    pieces=_pieces,
    error_body=_error_body,
)
