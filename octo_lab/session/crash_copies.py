"""About once a second stores what is visible of running turns and in no step yet."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import partial

import anyio

from octo_lab.core.errors import SessionMoved, StorageError
from octo_lab.session.parts import RunningTurn
from octo_lab.storage.database import Database
from octo_lab.storage.turns import save_partial

SECONDS = 1.0

logger = logging.getLogger(__name__)


async def keep_crash_copies(
    database: Database, owner: str, running: Callable[[], Iterable[RunningTurn]]
) -> None:
    """Keep them until cancelled, should the process die. One task does it for all turns."""
    kept: dict[str, str] = {}
    while True:
        await anyio.sleep(SECONDS)
        texts = {turn.row.id: _sure(turn) for turn in running()}
        for turn_id, text in texts.items():
            if text != kept.get(turn_id, ""):
                await _keep(database, owner, turn_id, text)
        kept = texts


def _sure(turn: RunningTurn) -> str:
    """What is visible, but for an end that may be the beginning of a secret."""
    return turn.mask.in_pieces().feed(turn.transcript.partial)


async def _keep(database: Database, owner: str, turn_id: str, text: str) -> None:
    try:
        await database.run(partial(save_partial, turn_id=turn_id, owner=owner, text=text))
    except SessionMoved:
        pass  # it ended meanwhile
    except StorageError as exc:
        logger.warning("the crash copy of turn %s was not stored: %s", turn_id, exc)
