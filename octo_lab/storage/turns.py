"""Turns: begun, grown step by step, finished; each change is one whole transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple, Required, TypedDict, Unpack

from sqlalchemy import Connection, and_, bindparam, insert, select, update

from octo_lab.core.clock import utc_now
from octo_lab.core.errors import SessionBusy, SessionMoved, StorageError
from octo_lab.core.ids import new_id
from octo_lab.core.messages import Message, Usage
from octo_lab.core.turns import TurnState
from octo_lab.storage.history import Seen, TurnRecord, TurnRow, load_turns, on_path, path_after
from octo_lab.storage.messages import insert_messages
from octo_lab.storage.owners import interrupt, living_owner
from octo_lab.storage.schema import sessions, turns
from octo_lab.storage.sessions import SessionRow, insert_session, no_session, session_of

__all__ = [
    "NewTurn",
    "TurnRecord",
    "TurnRow",
    "answer_also",
    "append_step",
    "begin_turn",
    "finish_turn",
    "load_turns",
    "save_partial",
    "told_first",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTurn:
    """What a turn starts from. ``slot`` and ``replace``: see ``begin_turn``.

    ``also`` are the ids of other messages that it answers; ``beside``: others of this process go
    on running in the session.
    """

    session_id: str
    message: Message
    prompt: str
    message_id: str
    slot: str = ""
    replace: bool = True
    also: tuple[str, ...] = ()
    beside: bool = False
    model: str
    provider: str
    turn_id: str = field(default_factory=new_id)


def begin_turn(db: Connection, new: NewTurn, *, owner: str) -> TurnRow:
    """Store the turn as running, with the user's message; it becomes the session's head.

    If a turn from the same ``slot`` is on the session's path and ``replace`` is set, the session
    first goes back to before that turn; what it leaves stays reachable as a branch of it. A branch
    that is asked something becomes a session of its own. The session's ``remark`` goes before the
    message. A turn ``beside`` others follows the newest of them: a session stays one row of turns,
    in the order in which they were asked.
    Raises SessionBusy while a turn of another living owner runs in the session.
    """
    if new.message.role != "user":
        raise StorageError("A turn begins with a message of the user", hint="give it one")
    session, running = _session_and_running(db, new.session_id)
    for one in running:
        _take_lease(db, one, owner, new.beside)
    session, left = _step_back(db, session, new)
    turn = replace(_new_row(session, new, owner), left_behind=left)
    _insert_turn(db, turn)
    insert_messages(db, turn.id, [told_first(turn.remark, new.message)], turn.started_at)
    _move_head(db, session.id, turn.id, turn.depth, turn.started_at)
    return turn


def told_first(remark: str, message: Message) -> Message:
    """The message with what the session had to tell before it."""
    if not remark:
        return message
    return replace(message, content=f"{remark}\n\n{message.content}")


_RUNS = and_(turns.c.session_id == sessions.c.id, turns.c.state == "running")
_SESSION = (
    select(sessions, turns.c.id, turns.c.owner, turns.c.partial, turns.c.side)
    .outerjoin(turns, _RUNS)
    .where(sessions.c.id == bindparam("session"))
)
_LOCK = select(sessions.c.id).where(sessions.c.id == bindparam("session")).with_for_update()


def _session_and_running(db: Connection, session_id: str) -> tuple[SessionRow, list[_Running]]:
    """The session, locked, and the turns that run in it.

    SQLite has one writer. A PostgreSQL statement that waited for a row still reads what it joins
    as of before the wait, so there the lock comes first.
    """
    if db.dialect.name == "postgresql":
        db.execute(_LOCK, {"session": session_id})
    rows = db.execute(_SESSION, {"session": session_id}).all()
    if not rows:
        raise no_session(session_id)
    running = [_Running(*row[-4:]) for row in rows if row[-4]]
    return session_of(rows[0]), running


class _Running(NamedTuple):
    id: str
    owner: str
    partial: str
    side: str


def _take_lease(db: Connection, running: _Running, owner: str, beside: bool) -> None:
    """Turns of one owner per session; one that nobody can finish any more is closed."""
    if running.owner == owner and (beside or running.side):
        return
    holder = None if running.owner == owner else living_owner(db, running.owner)
    if holder is not None:
        raise SessionBusy(
            f"This session is busy in kernel {holder.pid}",
            hint="wait, start another with `/new`, or name one with `-s NAME`",
        )
    interrupt(db, running.id, running.partial)


_OF_SLOT = select(turns.c.id, turns.c.depth, turns.c.parent).where(
    turns.c.slot == bindparam("slot")
)


def _step_back(db: Connection, session: SessionRow, new: NewTurn) -> tuple[SessionRow, int]:
    """The session as it was before the turn to replace, and how many others leave it."""
    if not new.slot or not new.replace or session.head is None:
        return session, 0
    same = {row.id: row for row in db.execute(_OF_SLOT, {"slot": new.slot})}
    last = on_path(db, session.head, session.cursor, same) if same else None
    if last is None:
        return session, 0
    left = _of_other_cells(db, path_after(db, session.head, last), new.slot)
    insert_session(db, _kept(session))
    return replace(session, head=same[last].parent, turns=same[last].depth - 1), left


def _of_other_cells(db: Connection, path: list[str], slot: str) -> int:
    """A cell that asks more than once asks the rest again, too: those are not missed."""
    if not path:
        return 0
    same_cell = turns.c.slot.startswith(f"{slot}#", autoescape=True)
    again = set(db.scalars(select(turns.c.id).where(same_cell)))
    return sum(turn not in again for turn in path)


def _kept(session: SessionRow) -> SessionRow:
    """The path that is left behind, as an earlier version of the session."""
    now = utc_now()
    title = f"{session.title} (before {now.astimezone():%H:%M})".strip()
    return replace(
        session, id=new_id(), title=title, branch_of=session.id, created_at=now, updated_at=now
    )


def _new_row(session: SessionRow, new: NewTurn, owner: str) -> TurnRow:
    return TurnRow(
        id=new.turn_id,
        session_id=session.id,
        parent=session.head,
        depth=session.turns + 1,
        state="running",
        prompt=new.prompt,
        slot=new.slot,
        message_id=new.message_id,
        model=new.model,
        provider=new.provider,
        started_at=utc_now(),
        owner=owner,
        side=new.turn_id if new.beside else "",
        also=new.also,
        remark=session.remark,
    )


_INSERT = insert(turns)


def _insert_turn(db: Connection, turn: TurnRow) -> None:
    db.execute(
        _INSERT,
        {
            "id": turn.id,
            "session_id": turn.session_id,
            "parent": turn.parent,
            "depth": turn.depth,
            "state": turn.state,
            "prompt": turn.prompt,
            "slot": turn.slot,
            "message_id": turn.message_id,
            "model": turn.model,
            "provider": turn.provider,
            "input_tokens": 0,
            "output_tokens": 0,
            "cached_tokens": 0,
            "requests": 0,
            "error": turn.error,
            "hint": turn.hint,
            "partial": turn.partial,
            "started_at": turn.started_at,
            "ended_at": None,
            "owner": turn.owner,
            "side": turn.side,
            "also": json.dumps(turn.also) if turn.also else "",
        },
    )


_HEAD = (
    update(sessions)
    .where(sessions.c.id == bindparam("session"))
    .values(
        head=bindparam("turn"),
        turns=bindparam("depth"),
        updated_at=bindparam("now"),
        branch_of=None,
        remark="",
    )
)


def _move_head(db: Connection, session: str, turn: str, depth: int, now: datetime) -> None:
    db.execute(_HEAD, {"session": session, "turn": turn, "depth": depth, "now": now})


_MINE = (
    turns.c.id == bindparam("turn"),
    turns.c.owner == bindparam("holder"),
    turns.c.state == "running",
)
_PARTIAL = update(turns).where(*_MINE).values(partial=bindparam("text"))


def append_step(db: Connection, turn_id: str, owner: str, messages: Sequence[Message]) -> None:
    """Add an assistant message and the results of its calls; the partial text is now part of it.

    Raises SessionMoved when the turn does not run under ``owner`` any more.
    """
    save_partial(db, turn_id, owner, "")
    insert_messages(db, turn_id, messages, utc_now())


def save_partial(db: Connection, turn_id: str, owner: str, text: str) -> None:
    """Keep the unfinished reply as shown, should the process die. Raises SessionMoved."""
    changed = db.execute(_PARTIAL, {"turn": turn_id, "holder": owner, "text": text})
    if not changed.rowcount:
        raise _moved(turn_id)


_SEEN = update(turns).where(*_MINE).values(taint=bindparam("reasons"), alarms=bindparam("orders"))


def mark_turn(db: Connection, turn_id: str, owner: str, seen: Seen) -> None:
    """Private data or orders were seen; ``seen`` is all there is so far. Raises SessionMoved."""
    reasons, orders = map(_lines, seen)
    values = {"turn": turn_id, "holder": owner, "reasons": reasons, "orders": orders}
    if not db.execute(_SEEN, values).rowcount:
        raise _moved(turn_id)


def _lines(reasons: Sequence[str]) -> str:
    return "\n".join(" ".join(reason.split()) for reason in reasons)


_ANSWERS = update(turns).where(*_MINE).values(also=bindparam("ids"))


def answer_also(db: Connection, turn_id: str, owner: str, also: Sequence[str]) -> None:
    """The running turn has taken in other messages; ``also`` are all there are. Raises
    SessionMoved.
    """
    values = {"turn": turn_id, "holder": owner, "ids": json.dumps(list(also))}
    if not db.execute(_ANSWERS, values).rowcount:
        raise _moved(turn_id)


_ANSWERED_BY = (
    update(turns).where(*_MINE).values(provider=bindparam("vendor"), model=bindparam("name"))
)


def change_model(db: Connection, turn_id: str, owner: str, provider: str, model: str) -> None:
    """Another model took over the running turn. Raises SessionMoved."""
    values = {"turn": turn_id, "holder": owner, "vendor": provider, "name": model}
    if not db.execute(_ANSWERED_BY, values).rowcount:
        raise _moved(turn_id)


_FINISH = (
    update(turns)
    .where(*_MINE)
    .values(
        state=bindparam("ended"),
        input_tokens=bindparam("input"),
        output_tokens=bindparam("output"),
        cached_tokens=bindparam("cached"),
        written_tokens=bindparam("written"),
        reasoning_tokens=bindparam("thought"),
        requests=bindparam("asked"),
        cost=bindparam("dollars"),
        priced=bindparam("known"),
        error=bindparam("failure"),
        hint=bindparam("advice"),
        partial="",
        ended_at=bindparam("now"),
    )
)


class TurnEnd(TypedDict, total=False):
    """How a turn ended: the keywords of ``finish_turn``."""

    owner: Required[str]
    state: Required[TurnState]
    messages: Sequence[Message]
    usage: Usage
    error: str
    hint: str


def finish_turn(db: Connection, turn_id: str, **end: Unpack[TurnEnd]) -> None:
    """Store the last messages and how the turn ended, and free the session.

    Raises SessionMoved when the turn does not run under ``owner`` any more.
    """
    if end["state"] == "running":
        raise StorageError("A finished turn does not run", hint="give the state it ended in")
    now = utc_now()
    usage = end.get("usage", Usage())
    values = {
        "turn": turn_id,
        "holder": end["owner"],
        "ended": end["state"],
        "input": usage.input_tokens,
        "output": usage.output_tokens,
        "cached": usage.cached_tokens,
        "written": usage.written_tokens,
        "thought": usage.reasoning_tokens,
        "asked": usage.requests,
        "dollars": usage.cost,
        "known": usage.priced,
        "failure": end.get("error", ""),
        "advice": end.get("hint", ""),
        "now": now,
    }
    if not db.execute(_FINISH, values).rowcount:
        raise _moved(turn_id)
    insert_messages(db, turn_id, end.get("messages", ()), now)


def _moved(turn_id: str) -> SessionMoved:
    return SessionMoved(
        f"Turn {turn_id!r} is no longer running here",
        hint="another kernel took the session over; ask again",
    )
