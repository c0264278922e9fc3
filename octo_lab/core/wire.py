"""Asks, controls and replies as JSON: one protocol for widgets and the WebSocket.

A face sends ``{"type": "ask", "id", "text", "options": {...}}`` or
``{"type": "control", "id", "name": "stop", "args": {...}}``; it receives the frames of
``frames.py``, ``{"type": "reply", "id", "reply": {"kind": ..., ...}}`` and
``{"type": "message", "text", "reply_to", "failed", "hint", "media", "turn_id"}``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from functools import cache
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from octo_lab.core.errors import UsageError
from octo_lab.core.frames import Json, media_json, turn_json
from octo_lab.core.mail import (
    AnswerProposal,
    AskOptions,
    CheckProvider,
    Control,
    EditSession,
    GetCommands,
    GetHistory,
    GetProviders,
    GetRouting,
    GetSessions,
    GetStatus,
    OutboundMessage,
    RunCommand,
    Settle,
    Stop,
    UseCassette,
)
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
from octo_lab.core.tool_mail import CallTool, GetProgress, GetTools, ToolAnswer, ToolList

_CONTROLS: dict[str, type[Any]] = {
    "stop": Stop,
    "settle": Settle,
    "propose": AnswerProposal,
    "command": RunCommand,
    "sessions": GetSessions,
    "history": GetHistory,
    "status": GetStatus,
    "providers": GetProviders,
    "check_provider": CheckProvider,
    "routing": GetRouting,
    "commands": GetCommands,
    "edit_session": EditSession,
    "cassette": UseCassette,
    "tools": GetTools,
    "call_tool": CallTool,
    "progress": GetProgress,
}
_KINDS = {
    "Told": "told",
    "SessionList": "sessions",
    "Status": "status",
    "ProviderList": "providers",
    "ProviderCheck": "provider_check",
    "Routing": "routing",
    "CommandList": "commands",
    "ToolList": "tools",
}


def decode_control(name: str, args: Json) -> Control:
    """Read a control; raises UsageError naming what does not fit."""
    kind = _CONTROLS.get(name)
    if kind is None:
        raise UsageError(f"No control named {name!r}", hint=f"known: {', '.join(_CONTROLS)}")
    return cast(Control, _read(kind, args, name))


def decode_options(args: Json) -> AskOptions:
    """Read the options of an ask; raises UsageError naming what does not fit."""
    return cast(AskOptions, _read(AskOptions, args, "ask"))


def control_json(control: Control) -> Json:
    """The ``name`` and ``args`` of a control."""
    name = next(name for name, kind in _CONTROLS.items() if type(control) is kind)
    return {"name": name, "args": asdict(control)}


def reply_json(reply: ControlReply) -> Json:
    if isinstance(reply, History):
        turns = [turn_json(turn) for turn in reply.turns]
        return {"kind": "history", "session": reply.session, "title": reply.title, "turns": turns}
    if isinstance(reply, ToolAnswer):
        media = [media_json(media) for media in reply.media]
        return {"kind": "tool_answer", **asdict(replace(reply, media=())), "media": media}
    data = cast(Json, _adapters()[type(reply).__name__].dump_python(reply, mode="json"))
    return {"kind": _KINDS[type(reply).__name__], **data}


def message_frame(message: OutboundMessage) -> Json:
    return {
        "type": "message",
        "id": message.id,
        "text": message.text,
        "reply_to": message.reply_to,
        "failed": message.failed,
        "hint": message.hint,
        "media": [media_json(media) for media in message.media],
        "turn_id": message.turn_id,
    }


def prepare() -> None:
    """Build the readers ahead: pydantic reads files for the first one, so not on a loop."""
    _adapters()


@cache
def _adapters() -> dict[str, TypeAdapter[Any]]:
    replies = (Told, SessionList, Status, ProviderList, ProviderCheck, Routing, CommandList)
    kinds = (*_CONTROLS.values(), AskOptions, *replies, ToolList)
    return {kind.__name__: TypeAdapter(kind) for kind in kinds}


def _read(kind: type[Any], args: Json, name: str) -> object:
    known = kind.__dataclass_fields__
    if not isinstance(args, dict):
        raise UsageError(f"{name!r}: what it takes is no JSON object", hint=_takes(known))
    if unknown := set(args) - set(known):
        raise UsageError(f"{name!r} takes no {sorted(unknown)[0]!r}", hint=_takes(known))
    try:
        return _adapters()[kind.__name__].validate_python(args)
    except ValidationError as exc:
        first = exc.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{name!r}: {where}: {first['msg']}", hint="fix this value") from None


def _takes(known: Iterable[str]) -> str:
    return f"it takes: {', '.join(known) or 'nothing'}"
