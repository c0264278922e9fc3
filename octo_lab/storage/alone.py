"""One opens a database file at a time, of all threads and all processes."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from octo_lab.core.errors import StorageError

PATIENCE = 60.0
_PAUSE = 0.02


@contextmanager
def alone(file: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Nobody else is in here with this file; blocks, and raises StorageError after so many seconds.

    Where no lock can be made there is none: the file cannot be used then, which is told when it is
    tried.
    """
    descriptor = _opened(file)
    try:
        _wait(descriptor, file, time.monotonic() + patience)
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _opened(file: Path) -> int | None:
    """The lock lies beside the file: to close that itself would drop the locks SQLite has on it."""
    lock = file.with_name(f".{file.name}.lock")
    try:
        lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        return None


def _wait(descriptor: int | None, file: Path, deadline: float) -> None:
    while descriptor is not None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise _busy(file) from None
            time.sleep(_PAUSE)
        except OSError:  # a file system without such locks
            return
        else:
            return


def _busy(file: Path) -> StorageError:
    return StorageError(
        f"The database {str(file)!r} is being opened by another process for long",
        hint="wait, or end that process",
    )
