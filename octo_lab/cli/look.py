"""``octo status`` and ``octo sessions``: what the runtime says of itself."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from unicodedata import east_asian_width

import anyio

from octo_lab.cli.ask import FAILED
from octo_lab.cli.connect import conversation_in, place_around, warned
from octo_lab.cli.outcome import Outcome
from octo_lab.cli.printer import printable
from octo_lab.cli.run import CHAT
from octo_lab.core.clock import utc_now
from octo_lab.core.ids import short_id
from octo_lab.core.keys import SessionKey
from octo_lab.core.mail import Control, GetSessions, GetStatus
from octo_lab.core.money import spent_text
from octo_lab.core.replies import ControlReply, SessionInfo, SessionList, Status
from octo_lab.core.text import first_line
from octo_lab.core.wire import reply_json

_TITLE = 50  # the longest that is shown


def ask_control(control: Control, workspace: Path | None) -> tuple[str, ControlReply]:
    """Who answered, and what; raises an OctoError."""
    opening = conversation_in(warned(place_around(workspace)), CHAT)

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
    for line in session_lines(reply.sessions, everywhere=everywhere):
        sys.stdout.write(line + "\n")
    if not reply.sessions:
        sys.stdout.write(_no_sessions(query) + "\n")
    return Outcome()


def _no_sessions(query: str) -> str:
    if query:
        return printable(f"No session has {query!r} in its title or text")
    return "No sessions yet: octo chat, or octo run -s NAME"


def session_lines(sessions: Sequence[SessionInfo], *, everywhere: bool) -> list[str]:
    """Titles first, in a column of their own; the id, as ``/switch`` takes it, last."""
    titles = [_title(info) for info in sessions]
    width = max(map(_cells, titles), default=0)
    ids = [SessionKey.parse(info.session).dialog for info in sessions]
    return [
        f"{title}{' ' * (width - _cells(title))}  {_facts(info, ids, everywhere=everywhere)}"
        for title, info in zip(titles, sessions, strict=True)
    ]


def _title(info: SessionInfo) -> str:
    mark = "*" if info.current else " "
    title = first_line(printable(info.title), _TITLE) or "(no title)"
    return f"{mark} {title}"


def _cells(text: str) -> int:
    """How wide a terminal shows the text: a Chinese character takes two columns."""
    return sum(2 if east_asian_width(one) in "WF" else 1 for one in text)


def _facts(info: SessionInfo, ids: Sequence[str], *, everywhere: bool) -> str:
    key = SessionKey.parse(info.session)
    turns = "1 turn" if info.turns == 1 else f"{info.turns} turns"
    where = f"{key.address.channel} {key.address.chat_id}  " if everywhere else ""
    age = _age(utc_now() - info.updated_at)
    return printable(f"{turns:>9}  {age:>10}  {where}{short_id(key.dialog, ids)}")


def _age(passed: timedelta) -> str:
    minutes = int(passed.total_seconds()) // 60
    if minutes < 1:
        return "just now"
    if minutes < 60:
        return f"{minutes} min ago"
    if minutes < 24 * 60:
        return f"{minutes // 60} h ago"
    return "1 day ago" if minutes < 2 * 24 * 60 else f"{minutes // (24 * 60)} days ago"


def _status_rows(place: str, status: Status) -> list[tuple[str, str]]:
    usage = status.usage
    rows = [
        ("answered by", place),
        *_model_rows(status),
        ("note", status.provider_note),
        ("session", status.title or status.session),
        ("context", f"{status.context_tokens} of {status.context_window} tokens"),
        ("used", f"{usage.input_tokens} in, {usage.output_tokens} out"),
        ("cost", spent_text(usage, status.prices)),
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
