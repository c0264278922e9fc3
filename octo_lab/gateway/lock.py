"""One gateway owns a data folder: an advisory lock that ends with its process."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from octo_lab.core.errors import StorageError

FILE_NAME = "gateway.lock"
TRIES = 5  # someone may be looking whether it is held


@contextmanager
def sole_gateway(folder: Path) -> Iterator[None]:
    """Own ``folder`` while inside; raises StorageError naming the process that owns it."""
    descriptor = _open(folder)
    try:
        _lock(descriptor, folder)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def gateway_pid(folder: Path) -> int | None:
    """The process whose gateway owns ``folder``, if one does; 0 when it has not said so yet."""
    try:
        descriptor = os.open(folder / FILE_NAME, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return None if _lockable(descriptor, fcntl.LOCK_SH) else _pid(descriptor)
    finally:
        os.close(descriptor)


def _open(folder: Path) -> int:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(folder / FILE_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as exc:
        raise StorageError(
            f"The data folder {str(folder)!r} cannot be used: {exc.strerror}",
            hint="make it writable, or set OCTO_HOME to another folder",
        ) from exc


def _lock(descriptor: int, folder: Path) -> None:
    for _ in range(TRIES):
        if _lockable(descriptor, fcntl.LOCK_EX):
            return
        time.sleep(0.05)
    pid = _pid(descriptor)
    raise StorageError(
        f"A gateway already runs on {str(folder)!r}, in process {pid}",
        hint=f"talk to it with 'octo run' or 'octo chat', or stop it with 'kill {pid}'",
    )


def _lockable(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _pid(descriptor: int) -> int:
    text = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
    return int(text) if text.isdecimal() else 0
