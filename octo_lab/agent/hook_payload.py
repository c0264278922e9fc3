"""What a hook is told: without secrets and without the contents of files; arguments whole.

Of arguments, which a hook may judge, nothing is hidden that could do something in a command.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from octo_lab.agent.ports import ModelAnswered, ModelAsked
from octo_lab.core.messages import Message, ToolCall
from octo_lab.core.text import truncate_utf8
from octo_lab.security.outgoing import Mask
from octo_lab.security.redact import Redactor

HookPayload = Mapping[str, Any]

FIELD_BYTES = 1024
HIDDEN = "[redacted]"
ARGUMENTS_BYTES = 262_144
_CUTS = (ARGUMENTS_BYTES // 4, 8192, FIELD_BYTES)  # what a text in arguments is cut to, one by one
_CONTENTS = {"write_file": frozenset({"content"})}
_HIDDEN_RESULTS = frozenset({"shell", "read_file", "write_file"})


def before_tool(call: ToolCall, mask: Redactor) -> HookPayload:
    arguments, cut = _arguments(call, mask.to_judge)
    return {
        "tool_name": _short(mask(call.name)),
        "arguments": arguments,
        "arguments_cut": cut,
        "tool_id": _short(mask(call.id)),
    }


def rewritten(call: ToolCall, answer: Mapping[str, Any], mask: Redactor) -> ToolCall:
    """The call with the arguments that a hook answered.

    One that comes back as it was told keeps its true value, which may have been hidden or cut.
    """
    told, _ = _arguments(call, mask.to_judge)
    if isinstance(told, dict):
        true = json.loads(call.arguments or "{}")
        kept = {key: true[key] for key in told.keys() & true.keys() & answer.keys()}
        same = {key: value for key, value in kept.items() if told[key] == answer[key]}
        answer = {**answer, **same}
    return replace(call, arguments=json.dumps(answer, ensure_ascii=False))


def after_tool(call: ToolCall, result: Message, mask: Redactor) -> HookPayload:
    hidden = call.name in _HIDDEN_RESULTS
    return {
        **before_tool(call, mask),
        "result": HIDDEN if hidden else _short(mask(result.content)),
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


def _arguments(call: ToolCall, hide: Mask) -> tuple[Any, bool]:
    """The arguments as the object they are, else as the text they are; and whether they were cut.

    At most 256 KB of JSON are told: what is more is cut in its texts.
    """
    try:
        value = json.loads(call.arguments or "{}")
        known = isinstance(value, dict)
        return _object(call.name, value, hide) if known else _text(call.arguments, hide)
    except (ValueError, RecursionError):  # no JSON, or nested too deep to look into
        return _text(call.arguments, hide)


def _object(tool: str, value: Mapping[str, Any], hide: Mask) -> tuple[Any, bool]:
    hidden = _CONTENTS.get(tool, frozenset())
    shown = {hide(k): HIDDEN if k in hidden else _masked(v, hide) for k, v in value.items()}
    if _size(shown) <= ARGUMENTS_BYTES:
        return shown, False
    for limit in _CUTS:
        shorter = _cut(shown, limit)
        if _size(shorter) <= ARGUMENTS_BYTES:
            return shorter, True
    return _text(json.dumps(shown, ensure_ascii=False), hide)


def _text(text: str, hide: Mask) -> tuple[str, bool]:
    masked = hide(text)
    shown = truncate_utf8(masked, ARGUMENTS_BYTES)
    return shown, shown != masked


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode(errors="replace"))


def _masked(value: Any, hide: Mask) -> Any:
    match value:
        case str():
            return hide(value)
        case dict():
            return {hide(key): _masked(inner, hide) for key, inner in value.items()}
        case list():
            return [_masked(inner, hide) for inner in value]
    return value


def _cut(value: Any, limit: int) -> Any:
    match value:
        case str():
            return truncate_utf8(value, limit)
        case dict():
            return {truncate_utf8(key, limit): _cut(inner, limit) for key, inner in value.items()}
        case list():
            return [_cut(inner, limit) for inner in value]
    return value


def _short(text: str) -> str:
    return truncate_utf8(text, FIELD_BYTES)
