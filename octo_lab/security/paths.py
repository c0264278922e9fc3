"""The hard boundary: files below one folder, reached without ever following a link out.

Each component is opened relative to the one before it, with O_NOFOLLOW, so that nobody can swap
a folder for a link between a check and a use. All methods are synchronous; call them in a thread.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Literal

from octo_lab.core.errors import ToolFailed

Kind = Literal["file", "folder", "link", "other"]

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a pipe that nobody writes would wait for ever.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_DEEPEST = 64
_REASONS = {
    errno.ENOENT: "does not exist",
    errno.ENOTDIR: "is not a folder",
    errno.EACCES: "may not be read",
    errno.EPERM: "may not be read",
    errno.ENAMETOOLONG: "is too long for a path",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Something in a folder; ``path`` is relative to the root, ``size`` that of a file."""

    path: str
    kind: Kind
    size: int = 0

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Enclosure:
    """Everything below ``root`` but the ``private`` folders (names directly in it, or paths).

    Paths are relative to the root; an absolute one must lie below it. Every method raises
    ToolFailed with a message the model can act on.
    """

    root: Path
    private: tuple[str | Path, ...] = (".octo",)

    def open_file(self, path: str) -> BinaryIO:
        """Open a regular file to read its bytes; the caller closes it."""
        *folders, name = self._parts(path) or [""]
        if not name:
            raise ToolFailed(f"{path!r} is a folder", hint="list it instead")
        with self._folder(folders, path) as folder, _explained(path):
            opened = _open(name, _FILE, folder, path)
            return _regular(opened, path)

    def list_dir(self, path: str = ".") -> list[Entry]:
        """What is in a folder, by name; links are named, not followed."""
        parts = self._parts(path)
        with self._folder(parts, path) as folder:
            return self._entries(folder, parts, path)

    def walk(self, path: str = ".", *, skip: Set[str] = frozenset()) -> Iterator[Entry]:
        """Every file below a folder, depth first, by name; folders named in ``skip`` are left out.

        A folder that vanishes or may not be read meanwhile is passed over; only the first one
        is an error. ``open_file`` accepts each path.
        """
        waiting = [Entry(path="/".join(self._parts(path)) or ".", kind="folder")]
        entries = self.list_dir(path)
        while waiting:
            waiting.pop()
            yield from (entry for entry in entries if entry.kind == "file")
            waiting += [
                entry
                for entry in reversed(entries)
                if entry.kind == "folder" and entry.name not in skip and _shallow(entry.path)
            ]
            entries = self._listed(waiting[-1].path) if waiting else []

    def _listed(self, path: str) -> list[Entry]:
        try:
            return self.list_dir(path)
        except ToolFailed:
            return []

    def _parts(self, path: str) -> list[str]:
        if "\0" in path:
            raise ToolFailed(f"{path!r} is no path")
        pure = PurePosixPath(path)
        if pure.is_absolute():
            pure = self._relative(pure)
        if ".." in pure.parts:
            raise ToolFailed(f"{path!r} leads outside the workspace", hint="do not use '..'")
        return list(pure.parts)

    def _relative(self, path: PurePosixPath) -> PurePosixPath:
        for root in (self.root.absolute(), self.root.resolve()):
            if path.is_relative_to(root):
                return path.relative_to(root)
        raise ToolFailed(
            f"{str(path)!r} is outside the workspace",
            hint="name a path relative to the workspace",
        )

    @contextmanager
    def _folder(self, parts: list[str], path: str) -> Iterator[int]:
        """A descriptor of the folder, closed afterwards."""
        with _explained(path):
            folder = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for part in parts:
                inner = _open(part, _FOLDER, folder, path)
                os.close(folder)
                folder = inner
                if _identity(os.fstat(folder)) in self._secluded():
                    raise ToolFailed(f"{path!r} is private to octo_lab")
            yield folder
        finally:
            os.close(folder)

    def _entries(self, folder: int, parts: list[str], path: str) -> list[Entry]:
        secluded = self._secluded()
        with _explained(path), os.scandir(folder) as found:
            entries = [
                entry for item in found if (entry := _entry(item, parts, secluded)) is not None
            ]
        return sorted(entries, key=lambda entry: entry.path)

    def _secluded(self) -> set[tuple[int, int]]:
        """Known by device and inode: some file systems know one name in several spellings."""
        found = set()
        for private in self.private:
            try:
                found.add(_identity((self.root / private).stat()))
            except OSError:
                continue
        return found


def _entry(
    item: os.DirEntry[str], parts: list[str], secluded: set[tuple[int, int]]
) -> Entry | None:
    try:
        status = item.stat(follow_symlinks=False)
    except OSError:
        return None
    if _identity(status) in secluded:
        return None
    kind = _kind(status.st_mode)
    size = status.st_size if kind == "file" else 0
    return Entry(path="/".join((*parts, item.name)), kind=kind, size=size)


def _kind(mode: int) -> Kind:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "other"


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _shallow(path: str) -> bool:
    return path.count("/") < _DEEPEST


def _open(name: str, flags: int, folder: int, path: str) -> int:
    with _explained(path):
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
        raise ToolFailed(
            f"{name!r} in {path!r} is a symbolic link", hint="links are not followed"
        ) from None


def _regular(descriptor: int, path: str) -> BinaryIO:
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise ToolFailed(f"{path!r} is a folder", hint="list it instead")
    raise ToolFailed(f"{path!r} is no regular file")


@contextmanager
def _explained(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        reason = _REASONS.get(exc.errno or 0, f"cannot be read: {exc.strerror}")
        raise ToolFailed(f"{path!r} {reason}") from exc
    except UnicodeEncodeError as exc:
        raise ToolFailed(f"{path!r} is no path") from exc
