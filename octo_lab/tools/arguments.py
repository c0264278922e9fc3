"""A call's arguments: from the model's JSON text to what a tool takes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from octo_lab.core.errors import ToolFailed
from octo_lab.core.messages import ToolCall

_SHOWN = 2000
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NOT_IN_NAME = re.compile(r"[^A-Za-z0-9_-]")

Args = TypeVar("Args", bound=BaseModel)


def read_arguments(call: ToolCall, limit: int) -> dict[str, Any]:
    """Parse the JSON object of a call; raises ToolFailed. No text at all means no arguments."""
    text = call.arguments
    if len(text) > limit:
        raise ToolFailed(
            f"The arguments of {call.name!r} have {len(text)} characters, {limit} are allowed",
            hint="send less at once",
        )
    if not text.strip():
        return {}
    return _object(call.name, text)


def _object(name: str, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as exc:
        raise ToolFailed(
            f"The arguments of {name!r} are no valid JSON: {exc}",
            hint="call it again with one JSON object",
        ) from None
    if not isinstance(value, dict):
        raise ToolFailed(
            f"The arguments of {name!r} are {type(value).__name__}, not an object",
            hint="call it again with one JSON object",
        )
    return value


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON value")


def storable(call: ToolCall, limit: int = 1_000_000) -> ToolCall:
    """The call as any provider accepts it in a history: a plain name, a JSON object."""
    if not _NAME.fullmatch(call.name):
        call = replace(call, name=_NOT_IN_NAME.sub("_", call.name)[:64] or "unnamed")
    if not call.arguments.strip():
        return replace(call, arguments="{}")
    try:
        read_arguments(call, limit)
    except ToolFailed:
        shown = json.dumps({"invalid_arguments": call.arguments[:_SHOWN]}, ensure_ascii=False)
        return replace(call, arguments=shown)
    return call


def validate(args: type[Args], tool: str, values: Mapping[str, Any]) -> Args:
    """Check ``values`` against a pydantic model; raises ToolFailed naming each fault."""
    try:
        return args.model_validate(values)
    except ValidationError as exc:
        faults = "; ".join(_fault(error) for error in exc.errors(include_url=False)[:10])
        known = ", ".join(field.alias or name for name, field in args.model_fields.items())
        raise ToolFailed(
            f"Invalid arguments for {tool!r}: {faults}", hint=f"it takes: {known or 'none'}"
        ) from None


def _fault(error: Any) -> str:
    where = ".".join(str(part) for part in error["loc"]) or "arguments"
    if error["type"] == "missing":
        return f"{where} is missing"
    if error["type"] == "extra_forbidden":
        return f"{where} is unknown"
    got = repr(error["input"])
    return f"{where}: {error['msg']}, not {got if len(got) <= 80 else got[:79] + '…'}"
