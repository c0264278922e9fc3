"""Reads what the gateway sends back into values: the inverse of core's frames and wire."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any, cast

from pydantic import TypeAdapter

from octo_lab.core.frames import Json
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import OutboundMessage
from octo_lab.core.messages import Media, Usage
from octo_lab.core.replies import (
    CommandList,
    ControlReply,
    History,
    ProviderCheck,
    ProviderList,
    Routing,
    SessionList,
    Status,
    Told,
)
from octo_lab.core.tool_mail import ToolAnswer, ToolList
from octo_lab.core.turns import (
    Block,
    ErrorBlock,
    NoticeBlock,
    ReasoningBlock,
    TextBlock,
    ToolBlock,
    TurnSnapshot,
)

_REPLIES: dict[str, TypeAdapter[Any]] = {
    "told": TypeAdapter(Told),
    "sessions": TypeAdapter(SessionList),
    "status": TypeAdapter(Status),
    "providers": TypeAdapter(ProviderList),
    "provider_check": TypeAdapter(ProviderCheck),
    "routing": TypeAdapter(Routing),
    "commands": TypeAdapter(CommandList),
    "tools": TypeAdapter(ToolList),
    "tool_answer": TypeAdapter(ToolAnswer),
}


def read_turn(data: Json) -> TurnSnapshot:
    """A whole turn from the ``turn`` of a turn frame."""
    return TurnSnapshot(
        turn_id=data["turn_id"],
        message_id=data["message_id"],
        session=data["session"],
        prompt=data["prompt"],
        started_at=datetime.fromisoformat(data["started_at"]) if data["started_at"] else None,
        blocks=tuple(read_block(block) for block in data["blocks"]),
        **_head(data),
    )


def patched(turn: TurnSnapshot, frame: Json) -> TurnSnapshot | None:
    """``turn`` with a patch frame applied; None when the patch is for another revision."""
    if frame["base"] != turn.revision:
        return None
    blocks = list(turn.blocks)
    for name, *rest in frame["ops"]:
        _OPS[name](blocks, *rest)
    return replace(turn, blocks=tuple(blocks), **_head(frame))


def _head(data: Json) -> Json:
    return {
        "revision": data["revision"],
        "state": data["state"],
        "model": data["model"],
        "usage": Usage(**data["usage"]),
        "seconds": data["seconds"],
    }


def _append(blocks: list[Block], index: int, text: str) -> None:
    block = cast(TextBlock | ReasoningBlock, blocks[index])
    blocks[index] = type(block)(block.text + text)


def _put(blocks: list[Block], index: int, block: Json) -> None:
    blocks[index : index + 1] = [read_block(block)]


def _cut(blocks: list[Block], length: int) -> None:
    del blocks[length:]


_OPS: dict[str, Callable[..., None]] = {"append": _append, "put": _put, "cut": _cut}


def read_block(data: Json) -> Block:
    match data["kind"]:
        case "text":
            return TextBlock(data["text"])
        case "reasoning":
            return ReasoningBlock(data["text"])
        case "notice":
            return NoticeBlock(data["text"])
        case "error":
            return ErrorBlock(data["message"], data["hint"])
        case _:
            return _read_tool(data)


def _read_tool(data: Json) -> ToolBlock:
    fields = {name: value for name, value in data.items() if name not in {"kind", "media"}}
    return ToolBlock(**fields, media=tuple(_read_media(media) for media in data["media"]))


def _read_media(data: Json) -> Media:
    return Media(mime=data["mime"], name=data["name"], data=base64.b64decode(data["data"]))


def read_reply(data: Json) -> ControlReply:
    """The answer to a control from the ``reply`` of a reply frame."""
    if data["kind"] == "history":
        turns = tuple(read_turn(turn) for turn in data["turns"])
        return History(session=data["session"], title=data["title"], turns=turns)
    if data["kind"] == "tool_answer":
        data = {**data, "media": tuple(map(_read_media, data["media"]))}
    fields = {name: value for name, value in data.items() if name != "kind"}
    return cast(ControlReply, _REPLIES[data["kind"]].validate_python(fields))


def read_message(data: Json, address: ChatAddress) -> OutboundMessage:
    return OutboundMessage(
        address=address,
        id=data["id"],
        text=data["text"],
        reply_to=data["reply_to"],
        failed=data["failed"],
        hint=data["hint"],
        media=tuple(_read_media(media) for media in data.get("media", ())),
        turn_id=data.get("turn_id", ""),
    )
