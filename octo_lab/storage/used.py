"""What the turns of a dialog have used: tokens, money, rounds of calls, calls of each tool."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields

from sqlalchemy import Connection, and_, func, select

from octo_lab.core.messages import Usage
from octo_lab.storage.history import PATH, UNLIMITED
from octo_lab.storage.schema import messages, turns

_NAMES = [each.name for each in fields(Usage)]
_SPENT = select(*(func.sum(turns.c[name]) for name in _NAMES)).join(PATH, turns.c.id == PATH.c.id)
_ROUNDS = (
    select(func.count())
    .select_from(messages)
    .join(PATH, messages.c.turn_id == PATH.c.id)
    .where(and_(messages.c.role == "assistant", messages.c.tool_calls != ""))
)
_CALLS = (
    select(messages.c.tool_name, func.count().label("made"))
    .join(PATH, messages.c.turn_id == PATH.c.id)
    .where(messages.c.role == "tool", messages.c.outcome != "denied")
    .group_by(messages.c.tool_name)
)


def spent_at(db: Connection, head: str) -> Usage:
    """What the conversation had taken by the end of a turn."""
    row = db.execute(_SPENT, _from(head)).one()
    return Usage(**{name: value or 0 for name, value in zip(_NAMES, row, strict=True)})


def calls_at(db: Connection, head: str) -> tuple[int, Counter[str]]:
    """The rounds of calls by the end of a turn, and the calls of each tool that were not denied,
    by the name it was called by.
    """
    calls = Counter({row.tool_name: row.made for row in db.execute(_CALLS, _from(head))})
    return db.scalar(_ROUNDS, _from(head)) or 0, calls


def _from(head: str) -> dict[str, str | int]:
    return {"head": head, "stop": "", "limit": UNLIMITED}
