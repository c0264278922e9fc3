"""Keeps what a turn changed in files, so that it can be taken back."""

from __future__ import annotations

import logging
from functools import partial

from octo_lab.core.errors import OctoError
from octo_lab.core.events import Noticed
from octo_lab.security.redact import redact
from octo_lab.session.parts import RunningTurn
from octo_lab.storage.changes import FileChange, store_changes
from octo_lab.storage.database import Database

logger = logging.getLogger(__name__)


async def keep_changes(database: Database, turn: RunningTurn) -> None:
    """Store what is new; a failure is told in the turn and does not end it."""
    files, unknown = turn.changes.unstored()
    if not files and not unknown:
        return
    kept = [
        FileChange(
            path=change.path,
            before=change.before,
            after=change.after,
            mode=change.mode,
            made=change.made,
        )
        for change in files
    ]
    try:
        await database.run(
            partial(
                store_changes,
                turn_id=turn.row.id,
                changes=kept,
                unknown=[redact(what) for what in unknown],
            )
        )
    except OctoError as exc:
        logger.warning("changes of turn %s were not kept: %s", turn.row.id, exc)
        turn.controller.emit(Noticed(f"What it changed in files cannot be undone: {exc}"))
    turn.changes.stored(len(files), len(unknown))
