"""``octo status`` and ``octo sessions``: what the runtime says of itself."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import anyio

from octo_lab.cli.ask import FAILED
from octo_lab.cli.connect import conversation_in, place_around
from octo_lab.cli.outcome import Outcome
from octo_lab.cli.printer import printable
from octo_lab.cli.run import CHAT
from octo_lab.core.keys import SessionKey
from octo_lab.core.mail import (
    Control,
    ControlReply,
    GetSessions,
    GetStatus,
    SessionInfo,
    SessionList,
    Status,
)
from octo_lab.core.wire import reply_json


def ask_control(control: Control, workspace: Path | None) -> tuple[str, ControlReply]:
    """Who answered, and what; raises an OctoError."""
    opening = conversation_in(place_around(workspace), CHAT)

    async def ask() -> tuple[str, ControlReply]:
        async with opening as conversation:
            return conversation.place, await conversation.control(control)

    return anyio.run(ask)


def show_status(*, as_json: bool, workspace: Path | None) -> Outcome:
    place, reply = ask_control(GetStatus(), workspace)
    if not isinstance(reply, Status):
        return refused(reply)
    if as_json:
        sys.stdout.write(json.dumps({"answered_by": place, **reply_json(reply)}) + "\n")
    else:
        _print_rows(_status_rows(place, reply))
    return Outcome()


def show_sessions(
    query: str, *, everywhere: bool, as_json: bool, workspace: Path | None
) -> Outcome:
    _, reply = ask_control(GetSessions(query=query, everywhere=everywhere), workspace)
    if not isinstance(reply, SessionList):
        return refused(reply)
    if as_json:
        sys.stdout.write(json.dumps(reply_json(reply)) + "\n")
        return Outcome()
    for info in reply.sessions:
        sys.stdout.write(_session_line(info, everywhere=everywhere) + "\n")
    if not reply.sessions:
        sys.stdout.write("No sessions yet: octo chat, or octo run -s NAME\n")
    return Outcome()


def _session_line(info: SessionInfo, *, everywhere: bool) -> str:
    mark = "*" if info.current else " "
    used = info.updated_at.astimezone().strftime("%Y-%m-%d %H:%M")
    key = SessionKey.parse(info.session)
    where = f"{key.address.channel} {key.address.chat_id}  " if everywhere else ""
    title = printable(info.title) or "(no title)"
    return printable(f"{mark} {key.dialog}  {used}  {info.turns:>4} turns  {where}{title}")


def _status_rows(place: str, status: Status) -> list[tuple[str, str]]:
    usage = status.usage
    rows = [
        ("answered by", place),
        *_model_rows(status),
        ("note", status.provider_note),
        ("session", status.title or status.session),
        ("context", f"{status.context_tokens} of {status.context_window} tokens"),
        ("used", f"{usage.input_tokens} in, {usage.output_tokens} out"),
        ("tools", ", ".join(status.tools)),
        ("channels", ", ".join(status.channels)),
        ("workspace", status.workspace),
        ("data folder", status.data_folder),
    ]
    return [(name, value) for name, value in rows if value]


def _model_rows(status: Status) -> list[tuple[str, str]]:
    if status.sources:
        return list(status.sources.items())
    return [("model", status.model), ("provider", status.provider)]


def _print_rows(rows: list[tuple[str, str]]) -> None:
    for name, value in rows:
        sys.stdout.write(f"{name:<11}  {printable(value)}\n")


def refused(reply: ControlReply) -> Outcome:
    text, hint = getattr(reply, "text", "No answer"), getattr(reply, "hint", "")
    return Outcome(code=FAILED, error=text, hint=hint)
