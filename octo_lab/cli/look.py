"""``octo status`` and ``octo sessions``: what the runtime says of itself."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import anyio
from rich.console import Console
from rich.table import Table

from octo_lab.cli.ask import FAILED, Outcome
from octo_lab.cli.connect import conversation_in
from octo_lab.cli.place import find_place
from octo_lab.cli.printer import printable
from octo_lab.cli.run import CHAT
from octo_lab.core.mail import Control, ControlReply, GetSessions, GetStatus, SessionList, Status
from octo_lab.core.wire import reply_json


def ask_control(control: Control, workspace: Path | None) -> tuple[str, ControlReply]:
    """Who answered, and what; raises an OctoError."""
    opening = conversation_in(find_place(workspace), CHAT)

    async def ask() -> tuple[str, ControlReply]:
        async with opening as conversation:
            return conversation.place, await conversation.control(control)

    return anyio.run(ask)


def show_status(*, as_json: bool, workspace: Path | None) -> Outcome:
    place, reply = ask_control(GetStatus(), workspace)
    if not isinstance(reply, Status):
        return _refused(reply)
    if as_json:
        sys.stdout.write(json.dumps({"answered_by": place, **reply_json(reply)}) + "\n")
    else:
        _print_rows(_status_rows(place, reply))
    return Outcome()


def show_sessions(query: str, *, as_json: bool, workspace: Path | None) -> Outcome:
    _, reply = ask_control(GetSessions(query=query), workspace)
    if not isinstance(reply, SessionList):
        return _refused(reply)
    if as_json:
        sys.stdout.write(json.dumps(reply_json(reply)) + "\n")
        return Outcome()
    table = Table("", "session", "title", "turns", "last used", box=None, pad_edge=False)
    for info in reply.sessions:
        mark = "*" if info.current else ""
        used = info.updated_at.astimezone().strftime("%Y-%m-%d %H:%M")
        dialog = info.session.rpartition(":")[2]
        table.add_row(mark, dialog, printable(info.title) or "-", str(info.turns), used)
    Console().print(table if reply.sessions else "No sessions yet: octo chat, or octo run -s NAME")
    return Outcome()


def _status_rows(place: str, status: Status) -> list[tuple[str, str]]:
    usage = status.usage
    rows = [
        ("answered by", place),
        ("model", status.model),
        ("provider", " ".join(filter(None, [status.provider, status.provider_note]))),
        ("session", status.title or status.session),
        ("context", f"{status.context_tokens} of {status.context_window} tokens"),
        ("used", f"{usage.input_tokens} in, {usage.output_tokens} out"),
        ("tools", ", ".join(status.tools)),
        ("channels", ", ".join(status.channels)),
        ("workspace", status.workspace),
        ("data folder", status.data_folder),
    ]
    return [(name, value) for name, value in rows if value]


def _print_rows(rows: list[tuple[str, str]]) -> None:
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, value in rows:
        table.add_row(name, printable(value))
    Console(highlight=False, markup=False).print(table)


def _refused(reply: ControlReply) -> Outcome:
    text, hint = getattr(reply, "text", "No answer"), getattr(reply, "hint", "")
    return Outcome(code=FAILED, error=text, hint=hint)
