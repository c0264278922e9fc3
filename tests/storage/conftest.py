from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

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


@pytest.fixture
def emptied_afterwards(location: Path | str) -> Iterator[None]:
    """A server is shared by the tests; it has no tables before the first of them and after."""
    yield
    if isinstance(location, str):
        url = location.replace("postgresql:", "postgresql+psycopg:")
        engine = create_engine(url)
        with engine.begin() as db:
            db.execute(text("DROP SCHEMA public CASCADE"))
            db.execute(text("CREATE SCHEMA public"))
        engine.dispose()


@pytest.fixture
async def database(
    location: Path | str, tmp_path: Path, emptied_afterwards: None
) -> AsyncGenerator[Database]:
    async with open_database(location, media=tmp_path / "media") as database:
        yield database


@pytest.fixture
async def owner(database: Database) -> Owner:
    """This process, registered."""
    return await database.run(register_process)
