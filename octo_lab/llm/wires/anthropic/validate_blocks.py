"""Which content blocks the vendor accepts, and from whom."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from typing import Any

from octo_lab.llm.wires.checks import Refused, a_text, an_array, an_object, require

Json = Mapping[str, Any]
_ID = re.compile(r"[a-zA-Z0-9_-]+", re.ASCII)
_MEDIA = ("image/jpeg", "image/png", "image/gif", "image/webp")
_ALLOWED = {
    "system": ("text",),
    "user": ("text", "image", "tool_result"),
    "assistant": ("text", "thinking", "redacted_thinking", "tool_use"),
    "tool_result": ("text", "image"),
}
_FIELDS = {
    "text": frozenset({"type", "text", "cache_control", "citations"}),
    "image": frozenset({"type", "source", "cache_control"}),
    "tool_use": frozenset({"type", "id", "name", "input", "cache_control"}),
    "tool_result": frozenset({"type", "tool_use_id", "content", "is_error", "cache_control"}),
    "thinking": frozenset({"type", "thinking", "signature"}),
    "redacted_thinking": frozenset({"type", "data"}),
}


def extra(value: Json, names: frozenset[str], where: str) -> None:
    """Refuse a field that the schema has not."""
    for name in value:
        place = f"{where}.{name}" if where else str(name)
        require(name in names, "Extra inputs are not permitted", place)


def content_blocks(content: object, role: str, where: str, *, signed: bool) -> Sequence[Json]:
    """The blocks of a content, a text as one; ``signed``: thinking needs its signature."""
    if isinstance(content, str):
        require(bool(content.strip()), "text content blocks must be non-empty", where)
        return [{"type": "text", "text": content}]
    blocks = an_array(content, where)
    require(bool(blocks), "all messages must have non-empty content", where)
    for index, block in enumerate(blocks):
        _block(an_object(block, f"{where}.{index}"), role, f"{where}.{index}", signed=signed)
    return blocks


def _block(block: Json, role: str, where: str, *, signed: bool) -> None:
    kind = block.get("type")
    if not isinstance(kind, str) or kind not in _ALLOWED[role]:
        raise Refused(f"Input tag {kind!r} found does not match any of the expected tags", where)
    extra(block, _FIELDS[kind], where)
    mark(block, where)
    match kind:
        case "text":
            text = block.get("text")
            fits = isinstance(text, str) and bool(text.strip())
            require(fits, "text content blocks must contain non-whitespace text", where)
        case "image":
            _image(an_object(block.get("source"), f"{where}.source"), f"{where}.source")
        case "tool_use":
            an_id(block.get("id"), f"{where}.id")
            tool_name(block.get("name"), f"{where}.name")
            an_object(block.get("input"), f"{where}.input")
        case "tool_result":
            _result(block, where)
        case "thinking":
            require(isinstance(block.get("thinking"), str), "Field required", f"{where}.thinking")
            given = bool(block.get("signature")) or (not signed and "signature" not in block)
            require(given, "Invalid `signature` in `thinking` block", where)
        case _:
            a_text(block.get("data"), f"{where}.data")


def _image(source: Json, where: str) -> None:
    if source.get("type") == "url":
        extra(source, frozenset({"type", "url"}), where)
        a_text(source.get("url"), f"{where}.url")
        return
    extra(source, frozenset({"type", "media_type", "data"}), where)
    require(source.get("type") == "base64", "Input should be 'base64' or 'url'", f"{where}.type")
    require(
        source.get("media_type") in _MEDIA,
        f"Input should be one of {', '.join(_MEDIA)}",
        f"{where}.media_type",
    )
    try:
        fits = bool(base64.b64decode(a_text(source.get("data"), f"{where}.data"), validate=True))
    except binascii.Error:
        fits = False
    require(fits, "invalid base64 data", f"{where}.data")


def _result(block: Json, where: str) -> None:
    an_id(block.get("tool_use_id"), f"{where}.tool_use_id")
    failed = block.get("is_error", False)
    require(type(failed) is bool, "Input should be a valid boolean", f"{where}.is_error")
    content = block.get("content")
    if content is None or content in ("", []):
        require(not failed, "content cannot be empty if `is_error` is true", where)
        return
    content_blocks(content, "tool_result", f"{where}.content", signed=True)


def an_id(value: object, where: str) -> None:
    fits = isinstance(value, str) and bool(_ID.fullmatch(value))
    require(fits, "String should match pattern '^[a-zA-Z0-9_-]+$'", where)


def tool_name(value: object, where: str) -> None:
    fits = isinstance(value, str) and bool(_ID.fullmatch(value)) and len(value) <= 64
    require(fits, "String should match pattern '^[a-zA-Z0-9_-]{1,64}$'", where)


def mark(block: Json, where: str) -> None:
    """A breakpoint of the prompt cache."""
    value = block.get("cache_control")
    if value is None:
        return
    place = f"{where}.cache_control"
    chosen = an_object(value, place)
    extra(chosen, frozenset({"type", "ttl"}), place)
    require(chosen.get("type") == "ephemeral", "Input should be 'ephemeral'", place)
    require(chosen.get("ttl", "5m") in ("5m", "1h"), "Input should be '5m' or '1h'", place)
