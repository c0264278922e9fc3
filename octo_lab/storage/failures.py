"""What the database says, in words a person can act on."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import OperationalError, SQLAlchemyError

from octo_lab.core.errors import StorageError

# The first prefix of SQLite's error name that fits decides.
_SQLITE = (
    ("SQLITE_NOTADB", "is not a database", "move it away, or set OCTO_HOME to another folder"),
    (
        "SQLITE_CORRUPT",
        "is damaged",
        "it was left as it is: restore a backup, or move it away to start anew",
    ),
    (
        "SQLITE_BUSY",
        "is busy: another kernel has been writing for 5 seconds",
        "try again, or stop that kernel",
    ),
    ("SQLITE_LOCKED", "is busy", "try again"),
    (
        "SQLITE_READONLY",
        "cannot be written",
        "allow writing to it and its folder, or set OCTO_HOME to another folder",
    ),
    (
        "SQLITE_CANTOPEN",
        "cannot be opened",
        "check the folder's permissions, or set OCTO_HOME to another folder",
    ),
    ("SQLITE_FULL", "has no room: the disk is full", "free some space and try again"),
    ("SQLITE_IOERR", "cannot be read or written", "is the disk that holds it full, or failing?"),
)
_TRY_AGAIN = "try again; if it persists, run `octo status`"
_SERVER = "check that the server runs and that the URL names it"


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Turn every error of a driver into a StorageError about ``where``."""
    try:
        yield
    except sqlite3.Error as exc:
        raise _sqlite_failure(where, exc) from exc
    except SQLAlchemyError as exc:
        raise _failure(where, exc) from exc


def _failure(where: str, exc: SQLAlchemyError) -> StorageError:
    cause = getattr(exc, "orig", None)
    if isinstance(cause, sqlite3.Error):
        return _sqlite_failure(where, cause)
    reason = str(cause or exc).strip().splitlines()[0]
    hint = _SERVER if isinstance(exc, OperationalError) else _TRY_AGAIN
    return StorageError(f"Database {where!r} failed: {reason}", hint=hint)


def _sqlite_failure(where: str, exc: sqlite3.Error) -> StorageError:
    name = getattr(exc, "sqlite_errorname", "")
    for prefix, trouble, hint in _SQLITE:
        if name.startswith(prefix):
            return StorageError(f"Database {where!r} {trouble}", hint=hint)
    return StorageError(f"Database {where!r} failed: {exc}", hint=_TRY_AGAIN)
