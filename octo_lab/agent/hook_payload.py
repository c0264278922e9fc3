"""What a hook is told: short fields, without secrets and without the contents of files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from octo_lab.agent.ports import ModelAnswered, ModelAsked
from octo_lab.core.messages import Message, ToolCall
from octo_lab.core.text import truncate_utf8
from octo_lab.security.redact import redact

HookPayload = Mapping[str, Any]

FIELD_BYTES = 1024
HIDDEN = "[redacted]"
_WHOLE = 16_384
_CONTENTS = {"write_file": frozenset({"content"})}
_HIDDEN_RESULTS = frozenset({"shell", "read_file", "write_file"})


def before_tool(call: ToolCall) -> HookPayload:
    return {
        "tool_name": _short(call.name),
        "arguments": _arguments(call),
        "tool_id": _short(call.id),
    }


def after_tool(call: ToolCall, result: Message) -> HookPayload:
    hidden = call.name in _HIDDEN_RESULTS
    return {
        **before_tool(call),
        "result": HIDDEN if hidden else _short(result.content),
        "success": result.outcome == "ok",
        "duration_ms": round((result.seconds or 0.0) * 1000),
    }


def before_model(asked: ModelAsked) -> HookPayload:
    return {
        "model": _short(asked.model),
        "message_count": asked.messages,
        "iteration": asked.iteration,
    }


def after_model(answered: ModelAnswered, spent: float) -> HookPayload:
    """``spent`` is what the session had cost before this turn; unknown prices count nothing."""
    return {
        "model": _short(answered.model),
        "iteration": answered.iteration,
        "stop_reason": answered.reason,
        "has_tool_calls": answered.calls > 0,
        "input_tokens": answered.usage.input_tokens,
        "output_tokens": answered.usage.output_tokens,
        "provider_name": _short(answered.provider),
        "latency_ms": round(answered.seconds * 1000),
        "cumulative_input_tokens": answered.total.input_tokens,
        "cumulative_output_tokens": answered.total.output_tokens,
        "session_cost": spent + answered.total.cost,
    }


def _arguments(call: ToolCall) -> Any:
    """The arguments as the object they are; as the text they are when that is none."""
    try:
        value = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        return _short(call.arguments)
    if not isinstance(value, dict):
        return _short(call.arguments)
    hidden = _CONTENTS.get(call.name, frozenset())
    shown = {_short(k): HIDDEN if k in hidden else _cut(v) for k, v in value.items()}
    whole = json.dumps(shown, ensure_ascii=False)
    return shown if len(whole) <= _WHOLE else _short(whole)


def _cut(value: Any) -> Any:
    match value:
        case str():
            return _short(value)
        case dict():
            return {_short(key): _cut(inner) for key, inner in value.items()}
        case list():
            return [_cut(inner) for inner in value]
    return value


def _short(text: str) -> str:
    return truncate_utf8(redact(text), FIELD_BYTES)
