"""Opens what lies in an open folder, following no link, and says in words why it cannot."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from octo_lab.core.errors import ToolFailed

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a pipe that nobody writes would wait for ever.
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_REASONS = {
    errno.ENOENT: "does not exist",
    errno.ENOTDIR: "is not a folder",
    errno.EACCES: "may not be {done}",
    errno.EPERM: "may not be {done}",
    errno.ENAMETOOLONG: "is too long for a path",
}


def open_in(name: str, flags: int, folder: int, path: str) -> int:
    """A descriptor of ``name`` in ``folder``; ``path`` is what the model called it."""
    with explained(path):
        try:
            return os.open(name, flags, dir_fd=folder)
        except OSError:
            _refuse_link(name, folder, path)
            raise


def _refuse_link(name: str, folder: int, path: str) -> None:
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError:
        return
    if stat.S_ISLNK(mode):
        where = repr(path) if name == path else f"{name!r} in {path!r}"
        raise ToolFailed(f"{where} is a symbolic link", hint="links are not followed") from None


def regular(descriptor: int, path: str) -> BinaryIO:
    """The open file, if it is an ordinary one."""
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise ToolFailed(f"{path!r} is a folder", hint="list it instead")
    raise ToolFailed(f"{path!r} is no regular file")


@contextmanager
def explained(path: str, done: str = "read") -> Iterator[None]:
    """Turns the system's errors into ToolFailed: what cannot be ``done`` to ``path``, and why."""
    try:
        yield
    except OSError as exc:
        reason = _REASONS.get(exc.errno or 0, "cannot be {done}: {why}")
        reason = reason.format(done=done, why=exc.strerror)
        raise ToolFailed(f"{path!r} {reason}") from exc
    except UnicodeEncodeError as exc:
        raise ToolFailed(f"{path!r} is no path") from exc
