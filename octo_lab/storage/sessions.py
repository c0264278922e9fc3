"""Sessions: the dialogs of a chat, each a pointer into the tree of turns."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    bindparam,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    true,
    update,
)

from octo_lab.core.clock import utc_now
from octo_lab.core.errors import UsageError
from octo_lab.core.ids import new_id
from octo_lab.core.keys import ChatAddress, SessionKey
from octo_lab.core.text import head_and_tail
from octo_lab.storage.changes import blobs_of
from octo_lab.storage.media import forget_blobs, forget_media
from octo_lab.storage.schema import current_sessions, messages, sessions, turns

_SHORTEST_PREFIX = 4
_CHAT = ("profile", "channel", "chat_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """One dialog. ``head`` is its newest turn, its context starts after the turn ``cursor``, with
    the summary of that id, if any, before it.

    ``branch_of`` names the dialog that this one is an earlier version of. ``remark`` is what its
    next message begins with: what the model has to know and nobody said.
    """

    id: str
    address: ChatAddress
    title: str
    workspace: str
    head: str | None
    cursor: str | None
    archived: bool
    branch_of: str | None = None
    model: str | None
    turns: int
    created_at: datetime
    updated_at: datetime
    summary: int | None = None
    queue_mode: str | None = None
    remark: str = ""

    @property
    def key(self) -> SessionKey:
        return self.address.dialog(self.id)


def create_session(
    db: Connection, address: ChatAddress, *, title: str = "", workspace: str = ""
) -> SessionRow:
    """A new, empty dialog; it does not become the current one."""
    now = utc_now()
    session = SessionRow(
        id=new_id(),
        address=address,
        title=title,
        workspace=workspace,
        head=None,
        cursor=None,
        archived=False,
        model=None,
        turns=0,
        created_at=now,
        updated_at=now,
    )
    insert_session(db, session)
    return session


_INSERT = insert(sessions)


def insert_session(db: Connection, session: SessionRow) -> None:
    db.execute(
        _INSERT,
        {
            "id": session.id,
            **_chat(session.address),
            "title": session.title,
            "workspace": session.workspace,
            "head": session.head,
            "cursor": session.cursor,
            "archived": session.archived,
            "branch_of": session.branch_of,
            "model": session.model,
            "turns": session.turns,
            "created_at": session.created_at,
            "updated_at": session.updated_at,
            "summary": session.summary,
            "queue_mode": session.queue_mode,
            "remark": session.remark,
        },
    )


def _current(*, any_workspace: bool) -> Select[Any]:
    current = current_sessions.c
    where = [current[name] == bindparam(name) for name in _CHAT]
    if not any_workspace:
        where.append(current.workspace == bindparam("workspace"))
    joined = select(sessions).join(current_sessions, current.session_id == sessions.c.id)
    return joined.where(*where).order_by(sessions.c.updated_at.desc()).limit(1)


_CURRENT_ANYWHERE = _current(any_workspace=True)
_CURRENT = _current(any_workspace=False)


def current_session(
    db: Connection, address: ChatAddress, *, workspace: str | None = None
) -> SessionRow | None:
    """The dialog this chat is in; ``workspace`` tells apart equal chats of two workspaces."""
    if workspace is None:
        return _first(db, _CURRENT_ANYWHERE, _chat(address))
    return _first(db, _CURRENT, {**_chat(address), "workspace": workspace})


def make_current(db: Connection, address: ChatAddress, session_id: str) -> None:
    """From now on this chat is in that dialog; raises UsageError when it does not exist."""
    session = needed_session(db, session_id)
    where = {**_chat(address), "workspace": session.workspace}
    current = current_sessions.c
    db.execute(
        delete(current_sessions).where(*(current[name] == value for name, value in where.items()))
    )
    db.execute(insert(current_sessions).values(**where, session_id=session_id))


_BY_ID = select(sessions).where(sessions.c.id == bindparam("id"))
_BY_ID_LOCKED = _BY_ID.with_for_update()


def get_session(db: Connection, session_id: str) -> SessionRow | None:
    return _one(db, _BY_ID, session_id)


def needed_session(db: Connection, session_id: str, *, lock: bool = False) -> SessionRow:
    """The dialog, locked against other writers if asked; raises UsageError."""
    session = _one(db, _BY_ID_LOCKED if lock else _BY_ID, session_id)
    if session is None:
        raise no_session(session_id)
    return session


def find_session(
    db: Connection, address: ChatAddress, name: str, *, workspace: str | None = None
) -> SessionRow | None:
    """By id, by title, or by a unique beginning of the id; raises UsageError when ambiguous.

    A dialog that is archived, or an earlier version, is found only where no other fits.
    """
    named = _all(db, *_naming(address, name, workspace))
    exact = [row for row in named if row.id == name]
    titled = [row for row in named if row.title == name]
    found = exact or titled or named
    found = [session for session in found if session.branch_of is None] or found
    found = [session for session in found if not session.archived] or found
    if len(found) > 1:
        raise _ambiguous(name, found)
    return found[0] if found else None


def _named(*, any_workspace: bool) -> Select[Any]:
    where = [sessions.c[name] == bindparam(name) for name in _CHAT]
    if not any_workspace:
        where.append(sessions.c.workspace == bindparam("workspace"))
    start = func.substr(sessions.c.id, 1, bindparam("length")) == bindparam("start")
    exact = [sessions.c[column] == bindparam("name") for column in ("id", "title")]
    return select(sessions).where(*where, or_(*exact, start))


_NAMED_ANYWHERE = _named(any_workspace=True)
_NAMED = _named(any_workspace=False)


def _naming(
    address: ChatAddress, name: str, workspace: str | None
) -> tuple[Select[Any], dict[str, Any]]:
    start = name.lower() if len(name) >= _SHORTEST_PREFIX else "no id"
    values = {**_chat(address), "name": name, "start": start, "length": len(start)}
    if workspace is None:
        return _NAMED_ANYWHERE, values
    return _NAMED, {**values, "workspace": workspace}


def _ambiguous(name: str, found: list[SessionRow]) -> UsageError:
    ids = ", ".join(session.id for session in found[:5])
    return UsageError(f"{len(found)} sessions are called {name!r}", hint=f"name one by id: {ids}")


def list_sessions(
    db: Connection,
    address: ChatAddress | None,
    *,
    query: str = "",
    limit: int = 200,
    archived: bool = False,
    branches: bool = False,
    workspace: str | None = None,
) -> list[SessionRow]:
    """Newest first, of one chat or of all; ``query`` filters by title and by what was said.

    ``archived`` adds those that are, ``branches`` the earlier versions.
    """
    statement = select(sessions).where(_of_chat(address, workspace))
    if not archived:
        statement = statement.where(sessions.c.archived.is_(False))
    if not branches:
        statement = statement.where(sessions.c.branch_of.is_(None))
    if query.strip():
        statement = statement.where(_mentions(query.strip()))
    newest = (sessions.c.updated_at.desc(), sessions.c.id.desc())
    return _all(db, statement.order_by(*newest).limit(limit))


def count_branches(
    db: Connection, address: ChatAddress | None, *, query: str = "", workspace: str | None = None
) -> int:
    """How many earlier versions a list without them leaves out."""
    counted = select(func.count()).select_from(sessions)
    counted = counted.where(_of_chat(address, workspace), sessions.c.branch_of.is_not(None))
    if query.strip():
        counted = counted.where(_mentions(query.strip()))
    return db.scalar(counted) or 0


def _mentions(words: str) -> ColumnElement[bool]:
    """A dialog says it when its head descends from a turn that says it."""
    said = (
        select(turns.c.id)
        .where(
            or_(
                turns.c.prompt.icontains(words, autoescape=True),
                exists().where(
                    messages.c.turn_id == turns.c.id,
                    messages.c.role.in_(("user", "assistant")),
                    messages.c.content.icontains(words, autoescape=True),
                ),
            )
        )
        .cte("said", recursive=True)
    )
    after = said.union(select(turns.c.id).join(said, turns.c.parent == said.c.id))
    return or_(
        sessions.c.title.icontains(words, autoescape=True),
        sessions.c.head.in_(select(after.c.id)),
    )


def rename_session(db: Connection, session_id: str, title: str) -> None:
    _change(db, session_id, title=title)


def archive_session(db: Connection, session_id: str, archived: bool) -> None:
    _change(db, session_id, archived=archived)


def set_model(db: Connection, session_id: str, model: str | None) -> None:
    _change(db, session_id, model=model)


def set_queue_mode(db: Connection, session_id: str, mode: str) -> None:
    _change(db, session_id, queue_mode=mode)


_MOST_REMARKED = 4000


def add_remark(db: Connection, session_id: str, remark: str) -> None:
    """Tell the model with the next message; what was told before and has not been read stays."""
    session = needed_session(db, session_id, lock=True)
    lines = "\n".join(filter(None, (session.remark, remark)))
    _change(db, session_id, remark=head_and_tail(lines, _MOST_REMARKED))


def clear_context(db: Connection, session_id: str) -> None:
    """The next turn starts with an empty context; every row stays."""
    _change(db, session_id, cursor=sessions.c.head, summary=None, updated_at=utc_now())


def delete_session(db: Connection, session_id: str) -> None:
    """Delete the dialog with its earlier versions, the turns that no other holds, their media."""
    session = needed_session(db, session_id, lock=True)
    for branch in db.scalars(select(sessions.c.id).where(sessions.c.branch_of == session_id)).all():
        delete_session(db, branch)
    db.execute(delete(sessions).where(sessions.c.id == session_id))
    turn_id = session.head
    media: list[str] = []
    blobs: list[str] = []
    while turn_id is not None and not _held(db, turn_id):
        parent = db.scalar(select(turns.c.parent).where(turns.c.id == turn_id))
        media += db.scalars(select(messages.c.media).where(messages.c.turn_id == turn_id))
        blobs += blobs_of(db, turn_id)
        db.execute(delete(turns).where(turns.c.id == turn_id))
        turn_id = parent
    forget_media(db, media)
    forget_blobs(db, blobs)


def _held(db: Connection, turn_id: str) -> bool:
    held = or_(
        exists().where(turns.c.parent == turn_id),
        exists().where(sessions.c.head == turn_id),
        exists().where(sessions.c.cursor == turn_id),
    )
    return bool(db.scalar(select(held)))


def _change(db: Connection, session_id: str, **values: Any) -> None:
    changed = db.execute(update(sessions).where(sessions.c.id == session_id).values(**values))
    if not changed.rowcount:
        raise no_session(session_id)


def _chat(address: ChatAddress) -> dict[str, str]:
    return {
        "profile": address.profile,
        "channel": address.channel,
        "chat_id": address.chat_id,
    }


def _of_chat(address: ChatAddress | None, workspace: str | None) -> ColumnElement[bool]:
    names = _chat(address) if address else {}
    names |= {} if workspace is None else {"workspace": workspace}
    return and_(true(), *(sessions.c[name] == value for name, value in names.items()))


def _one(db: Connection, statement: Any, session_id: str) -> SessionRow | None:
    row = db.execute(statement, {"id": session_id}).first()
    return None if row is None else session_of(row)


def _first(db: Connection, statement: Any, values: dict[str, Any]) -> SessionRow | None:
    row = db.execute(statement, values).first()
    return None if row is None else session_of(row)


def _all(db: Connection, statement: Any, values: dict[str, Any] | None = None) -> list[SessionRow]:
    return [session_of(row) for row in db.execute(statement, values)]


def no_session(session_id: str) -> UsageError:
    return UsageError(f"No session {session_id!r}", hint="list them with `/sessions`")


def session_of(row: Row[Any]) -> SessionRow:
    return SessionRow(
        id=row.id,
        address=ChatAddress(profile=row.profile, channel=row.channel, chat_id=row.chat_id),
        title=row.title,
        workspace=row.workspace,
        head=row.head,
        cursor=row.cursor,
        archived=row.archived,
        branch_of=row.branch_of,
        model=row.model,
        turns=row.turns,
        created_at=row.created_at,
        updated_at=row.updated_at,
        summary=row.summary,
        queue_mode=row.queue_mode,
        remark=row.remark,
    )
