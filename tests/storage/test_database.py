from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, text

from octo_lab.core.errors import StorageError, UsageError
from octo_lab.core.keys import ChatAddress
from octo_lab.storage.database import Database, open_database
from octo_lab.storage.partial_indexes import metadata
from octo_lab.storage.schema import REVISION
from octo_lab.storage.sessions import create_session, list_sessions

pytestmark = pytest.mark.anyio

CHAT = ChatAddress(channel="notebook", chat_id="a.ipynb")


async def refused(location: Path | str) -> StorageError:
    with pytest.raises(StorageError) as raised:
        async with open_database(location):
            pass
    return raised.value


async def pragma(database: Database, name: str) -> object:
    return await database.run(lambda db: db.exec_driver_sql(f"PRAGMA {name}").scalar())


async def test_the_migrations_make_exactly_the_tables_of_the_schema(database: Database) -> None:
    def differences(db: Connection) -> list[object]:
        context = MigrationContext.configure(db, opts={"compare_type": True})
        return list(compare_metadata(context, metadata))

    assert await database.read(differences) == []
    revision = text("SELECT version_num FROM alembic_version")
    assert await database.read(lambda db: db.scalar(revision)) == REVISION


async def test_what_was_stored_is_there_when_opened_again(
    location: Path | str, database: Database
) -> None:
    session = await database.run(partial(create_session, address=CHAT))
    async with open_database(location) as again:
        assert await again.read(partial(list_sessions, address=CHAT)) == [session]


async def test_a_call_that_fails_leaves_nothing(database: Database) -> None:
    def store(db: Connection) -> None:
        create_session(db, CHAT)
        raise UsageError("no")

    with pytest.raises(UsageError, match="no"):
        await database.run(store)

    assert await database.read(partial(list_sessions, address=CHAT)) == []


async def test_a_reader_cannot_write(database: Database) -> None:
    with pytest.raises(StorageError):
        await database.read(partial(create_session, address=CHAT))
    assert await database.read(partial(list_sessions, address=CHAT)) == []


async def test_a_reader_does_not_wait_for_a_writer(database: Database) -> None:
    started, ended = anyio.Event(), anyio.Event()

    def write_slowly(db: Connection) -> None:
        create_session(db, CHAT)
        anyio.from_thread.run_sync(started.set)
        anyio.from_thread.run(ended.wait)

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(database.run, write_slowly)
            await started.wait()
            assert await database.read(partial(list_sessions, address=CHAT)) == []
            ended.set()


async def test_a_call_under_way_is_finished_when_its_caller_is_cancelled(
    database: Database,
) -> None:
    started = anyio.Event()

    def write(db: Connection) -> None:
        anyio.from_thread.run_sync(started.set)
        create_session(db, CHAT)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(database.run, write)
        await started.wait()
        tasks.cancel_scope.cancel()

    assert len(await database.read(partial(list_sessions, address=CHAT))) == 1


async def test_a_new_file_is_private_and_tuned_for_one_writer_and_many_readers(
    tmp_path: Path,
) -> None:
    path = tmp_path / "new" / "octo.db"
    async with open_database(path) as database:
        assert await pragma(database, "journal_mode") == "wal"
        assert await pragma(database, "foreign_keys") == 1
        assert await pragma(database, "synchronous") == 1
        assert await pragma(database, "busy_timeout") == 5000
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


async def test_without_wal_the_rollback_journal_is_used(tmp_path: Path) -> None:
    """SQLite's layer for file systems without locks and shared memory stands in for one."""
    url = f"sqlite:///{tmp_path}/octo.db?vfs=unix-dotfile"
    async with open_database(url) as database:
        assert await pragma(database, "journal_mode") == "delete"
        assert await pragma(database, "synchronous") == 2
        await database.run(partial(create_session, address=CHAT))
        assert len(await database.read(partial(list_sessions, address=CHAT))) == 1


def _garbage(path: Path) -> None:
    path.write_bytes(b"this is no database" * 1000)


def _torn(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.executemany("INSERT INTO t VALUES (?)", [("x" * 500,)] * 100)
        connection.commit()
    data = path.read_bytes()
    path.write_bytes(data[:100] + b"\xff" * (len(data) - 100))


def _foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE theirs (x)")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            _garbage,
            "Database {path!r} is not a database"
            " (move it away, or set OCTO_HOME to another folder)",
        ),
        (
            _torn,
            "Database {path!r} is damaged"
            " (it was left as it is: restore a backup, or move it away to start anew)",
        ),
        (
            _foreign,
            "{path!r} is a database of another program"
            " (it was left as it is: move it away, or set OCTO_HOME to another folder)",
        ),
    ],
)
async def test_a_file_that_cannot_be_used_is_named_and_left_as_it_is(
    tmp_path: Path, make: Callable[[Path], None], message: str
) -> None:
    path = tmp_path / "octo.db"
    make(path)
    before = path.read_bytes()

    assert str(await refused(path)) == message.format(path=str(path))

    assert str(await refused(f"sqlite:///{path}")) == message.format(path=str(path))
    assert path.read_bytes() == before


async def test_a_database_of_a_newer_version_is_refused_and_left_as_it_is(
    database: Database, location: Path | str
) -> None:
    set_revision = text("UPDATE alembic_version SET version_num = :revision")
    await database.run(lambda db: db.execute(set_revision, {"revision": "9999"}))
    try:
        error = await refused(location)
    finally:
        await database.run(lambda db: db.execute(set_revision, {"revision": REVISION}))

    assert "was written by a newer octo_lab (schema 9999, this one knows 0008)" in error.message
    assert error.hint == "upgrade octo_lab, or set OCTO_HOME to another folder"


