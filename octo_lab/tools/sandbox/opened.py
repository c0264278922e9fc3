"""Sees which private files of a workspace programs open, or give another name.

Linux tells of it (inotify); elsewhere, and deeper than two folders, nothing is seen.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path

from octo_lab.security.private_names import PrivateNames
from octo_lab.tools.exec_env import Lookout
from octo_lab.tools.sandbox.folders import Folders

_OPEN, _MOVED, _LINKED, _FOLDER = 0x20, 0x840, 0x4, 0x4000_0000
_WATCHED = _OPEN | _MOVED | _LINKED
_EVENT = struct.Struct("iIII")
_PIECE = 65_536
_MOST = 200


class PrivateFiles:
    """Finds them by their names; what is known of folders is kept from one look to the next."""

    def __init__(self, names: PrivateNames) -> None:
        self.names = names
        self._folders = Folders(partial(_likely, names))

    def find(self, workspace: Path) -> Iterator[tuple[str, Path]]:
        """Files and folders, with their paths seen from the workspace."""
        for folder, found in self._folders.walk(workspace):
            for name in found:
                relative = str((folder / name).relative_to(workspace))
                if self.names.in_text(relative):
                    yield relative, folder / name


@lru_cache(maxsize=4)
def private_files(names: PrivateNames) -> PrivateFiles:
    """The same for the same names, so that it knows the folders the next time."""
    return PrivateFiles(names)


def _likely(names: PrivateNames, found: Iterable[str]) -> frozenset[str]:
    """Those that may be private, as far as a name alone tells; of most folders none."""
    ends = [one.rstrip("/").rpartition("/")[2].lower() for one in names.paths if "/" in one]
    found = list(found)
    if not ends and not names.in_text("\n".join(found)):
        return frozenset()
    return frozenset(
        name
        for name in found
        if names.in_text(name) or any(fnmatchcase(name.lower(), end) for end in ends)
    )


class Openings:
    """Tells ``opened`` of each of the files once; ``descriptor`` is readable when one was."""

    def __init__(self, descriptor: int, opened: Callable[[str], None]) -> None:
        self.descriptor = descriptor
        self._opened = opened
        self._files: dict[int, str] = {}

    def watch(self, name: str, path: Path) -> None:
        number = _LIBC.inotify_add_watch(self.descriptor, os.fsencode(path), _WATCHED)
        if number >= 0:
            self._files[number] = name

    def tell(self) -> None:
        for number in self._news():
            if name := self._files.pop(number, ""):
                self._opened(name)

    def _news(self) -> Iterator[int]:
        """The numbers of what was opened; to list a folder is not to read what is in it."""
        try:
            data = os.read(self.descriptor, _PIECE)
        except BlockingIOError:
            return
        at = 0
        while at < len(data):
            number, mask, _, size = _EVENT.unpack_from(data, at)
            at += _EVENT.size + size
            if mask & _MOVED or (mask & _WATCHED and not mask & _FOLDER):
                yield number


_LIBC = ctypes.CDLL(None)


@contextmanager
def looking_out(lookout: Lookout | None, workspace: Path) -> Iterator[Openings | None]:
    """Reads folders at its start; gives None where nothing is to be seen, or can be."""
    files = private_files(lookout.names).find(workspace) if lookout else ()
    found = list(islice(files, _MOST))
    if lookout is None or not found or not hasattr(_LIBC, "inotify_init1"):
        yield None
        return
    descriptor = _LIBC.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if descriptor < 0:
        yield None
        return
    openings = Openings(descriptor, lookout.opened)
    try:
        for name, path in found:
            openings.watch(name, path)
        yield openings
        openings.tell()
    finally:
        os.close(descriptor)
