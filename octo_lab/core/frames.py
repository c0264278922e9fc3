"""Snapshots as JSON, and the difference of two: what a face that keeps the last one needs.

A frame is ``{"type": "turn", "turn": {...}}`` (the whole) or
``{"type": "patch", "turn_id", "base", "revision", "state", ..., "ops": [...]}`` where an op is
``["append", index, text]`` (more text at the end of a block), ``["put", index, block]``
(a new or changed block) or ``["cut", length]`` (only so many blocks remain). A face that
misses ``base`` asks for the whole.
"""

from __future__ import annotations

import base64
from typing import Any

from octo_lab.core.messages import Media, Usage
from octo_lab.core.turns import (
    Block,
    ErrorBlock,
    NoticeBlock,
    ReasoningBlock,
    TextBlock,
    ToolBlock,
    TurnSnapshot,
)

Json = dict[str, Any]


def turn_frame(turn: TurnSnapshot) -> Json:
    """The whole turn."""
    return {"type": "turn", "turn": turn_json(turn)}


def patch_frame(base: TurnSnapshot, turn: TurnSnapshot) -> Json:
    """What changed since ``base``, an earlier snapshot of the same turn. Cost: the change."""
    return {
        "type": "patch",
        "turn_id": turn.turn_id,
        "base": base.revision,
        **_head(turn),
        "ops": _ops(base.blocks, turn.blocks),
    }


def turn_json(turn: TurnSnapshot) -> Json:
    return {
        "turn_id": turn.turn_id,
        "message_id": turn.message_id,
        "session": turn.session,
        "prompt": turn.prompt,
        "started_at": turn.started_at.isoformat() if turn.started_at else None,
        **_head(turn),
        "blocks": [block_json(block) for block in turn.blocks],
    }


def _head(turn: TurnSnapshot) -> Json:
    return {
        "revision": turn.revision,
        "state": turn.state,
        "model": turn.model,
        "usage": usage_json(turn.usage),
        "seconds": turn.seconds,
    }


def usage_json(usage: Usage) -> Json:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
        "written_tokens": usage.written_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "requests": usage.requests,
        "cost": usage.cost,
        "priced": usage.priced,
    }


def block_json(block: Block) -> Json:
    match block:
        case TextBlock(text):
            return {"kind": "text", "text": text}
        case ReasoningBlock(text):
            return {"kind": "reasoning", "text": text}
        case NoticeBlock(text):
            return {"kind": "notice", "text": text}
        case ErrorBlock(message, hint):
            return {"kind": "error", "message": message, "hint": hint}
        case ToolBlock():
            return _tool_json(block)


def _tool_json(block: ToolBlock) -> Json:
    return {
        "kind": "tool",
        "call_id": block.call_id,
        "name": block.name,
        "arguments": block.arguments,
        "state": block.state,
        "output": block.output,
        "seconds": block.seconds,
        "media": [media_json(media) for media in block.media],
        "approval_id": block.approval_id,
        "detail": block.detail,
        "risk": block.risk,
        "diff": block.diff,
    }


def media_json(media: Media) -> Json:
    data = base64.b64encode(media.data).decode()
    return {"mime": media.mime, "name": media.name, "data": data}


def _ops(old: tuple[Block, ...], new: tuple[Block, ...]) -> list[list[Any]]:
    ops: list[list[Any]] = [["cut", len(new)]] if len(new) < len(old) else []
    for index, block in enumerate(new):
        before = old[index] if index < len(old) else None
        if block is not before:
            ops += _block_ops(index, before, block)
    return ops


def _block_ops(index: int, before: Block | None, block: Block) -> list[list[Any]]:
    grown = _grown(before, block)
    if grown is None:
        return [["put", index, block_json(block)]]
    return [["append", index, grown]] if grown else []


def _grown(before: Block | None, block: Block) -> str | None:
    """The text added at the end, or None if the block changed in any other way."""
    match before, block:
        case (TextBlock(old), TextBlock(new)) | (ReasoningBlock(old), ReasoningBlock(new)):
            return new[len(old) :] if new.startswith(old) else None
    return "" if before == block else None
