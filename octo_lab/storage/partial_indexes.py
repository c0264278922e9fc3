"""Indexes over some rows of a table, apart from it because only migrations need to see them.

To declare one loads the whole PostgreSQL dialect, 20 ms of every start.
"""

from __future__ import annotations

from sqlalchemy import Index, text

from octo_lab.storage.schema import metadata, turns

__all__ = ["metadata"]

_RUNNING = text("state = 'running'")
_SLOTTED = text("slot <> ''")

Index(
    "one_running_turn",
    turns.c.session_id,
    turns.c.side,
    unique=True,
    sqlite_where=_RUNNING,
    postgresql_where=_RUNNING,
)
Index("turns_by_slot", turns.c.slot, sqlite_where=_SLOTTED, postgresql_where=_SLOTTED)
