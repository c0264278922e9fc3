"""The database: store functions run in a thread, each in one transaction."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import TypeVar

import anyio.to_thread
from anyio import CancelScope, CapacityLimiter
from sqlalchemy import Connection, Engine

from octo_lab.storage.alone import alone
from octo_lab.storage.engines import Engines, make_engines, sqlite_path
from octo_lab.storage.failures import translated
from octo_lab.storage.migrate import ensure_schema

T = TypeVar("T")


class Database:
    """Runs functions over a connection. All methods raise StorageError.

    A call that has begun is finished even if its caller is cancelled, so that what is stored is
    always known; a call that still waits for its turn is dropped.
    """

    def __init__(self, engines: Engines) -> None:
        self._engines = engines
        self._writers = CapacityLimiter(engines.writers)
        self._readers = CapacityLimiter(engines.readers)

    @property
    def where(self) -> str:
        """The file or server, fit to be shown."""
        return self._engines.where

    async def run(self, store: Callable[[Connection], T]) -> T:
        """Run ``store`` in a transaction of its own; on any exception nothing of it remains."""
        return await self._transact(self._engines.writer, self._writers, store)

    async def read(self, store: Callable[[Connection], T]) -> T:
        """Run ``store``, which only reads, over one consistent view; never waits for a writer."""
        return await self._transact(self._engines.reader, self._readers, store)

    async def _transact(
        self, engine: Engine, limiter: CapacityLimiter, store: Callable[[Connection], T]
    ) -> T:
        def transact() -> T:
            with translated(self.where), engine.begin() as connection:
                return store(connection)

        return await anyio.to_thread.run_sync(transact, limiter=limiter)


@asynccontextmanager
async def open_database(
    location: Path | str, *, media: Path | None = None
) -> AsyncGenerator[Database]:
    """Open the file, or the ``sqlite://`` or ``postgresql://`` URL; make or upgrade its schema.

    ``media`` is the folder for pictures and files; a SQLite file has one beside it by default.
    Raises StorageError; a file that cannot be used is left as it is.
    """
    engines = await anyio.to_thread.run_sync(_open, location, media)
    try:
        yield Database(engines)
    finally:
        with CancelScope(shield=True):
            await anyio.to_thread.run_sync(engines.dispose)


def _open(location: Path | str, media: Path | None) -> Engines:
    """A server has locks of its own."""
    file = sqlite_path(location)
    with alone(file) if file else nullcontext():
        return _opened(location, media)


def _opened(location: Path | str, media: Path | None) -> Engines:
    engines = make_engines(location, media)
    try:
        with translated(engines.where):
            ensure_schema(engines.writer, engines.where)
    except BaseException:
        engines.dispose()
        raise
    return engines
