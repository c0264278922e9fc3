"""What turns changed in files: rows, and the files' bytes beside the database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from sqlalchemy import Connection, Row, delete, func, insert, literal_column, or_, select, update

from octo_lab.storage.media import forget_blobs, keep_blob
from octo_lab.storage.schema import file_changes as table
from octo_lab.storage.schema import sessions, turns

LIMIT = 200_000_000
"""Bytes of files that are kept; the oldest turns' go first."""

_PLAIN = "".join(map(chr, range(0x20, 0x7F))).replace("%", "")
_NEWEST = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One file as a turn found and left it; ``made`` folders were made for it."""

    path: str
    before: bytes | None
    after: bytes | None
    mode: int
    made: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredChange:
    """A kept change: ``before`` and ``after`` name blobs, "" where there is no file.

    With ``what`` instead of a path it is something that nobody can take back.
    """

    id: int
    turn_id: str
    path: str
    before: str
    after: str
    mode: int
    made: int
    undone: bool
    what: str


def store_changes(
    db: Connection,
    turn_id: str,
    changes: Sequence[FileChange],
    unknown: Sequence[str],
    *,
    limit: int = LIMIT,
) -> None:
    """Keep what a turn changed, and no more than ``limit`` bytes of all turns."""
    rows = [_row(db, turn_id, change) for change in changes]
    rows += [{**_NOTHING, "turn_id": turn_id, "what": what} for what in unknown]
    if rows:
        db.execute(insert(table), rows)
    if changes:
        _forget_oldest(db, limit)


def keep_change(db: Connection, turn_id: str, change: FileChange) -> int:
    """Keep one change, which may not have happened yet; gives its number."""
    done = db.execute(insert(table), _row(db, turn_id, change))
    _forget_oldest(db, LIMIT)
    (number,) = done.inserted_primary_key or (0,)
    return int(number)


def drop_change(db: Connection, number: int) -> None:
    """Forget one change: it did not happen."""
    found = select(table.c.before, table.c.after).where(table.c.id == number)
    names = [name for row in db.execute(found) for name in row]
    db.execute(delete(table).where(table.c.id == number))
    forget_blobs(db, names)


_NOTHING: dict[str, Any] = {
    "path": "",
    "before": "",
    "after": "",
    "mode": 0,
    "made": 0,
    "size": 0,
    "undone": False,
    "what": "",
}


def _row(db: Connection, turn_id: str, change: FileChange) -> dict[str, Any]:
    before, after = change.before, change.after
    return {
        **_NOTHING,
        "turn_id": turn_id,
        "path": quote(change.path, safe=_PLAIN, errors="surrogateescape"),
        "before": "" if before is None else keep_blob(db, before),
        "after": "" if after is None else keep_blob(db, after),
        "mode": change.mode,
        "made": change.made,
        "size": len(before or b"") + len(after or b""),
    }


def changes_of(db: Connection, session_id: str) -> list[StoredChange]:
    """What the turns of a dialog changed, in the order in which they did: also turns that others
    took the place of, and those that it has in common with the one it branched off.
    """
    head = select(sessions.c.head).where(sessions.c.id == session_id).scalar_subquery()
    newest = (
        select(turns.c.id, turns.c.parent, literal_column("1").label("place"))
        .where(turns.c.id == head)
        .cte("path", recursive=True)
    )
    older = (
        select(turns.c.id, turns.c.parent, newest.c.place + 1)
        .join(newest, turns.c.id == newest.c.parent)
        .where(newest.c.place < _NEWEST)
    )
    path = newest.union_all(older)
    own = or_(turns.c.session_id == session_id, turns.c.id.in_(select(path.c.id)))
    found = select(table).join(turns, table.c.turn_id == turns.c.id).where(own)
    return [_stored(row) for row in db.execute(found.order_by(table.c.id))]


def mark_undone(db: Connection, ids: Iterable[int], undone: bool) -> None:
    """These changes were taken back, or made again."""
    db.execute(update(table).where(table.c.id.in_(list(ids))).values(undone=undone))


def blobs_of(db: Connection, turn_id: str) -> list[str]:
    """The names of the blobs that the changes of a turn hold."""
    found = select(table.c.before, table.c.after).where(table.c.turn_id == turn_id)
    return [name for row in db.execute(found) for name in row]


def _forget_oldest(db: Connection, limit: int) -> None:
    """Whole turns, so that what can be taken back is never half of one; the newest stays."""
    used = func.sum(table.c.size)
    sizes = select(table.c.turn_id, used).group_by(table.c.turn_id).order_by(func.max(table.c.id))
    found = [(turn, size) for turn, size in db.execute(sizes)]
    left = sum(size for _, size in found)
    names: list[str] = []
    for turn, size in found[:-1]:
        if left <= limit:
            break
        left -= size
        names += blobs_of(db, turn)
        db.execute(delete(table).where(table.c.turn_id == turn))
    forget_blobs(db, names)


def _stored(row: Row[Any]) -> StoredChange:
    return StoredChange(
        id=row.id,
        turn_id=row.turn_id,
        path=unquote(row.path, errors="surrogateescape"),
        before=row.before,
        after=row.after,
        mode=row.mode,
        made=row.made,
        undone=row.undone,
        what=row.what,
    )
