"""JSON Schemas as llama.cpp turns them into a grammar: what it would refuse is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from octo_lab.core.messages import ToolSpec

Json = dict[str, Any]
DEEPEST = 12
_TYPES = frozenset({"string", "integer", "number", "boolean", "null", "object", "array"})
_FORMATS = frozenset({"date", "time", "date-time", "uuid"})


def answer_schema(tools: Sequence[ToolSpec], answer: Mapping[str, Any] | None) -> Json:
    """Either ``{"answer": …}``, unless ``answer`` is None, or one call of one of the tools."""
    spoken = [] if answer is None else [_closed({"answer": dict(answer)})]
    called = [
        _closed({"tool": {"const": tool.name}, "arguments": plain(tool.schema, tool.schema)})
        for tool in tools
    ]
    return {"anyOf": [*spoken, *called]}


def plain(part: object, root: Mapping[str, Any], depth: int = 0) -> Json:
    """A schema without references, patterns and bounds; what is nested too deep may be anything."""
    if not isinstance(part, Mapping) or depth > DEEPEST:
        return {}
    if isinstance(part.get("$ref"), str):
        return plain(_referred(part["$ref"], root), root, depth + 1)
    if "const" in part:
        return {"const": part["const"]}
    if isinstance(part.get("enum"), list) and part["enum"]:
        return {"enum": part["enum"]}
    options = part.get("anyOf") or part.get("oneOf")
    if isinstance(options, list) and options:
        return {"anyOf": [plain(one, root, depth + 1) for one in options]}
    kind = part.get("type")
    if isinstance(kind, list):
        return {"anyOf": [plain({**part, "type": one}, root, depth + 1) for one in kind]}
    if kind == "object" or isinstance(part.get("properties"), Mapping):
        return _object(part, root, depth)
    if kind == "array":
        return {"type": "array", "items": plain(part.get("items"), root, depth + 1)}
    if kind not in _TYPES:
        return {}
    formed = part.get("format") in _FORMATS
    return {"type": kind, "format": part["format"]} if formed else {"type": kind}


def _object(part: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Json:
    fields = part.get("properties")
    if not isinstance(fields, Mapping) or not fields:
        more = part.get("additionalProperties", True)
        if more is False:
            return {"type": "object", "properties": {}, "additionalProperties": False}
        values = plain(more, root, depth + 1) if isinstance(more, Mapping) else {}
        return {"type": "object", **({"additionalProperties": values} if values else {})}
    required = part.get("required")
    named = [name for name in required if name in fields] if isinstance(required, list) else []
    return {
        "type": "object",
        "properties": {str(name): plain(one, root, depth + 1) for name, one in fields.items()},
        "required": named,
        "additionalProperties": False,
    }


def _referred(reference: str, root: Mapping[str, Any]) -> object:
    """What ``#/$defs/Name`` means; only references into the schema itself are known."""
    found: object = root
    for step in reference.removeprefix("#").strip("/").split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _closed(properties: Json) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
