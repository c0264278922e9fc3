from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy import text

from octo_lab.storage.database import Database, open_database
from octo_lab.storage.owners import Owner, register_process
from tests.storage.postgres import find_binaries, postgresql


@pytest.fixture(scope="session")
def postgresql_url() -> Iterator[str]:
    binaries = find_binaries()
    if binaries is None:
        pytest.skip("PostgreSQL is not installed")
    # Not tmp_path: the server's user must be able to reach it, and its socket name is short.
    with tempfile.TemporaryDirectory(prefix="octo-pg-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        with postgresql(binaries, Path(folder)) as url:
            yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """Where a database may be made, of each kind."""
    if request.param == "sqlite":
        return tmp_path / "octo.db"
    url: str = request.getfixturevalue("postgresql_url")
    return url


@asynccontextmanager
async def emptied(location: Path | str, media: Path) -> AsyncGenerator[Database]:
    async with open_database(location, media=media) as database:
        yield database
        if isinstance(location, str):
            tables = "turns, messages, sessions, current_sessions, owners"
            await database.run(lambda db: db.execute(text(f"TRUNCATE {tables} CASCADE")))


@pytest.fixture
async def database(location: Path | str, tmp_path: Path) -> AsyncGenerator[Database]:
    async with emptied(location, tmp_path / "media") as database:
        yield database


@pytest.fixture
async def owner(database: Database) -> Owner:
    """This process, registered."""
    return await database.run(register_process)
