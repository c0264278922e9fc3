"""One SQLite file: made private, checked to be ours, put into WAL mode, connected to."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from octo_lab.core.errors import StorageError

APPLICATION_ID = 0x6F63746F  # "octo", where SQLite keeps whose file it is
BUSY_SECONDS = 5.0
_OTHER_FOLDER = "set OCTO_HOME to a folder you can write to"


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteFile:
    """Where the file is. ``vfs`` chooses SQLite's file layer, ``""`` the system's usual one."""

    path: Path
    vfs: str = ""

    def connect(self, *pragmas: str) -> sqlite3.Connection:
        uri = f"file:{quote(str(self.path.absolute()))}?mode=rw"
        connection = sqlite3.connect(
            f"{uri}&vfs={self.vfs}" if self.vfs else uri,
            uri=True,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")
        return connection

    def prepare(self) -> str:
        """Make the file usable and say its journal mode; raises StorageError or sqlite3.Error."""
        self._create()
        with closing(self.connect()) as connection:
            self._check_owner(connection)
            mode = _write_ahead(connection)
            # Fails here, with its reason, rather than in the middle of the first turn.
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
            return mode

    def _create(self) -> None:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        except OSError as exc:
            raise StorageError(
                f"Cannot write {str(self.path)!r}: {exc.strerror}", hint=_OTHER_FOLDER
            ) from exc

    def _check_owner(self, connection: sqlite3.Connection) -> None:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables and application != APPLICATION_ID:
            raise StorageError(
                f"{str(self.path)!r} is a database of another program",
                hint="it was left as it is: move it away, or set OCTO_HOME to another folder",
            )


def _write_ahead(connection: sqlite3.Connection) -> str:
    """Switch to WAL, or keep the rollback journal where the file system has no shared memory."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as exc:
            # SQLite does not wait here by itself when two processes switch at once.
            if not exc.sqlite_errorname.startswith("SQLITE_BUSY"):
                (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
                return str(mode)
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return str(mode)
