"""Messages of a turn, as rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert

from octo_lab.core.errors import StorageError
from octo_lab.core.messages import Message, ProviderState, ToolCall
from octo_lab.storage.media import keep_media, read_media
from octo_lab.storage.schema import messages as table

_INSERT = insert(table)


def insert_messages(
    db: Connection, turn_id: str, messages: Sequence[Message], now: datetime
) -> None:
    """Append to a turn; raises StorageError when a call lacks its one result."""
    if not messages:
        return
    check_pairs(messages)
    db.execute(_INSERT, [_row(db, turn_id, message, now) for message in messages])


def check_pairs(messages: Sequence[Message]) -> None:
    """Every call is answered once, right after the message that made it."""
    open_calls: list[str] = []
    for message in messages:
        if message.role == "tool" and message.tool_call_id in open_calls:
            open_calls.remove(message.tool_call_id)
        elif message.role == "tool" or open_calls:
            raise _unpaired(message.tool_call_id or open_calls[0])
        open_calls += [call.id for call in message.tool_calls]
    if open_calls:
        raise _unpaired(open_calls[0])


def _unpaired(call_id: str) -> StorageError:
    return StorageError(
        f"Tool call {call_id!r} does not have exactly one result",
        hint="store a call together with its result",
    )


def _row(db: Connection, turn_id: str, message: Message, now: datetime) -> dict[str, Any]:
    return {
        "turn_id": turn_id,
        "role": message.role,
        "content": message.content,
        "reasoning": message.reasoning,
        "media": keep_media(db, message.media),
        "tool_calls": _calls_text(message.tool_calls),
        "tool_call_id": message.tool_call_id,
        "tool_name": message.tool_name,
        "outcome": message.outcome,
        "seconds": message.seconds,
        "diff": message.diff,
        "origin": message.origin,
        "provider_state": _state_text(message.provider_state),
        "created_at": now,
    }


COLUMNS = (
    table.c.role,
    table.c.content,
    table.c.reasoning,
    table.c.media,
    table.c.tool_calls,
    table.c.tool_call_id,
    table.c.tool_name,
    table.c.outcome,
    table.c.seconds,
    table.c.provider_state,
    table.c.diff,
    table.c.origin,
)


def message_of(db: Connection, values: Sequence[Any]) -> Message:
    """The message whose ``COLUMNS`` these are; taken by position, half the cost of by name."""
    role, content, reasoning, media, calls, call_id, tool, outcome, seconds, state, *more = values
    diff, origin = more
    return Message(
        role=role,
        content=content,
        reasoning=reasoning,
        media=read_media(db, media) if media else (),
        tool_calls=_calls(calls) if calls else (),
        tool_call_id=call_id,
        tool_name=tool,
        outcome=outcome,
        seconds=seconds,
        diff=diff,
        origin=origin,
        provider_state=_state(state) if state else None,
    )


def _calls_text(calls: Sequence[ToolCall]) -> str:
    return json.dumps([[c.id, c.name, c.arguments] for c in calls]) if calls else ""


def _calls(text: str) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(id=i, name=n, arguments=a) for i, n, a in json.loads(text))


def _state_text(state: ProviderState | None) -> str:
    return json.dumps([state.provider, state.model, state.blob]) if state else ""


def _state(text: str) -> ProviderState:
    provider, model, blob = json.loads(text)
    return ProviderState(provider=provider, model=model, blob=blob)
