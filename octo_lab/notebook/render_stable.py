"""A turn without what changes from run to run."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from octo_lab.core.messages import Usage
from octo_lab.core.turns import Block, ErrorBlock, NoticeBlock, ToolBlock, TurnSnapshot

Folders = Iterable[tuple[str, str]]
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")


def stable_turn(turn: TurnSnapshot, folders: Folders) -> TurnSnapshot:
    """The turn with no ids, times and tokens, and with each folder replaced by its short name."""
    known = [(path, name) for path, name in folders if len(path) > 1]
    return replace(
        turn,
        turn_id="",
        message_id="",
        session="",
        usage=Usage(),
        started_at=None,
        seconds=None,
        blocks=tuple(_stable(block, known) for block in turn.blocks),
    )


def _stable(block: Block, folders: list[tuple[str, str]]) -> Block:
    match block:
        case ToolBlock():
            return replace(
                block,
                call_id="",
                approval_id="",
                seconds=None,
                arguments=_local(block.arguments, folders),
                output=_local(block.output, folders),
                detail=_local(block.detail, folders),
                diff=_local(block.diff, folders),
            )
        case NoticeBlock(text):
            return NoticeBlock(_local(text, folders))
        case ErrorBlock(message, hint):
            return ErrorBlock(_local(message, folders), _local(hint, folders))
        case _:
            return block


def _as_it_is(name: str, match: re.Match[str]) -> str:
    return name


def _local(text: str, folders: list[tuple[str, str]]) -> str:
    for path, name in folders:
        text = re.sub(rf"{re.escape(path)}(?=[/\\\s'\":,)\]]|$)", partial(_as_it_is, name), text)
    return _ADDRESS.sub("0x…", text)
