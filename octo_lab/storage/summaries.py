"""Summaries of what lies before the cursor of a dialog; the turns themselves stay."""

from __future__ import annotations

from sqlalchemy import Connection, insert, select, update

from octo_lab.core.clock import utc_now
from octo_lab.storage.history import on_path
from octo_lab.storage.schema import sessions, summaries
from octo_lab.storage.sessions import needed_session


def keep_summary(
    db: Connection, session_id: str, *, before: str | None, turn_id: str, text: str, model: str
) -> bool:
    """Move the dialog's cursor to ``turn_id``, with a summary of all up to it.

    Nothing happens, and False is told, when the cursor is no longer ``before`` or the turn no
    longer lies between it and the head: the dialog went another way meanwhile.
    """
    session = needed_session(db, session_id, lock=True)
    if session.cursor != before or session.head is None:
        return False
    if on_path(db, session.head, session.cursor, (turn_id,)) is None:
        return False
    values = {"turn_id": turn_id, "text": text, "model": model, "created_at": utc_now()}
    made = db.execute(insert(summaries).values(values).returning(summaries.c.id)).scalar_one()
    db.execute(
        update(sessions).where(sessions.c.id == session_id).values(cursor=turn_id, summary=made)
    )
    return True


def summary_of(db: Connection, session_id: str) -> str:
    """What is told of the turns before the dialog's cursor; '' when there is nothing."""
    statement = (
        select(summaries.c.text)
        .join(sessions, sessions.c.summary == summaries.c.id)
        .where(sessions.c.id == session_id, sessions.c.cursor == summaries.c.turn_id)
    )
    return db.scalar(statement) or ""
