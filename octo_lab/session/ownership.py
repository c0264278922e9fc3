"""Registers this process as one that runs turns, and closes what dead ones left behind."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial

import anyio
import anyio.to_thread
from sqlalchemy import Connection

from octo_lab.core.errors import StorageError
from octo_lab.storage.database import Database
from octo_lab.storage.owners import (
    HEARTBEAT_SECONDS,
    heartbeat,
    reclaim,
    register_owner,
    remove_owner,
    this_process,
)

logger = logging.getLogger(__name__)


@asynccontextmanager
async def registered(database: Database) -> AsyncGenerator[str]:
    """This process, registered as an owner of turns; those of dead owners are closed."""
    owner = await anyio.to_thread.run_sync(this_process)

    def enter(db: Connection) -> list[str]:
        register_owner(db, owner)
        return reclaim(db)

    for turn_id in await database.run(enter):
        logger.info("turn %s was interrupted by the end of its process", turn_id)
    try:
        yield owner.id
    finally:
        with anyio.CancelScope(shield=True):
            await _forgotten(database, owner.id)


async def _forgotten(database: Database, owner_id: str) -> None:
    try:
        await database.run(partial(remove_owner, owner_id=owner_id))
    except StorageError as exc:
        logger.warning("the owner of this process stays registered: %s", exc)


async def stay_alive(database: Database, owner_id: str) -> None:
    """Tell other kernels that this one lives, and close what dead ones left behind."""

    def beat(db: Connection) -> None:
        heartbeat(db, owner_id)
        reclaim(db)

    while True:
        await anyio.sleep(HEARTBEAT_SECONDS)
        try:
            await database.run(beat)
        except StorageError as exc:
            logger.warning("no heartbeat: %s", exc)
