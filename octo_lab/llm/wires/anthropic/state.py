"""Thinking that must come back as it was: kept with where it stood between text and calls."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from octo_lab.core.messages import Message

Json = dict[str, Any]
THINKING = frozenset({"thinking", "redacted_thinking"})


def pack(order: Sequence[Json | int | None]) -> str:
    """A blob of an answer in its order: thinking blocks as they came, the length of each text in
    characters, None for each call.
    """
    return json.dumps(order, ensure_ascii=False, separators=(",", ":"))


def weave(message: Message, blob: str, calls: Sequence[Json], *, signed: bool) -> list[Json] | None:
    """The content of an assistant message with its thinking in place, untouched.

    None when the blob is not of this text and these calls, or would be refused: then thinking is
    left out as a whole. ``signed``: a thinking block needs its signature.
    """
    try:
        order = json.loads(blob)
    except (ValueError, RecursionError):
        return None
    if not isinstance(order, list):
        return None
    content: list[Json] = []
    at, rest = 0, list(calls)
    for item in order:
        match item:
            case int() if item > 0:
                content += text_blocks(message.content[at : at + item])
                at += item
            case None if rest:
                content.append(rest.pop(0))
            case dict() if _may_return(item, signed):
                content.append(item)
            case _:
                return None
    whole = at == len(message.content) and not rest
    ends = bool(content) and content[-1]["type"] not in THINKING
    return content if whole and ends else None


def text_blocks(text: str) -> list[Json]:
    """One block, or none: the vendor refuses blank ones."""
    return [{"type": "text", "text": text}] if text.strip() else []


def _may_return(block: Json, signed: bool) -> bool:
    match block.get("type"):
        case "thinking":
            return bool(block.get("signature") or (block.get("thinking") and not signed))
        case "redacted_thinking":
            return bool(block.get("data"))
        case _:
            return False
