"""Keeps what a turn changed in files, so that it can be taken back."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from anyio import from_thread
from sqlalchemy import Connection

from octo_lab.core.errors import OctoError
from octo_lab.security.redact import redact
from octo_lab.storage.changes import FileChange, drop_change, keep_change, store_changes
from octo_lab.storage.database import Database
from octo_lab.tools.changes import Change, Changes

TurnId = Callable[[Connection], str]
"""Gives the turn that changes belong to, which may be stored by and by."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnLedger:
    """Satisfies ``Ledger``: each change is a row before the file changes. ``mask`` hides secrets
    in what is only told of.
    """

    database: Database
    turn: TurnId
    mask: Callable[[str], str]

    def keep(self, change: Change) -> int:
        def store(db: Connection) -> int:
            return keep_change(db, self.turn(db), _kept(change))

        try:
            return from_thread.run(self.database.run, store)
        except OctoError as exc:
            logger.warning("the change of %r is not kept yet: %s", change.path, exc)
            return 0

    def drop(self, number: int) -> None:
        """A row too many does no harm: what it tells of is as it was."""
        try:
            from_thread.run(self.database.run, partial(drop_change, number=number))
        except OctoError as exc:
            logger.warning("a change that was not made is still kept: %s", exc)

    async def note(self, what: str) -> bool:
        def store(db: Connection) -> None:
            store_changes(db, self.turn(db), (), (self.mask(what),))

        try:
            await self.database.run(store)
        except OctoError as exc:
            logger.warning("what may change files is not kept yet: %s", exc)
            return False
        return True


async def keep_changes(
    database: Database, turn: TurnId, changes: Changes, mask: Callable[[str], str] = redact
) -> str:
    """Store what is new. It raises nothing: what failed is one line for the person, else ''."""
    files, unknown = changes.unstored()
    if not files and not unknown:
        return ""
    kept = [_kept(change) for change in files]
    said = [mask(what) for what in unknown]

    def store(db: Connection) -> None:
        store_changes(db, turn(db), kept, said)

    try:
        await database.run(store)
    except OctoError as exc:
        logger.warning("changes were not kept: %s", exc)
        return f"What it changed in files cannot be undone: {exc}"
    finally:
        changes.stored(len(files), len(unknown))
    return ""


def _kept(change: Change) -> FileChange:
    return FileChange(
        path=change.path,
        before=change.before,
        after=change.after,
        mode=change.mode,
        made=change.made,
    )