async def test_damage_found_later_is_named(tmp_path: Path) -> None:
    path = tmp_path / "octo.db"
    async with open_database(path) as database:
        for _ in range(300):
            await database.run(partial(create_session, address=CHAT, title="t" * 200))
    data, sound = path.read_bytes(), 40 * 4096
    path.write_bytes(data[:sound] + b"\xff" * (len(data) - sound))
    async with open_database(path) as database:
        with pytest.raises(StorageError, match="is damaged"):
            await database.read(partial(list_sessions, address=CHAT))


async def test_a_full_disk_is_named_and_what_was_stored_stays(tmp_path: Path) -> None:
    async with open_database(tmp_path / "octo.db") as database:
        kept = await database.run(partial(create_session, address=CHAT, title="kept"))
        pages = await pragma(database, "page_count")
        await pragma(database, f"max_page_count = {pages}")

        with pytest.raises(StorageError, match="has no room: the disk is full"):
            await database.run(partial(create_session, address=CHAT, title="x" * 100_000))

        assert await database.read(partial(list_sessions, address=CHAT)) == [kept]
        await pragma(database, "max_page_count = 100000")
        await database.run(partial(create_session, address=CHAT, title="x" * 100_000))


async def test_a_kernel_that_writes_for_too_long_is_named(tmp_path: Path) -> None:
    async with open_database(tmp_path / "octo.db") as database:
        await pragma(database, "busy_timeout = 50")
        with closing(sqlite3.connect(tmp_path / "octo.db")) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StorageError, match="is busy: another kernel has been writing"):
                await database.run(partial(create_session, address=CHAT))
            other.rollback()
        await database.run(partial(create_session, address=CHAT))


async def test_alembic_is_loaded_only_when_there_is_something_to_migrate(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
import anyio
from octo_lab.storage.database import open_database

async def main():
    async with open_database(Path(sys.argv[1])):
        print("alembic" in sys.modules)

anyio.run(main)
"""
    command = [sys.executable, "-c", code, str(tmp_path / "octo.db")]
    said = [(await anyio.run_process(command)).stdout.strip() for _ in range(2)]
    assert said == [b"True", b"False"]


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "octo.db"

    error = await refused(path)

    assert error.message in (
        f"Cannot write {str(path)!r}: Not a directory",
        f"Cannot write {str(path)!r}: File exists",
    )
    assert error.hint == "set OCTO_HOME to a folder you can write to"


# Permissions do not count for root: the script gives that up once everything is imported.
_OPEN_AS_SOMEBODY = """
import os, sys
from pathlib import Path
import anyio
from octo_lab.core.errors import StorageError
from octo_lab.storage.database import open_database

async def main():
    if os.geteuid() == 0:
        os.setuid(65534)
    async with open_database(Path(sys.argv[1])):
        print("opened")

try:
    anyio.run(main)
except StorageError as exc:
    print(exc)
"""


def opened_as_somebody(path: Path) -> str:
    command = [sys.executable, "-c", _OPEN_AS_SOMEBODY, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.strip()


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that another user can reach, unlike the usual temporary ones."""
    with tempfile.TemporaryDirectory(prefix="octo-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


async def test_a_folder_that_cannot_be_written_is_named(shared: Path) -> None:
    (shared / "locked").mkdir(mode=0o555)
    path = shared / "locked" / "octo.db"

    said = await anyio.to_thread.run_sync(opened_as_somebody, path)

    hint = "set OCTO_HOME to a folder you can write to"
    assert said == f"Cannot write {str(path)!r}: Permission denied ({hint})"


async def test_a_file_that_may_not_be_written_is_named(shared: Path) -> None:
    path = shared / "octo.db"
    async with open_database(path):
        pass
    path.chmod(0o444)

    said = await anyio.to_thread.run_sync(opened_as_somebody, path)

    hint = "set OCTO_HOME to a folder you can write to"
    assert said == f"Cannot write {str(path)!r}: Permission denied ({hint})"


async def test_a_file_in_a_folder_that_may_not_be_written_is_named(shared: Path) -> None:
    folder = shared / "data"
    async with open_database(folder / "octo.db"):
        pass
    (folder / "octo.db").chmod(0o666)
    folder.chmod(0o555)

    said = await anyio.to_thread.run_sync(opened_as_somebody, folder / "octo.db")

    assert said.startswith(f"Database {str(folder / 'octo.db')!r} cannot be ")
    assert "OCTO_HOME" in said


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://h/x", "No storage for 'mysql' databases"),
        ("sqlite://", "A database in memory keeps nothing"),
        ("postgresql://me:pa55word@", "pa55word"),
    ],
)
async def test_a_url_that_cannot_be_used_is_refused_without_its_password(
    url: str, message: str
) -> None:
    error = await refused(url)
    if message == "pa55word":
        assert message not in str(error)
    else:
        assert error.message == message


async def test_a_server_that_does_not_answer_is_named_without_the_password() -> None:
    error = await refused("postgresql://me:pa55word@127.0.0.1:1/x?connect_timeout=2")
    assert error.message.startswith("Database 'postgresql+psycopg://me:***@127.0.0.1:1/x")
    assert "pa55word" not in str(error)
    assert error.hint == "check that the server runs and that the URL names it"
