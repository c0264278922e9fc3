"""Reading turns back: the path from a session's head to its beginning."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Container
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import CTE, BindParameter, Connection, Row, bindparam, literal_column, select

from octo_lab.core.messages import Message, Usage
from octo_lab.core.turns import TurnState
from octo_lab.storage.messages import COLUMNS, message_of
from octo_lab.storage.schema import messages, turns
from octo_lab.storage.sessions import needed_session


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRow:
    """One turn. ``parent`` is the turn it follows; ``partial`` matters only while it runs.

    ``message_id`` is the message that it answers, ``also`` are others answered with it. ``side`` is
    its own id if it ran beside another turn of its session. ``taint`` says what private data its
    conversation had seen by its end, ``alarms`` which texts in it read like orders.

    Two are known only of a turn just begun: ``left_behind``, how many later turns of other cells
    left the session with the one that it replaces, and ``remark``, what its message begins with.
    """

    id: str
    session_id: str
    parent: str | None
    depth: int
    state: TurnState
    prompt: str
    slot: str
    message_id: str
    model: str
    provider: str
    usage: Usage = Usage()
    error: str = ""
    hint: str = ""
    partial: str = ""
    started_at: datetime
    ended_at: datetime | None = None
    owner: str
    left_behind: int = 0
    taint: tuple[str, ...] = ()
    alarms: tuple[str, ...] = ()
    side: str = ""
    also: tuple[str, ...] = ()
    remark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRecord:
    """A turn and its messages, the user's first."""

    turn: TurnRow
    messages: tuple[Message, ...]


def _path() -> CTE:
    """The newest ``limit`` turns from ``head`` back, without ``stop`` and what is before it."""
    stop: BindParameter[str] = bindparam("stop")
    newest = (
        select(turns.c.id, turns.c.parent, literal_column("1").label("place"))
        .where(turns.c.id == bindparam("head"), turns.c.id != stop)
        .cte("path", recursive=True)
    )
    older = (
        select(turns.c.id, turns.c.parent, newest.c.place + 1)
        .join(newest, turns.c.id == newest.c.parent)
        .where(turns.c.id != stop, newest.c.place < bindparam("limit"))
    )
    return newest.union_all(older)


PATH = _path()
_IDS = select(PATH.c.id).order_by(PATH.c.place)
_TURNS = select(turns).join(PATH, turns.c.id == PATH.c.id).order_by(PATH.c.place.desc())
_MESSAGES = (
    select(messages.c.turn_id, *COLUMNS)
    .join(PATH, messages.c.turn_id == PATH.c.id)
    .order_by(messages.c.id)
)
UNLIMITED = 2**31 - 1


def load_turns(
    db: Connection, session_id: str, *, context_only: bool, limit: int = 1000
) -> list[TurnRecord]:
    """The newest turns of a dialog, oldest first; ``context_only``: those after its cursor."""
    session = needed_session(db, session_id)
    where = {
        "head": session.head or "",
        "stop": (context_only and session.cursor) or "",
        "limit": limit,
    }
    rows = db.execute(_TURNS, where).all()
    said: dict[str, list[Message]] = defaultdict(list)
    for turn_id, *values in db.execute(_MESSAGES, where):
        said[turn_id].append(message_of(db, values))
    return [TurnRecord(turn=_turn_of(row), messages=tuple(said[row.id])) for row in rows]


class Seen(NamedTuple):
    """What a conversation had seen by the end of a turn: private data, and orders of strangers."""

    taint: tuple[str, ...] = ()
    alarms: tuple[str, ...] = ()


def seen_at(db: Connection, turn_id: str | None) -> Seen:
    """Nothing, where there is no such turn."""
    columns = select(turns.c.taint, turns.c.alarms)
    row = db.execute(columns.where(turns.c.id == (turn_id or ""))).first()
    return Seen(*(tuple(lines.splitlines()) for lines in row)) if row else Seen()


def on_path(db: Connection, head: str, cursor: str | None, wanted: Container[str]) -> str | None:
    """The newest of the ``wanted`` turns between ``head`` and ``cursor``."""
    where = {"head": head, "stop": cursor or "", "limit": UNLIMITED}
    return next((turn for turn in db.scalars(_IDS, where) if turn in wanted), None)


def path_after(db: Connection, head: str, turn: str) -> list[str]:
    """The turns from ``head`` back, as far as ``turn``, which is not one of them."""
    return list(db.scalars(_IDS, {"head": head, "stop": turn, "limit": UNLIMITED}))


def _turn_of(row: Row[Any]) -> TurnRow:
    return TurnRow(
        id=row.id,
        session_id=row.session_id,
        parent=row.parent,
        depth=row.depth,
        state=row.state,
        prompt=row.prompt,
        slot=row.slot,
        message_id=row.message_id,
        model=row.model,
        provider=row.provider,
        usage=Usage(
            input_tokens=row.input_tokens,
            output_tokens=row.output_tokens,
            cached_tokens=row.cached_tokens,
            written_tokens=row.written_tokens,
            reasoning_tokens=row.reasoning_tokens,
            requests=row.requests,
            cost=row.cost,
            priced=row.priced,
        ),
        error=row.error,
        hint=row.hint,
        partial=row.partial,
        started_at=row.started_at,
        ended_at=row.ended_at,
        owner=row.owner,
        taint=tuple(row.taint.splitlines()),
        alarms=tuple(row.alarms.splitlines()),
        side=row.side,
        also=tuple(json.loads(row.also)) if row.also else (),
    )
