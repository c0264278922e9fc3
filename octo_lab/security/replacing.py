"""Replaces one file of an open folder as a whole: the old one or the new one, never half of it.

The new bytes go to a temporary file beside the old one, onto the disk, and take its name; a link
of that name is never written through.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from secrets import token_hex

from octo_lab.core.errors import ToolFailed

LARGEST = 10_000_000
"""Bytes of a file that may be replaced: more could not be kept to be taken back."""

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PATIENCE = 10.0
_PAUSE = 0.01


class Moved(Exception):
    """The file is not what it was when the change was made for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A file as it is; ``data`` and ``mode`` are None where there is none."""

    data: bytes | None = field(default=None, repr=False)
    mode: int | None = None


def look(folder: int, name: str, path: str) -> Found:
    """The regular file ``name``; raises ToolFailed when it is anything else, OSError otherwise."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return Found()
    _check_regular(found.st_mode, path)
    descriptor = os.open(name, _READ, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as file:
        mode = os.fstat(descriptor).st_mode
        _check_regular(mode, path)
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise ToolFailed(
            f"{path!r} has more than {LARGEST // 1_000_000} MB and stays as it is",
            hint="a change of it could not be undone; write another file",
        )
    return Found(data=data, mode=stat.S_IMODE(mode))


def replaced(
    folder: int,
    name: str,
    path: str,
    *,
    expected: Found,
    data: bytes | None,
    mode: int | None,
    ahead: Callable[[int | None], object],
) -> int | None:
    """Let ``name`` hold ``data``, None: let it be gone; gives the permissions it has then.

    ``mode`` are those to give, None for those it had. ``ahead`` is told them when nothing is left
    to do but the change itself. Raises Moved when the file is not as ``expected`` any more,
    ToolFailed when it may not be replaced, and OSError.
    """
    with _locked(folder, path):
        _check_unmoved(folder, name, path, expected)
        if data is None:
            ahead(None)
            os.unlink(name, dir_fd=folder)
            given = None
        else:
            given = _put(folder, name, data, expected.mode if mode is None else mode, ahead)
        _settle(folder)
    return given


def _put(
    folder: int, name: str, data: bytes, mode: int | None, ahead: Callable[[int | None], object]
) -> int:
    temporary = f".octo-{token_hex(8)}.tmp"
    try:
        given = _write(folder, temporary, data, mode)
        ahead(given)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        raise
    return given


def _check_regular(mode: int, path: str) -> None:
    if stat.S_ISLNK(mode):
        raise ToolFailed(f"{path!r} is a symbolic link", hint="links are not followed")
    if stat.S_ISDIR(mode):
        raise ToolFailed(f"{path!r} is a folder", hint="name a file")
    if not stat.S_ISREG(mode):
        raise ToolFailed(f"{path!r} is no regular file")


def _check_unmoved(folder: int, name: str, path: str, expected: Found) -> None:
    found = look(folder, name, path)
    if found.data != expected.data:
        raise Moved
    if found.mode is not None and not found.mode & 0o222:
        raise ToolFailed(f"{path!r} is read-only", hint="ask the owner, or write another file")


def _write(folder: int, name: str, data: bytes, mode: int | None) -> int:
    """A new file, on the disk; without ``mode`` with the permissions every new file gets."""
    descriptor = os.open(name, _NEW, 0o666 if mode is None else 0o600, dir_fd=folder)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        if mode is not None:
            os.fchmod(descriptor, mode & 0o777)
        os.fsync(descriptor)
        return stat.S_IMODE(os.fstat(descriptor).st_mode)


def _settle(folder: int) -> None:
    """The folder's new names onto the disk, where its file system can do that."""
    with suppress(OSError):
        os.fsync(folder)


@contextmanager
def _locked(folder: int, path: str) -> Iterator[None]:
    """One writer per folder, among all processes that work this way; freed by closing it, too."""
    deadline = time.monotonic() + _PATIENCE
    while not _lock(folder):
        if time.monotonic() > deadline:
            raise ToolFailed(f"the folder of {path!r} is locked by another program")
        time.sleep(_PAUSE)
    try:
        yield
    finally:
        with suppress(OSError):
            fcntl.flock(folder, fcntl.LOCK_UN)


def _lock(folder: int) -> bool:
    """Whether nobody else holds it; a file system without locks has one writer by luck."""
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as exc:
        return exc.errno not in (errno.EWOULDBLOCK, errno.EINTR)
    return True
