"""The hard boundary: files below one folder, reached without ever following a link out.

Each component is opened relative to the one before it, with O_NOFOLLOW, so that nobody can swap
a folder for a link between a check and a use. All methods are synchronous; call them in a thread.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Literal

from octo_lab.core.errors import ToolFailed
from octo_lab.security.opening import FILE, FOLDER, explained, open_in, regular
from octo_lab.security.replacing import Found, Moved, look, replaced

Kind = Literal["file", "folder", "link", "other"]

_DEEPEST = 64
_ATTEMPTS = 20


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
class Root:
    """One more folder that may be used, named by absolute paths."""

    path: Path
    writable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """What became of a file: its bytes before and after, None where there is no file.

    ``path`` is its name for every other method. ``mode`` are its permissions before, or after
    where it is new; ``made`` is how many of the folders above it were made.
    """

    path: str
    before: bytes | None = field(repr=False)
    after: bytes | None = field(repr=False)
    mode: int = 0o644
    made: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where ``path`` lies: at ``parts`` below ``base``, whose names begin with ``prefix``."""

    path: str
    base: Path
    parts: tuple[str, ...] = ()
    prefix: str = ""
    writable: bool = True

    @property
    def name(self) -> str:
        return self.prefix + "/".join(self.parts) if self.parts else self.prefix.rstrip("/")

    @property
    def inner(self) -> str:
        """What the names of everything in this folder begin with."""
        return self.prefix + "".join(f"{part}/" for part in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Enclosure:
    """Everything below ``root`` but the ``private`` folders (names directly in it, or paths).

    Paths are relative to the root; an absolute one must lie below it or below one of ``others``.
    ``soft`` admits every absolute path: whoever sets it asks a person before.
    Every method raises ToolFailed with a message the model can act on.
    """

    root: Path
    private: tuple[str | Path, ...] = (".octo",)
    others: tuple[Root, ...] = ()
    soft: bool = False

    def name(self, path: str) -> str:
        """The one name of what ``path`` names: relative in the workspace, else absolute."""
        place = self._place(path)
        return place.name or ("/" if place.prefix else ".")

    def open_file(self, path: str) -> BinaryIO:
        """Open a regular file to read its bytes; the caller closes it."""
        place, name = self._file(path)
        with self._folder(place) as folder, explained(path):
            opened = open_in(name, FILE, folder, path)
            return regular(opened, path)

    def write_file(self, path: str, data: bytes) -> Edited:
        """Make a file, or replace it as a whole; missing folders are made."""
        return self.edit(path, lambda _: data)

    def remove(self, path: str, *, made: int = 0) -> Edited:
        """Remove a file, and as many of the folders above it as were ``made``, where empty."""
        return self.edit(path, partial(_nothing, path), made=made)

    def edit(
        self,
        path: str,
        change: Callable[[bytes | None], bytes | None],
        *,
        mode: int | None = None,
        made: int = 0,
        ahead: Callable[[Edited], object] = id,
    ) -> Edited:
        """Replace a file by what ``change`` makes of its bytes; None is no file.

        ``change`` is asked again when somebody else changed the file meanwhile, and may raise
        ToolFailed. The permissions stay, or become ``mode``. A file that goes takes those of the
        ``made`` folders above it along that are empty. A file above 10 MB is refused. ``ahead``
        is told just before the file changes, and again where the change has to be made anew.
        """
        place, name = self._file(path)
        if path.endswith("/"):
            raise ToolFailed(f"{path!r} names a folder", hint="name a file")
        if not place.writable:
            raise ToolFailed(f"{path!r} may be read, but not changed")
        for _ in range(_ATTEMPTS):
            found = self._look(place, name)
            after = change(found.data)
            try:
                done = self._put(place, name, found, after, mode, ahead)
            except Moved:
                continue
            if after is None:
                depth = len(place.parts)
                self._unmake(place, list(range(max(0, depth - made), depth)))
            return done
        raise ToolFailed(f"{path!r} is being changed by somebody else", hint="try again")

    def list_dir(self, path: str = ".") -> list[Entry]:
        """What is in a folder, by name; links are named, not followed."""
        place = self._place(path)
        with self._folder(place) as folder:
            return self._entries(folder, place)

    def walk(self, path: str = ".", *, skip: Set[str] = frozenset()) -> Iterator[Entry]:
        """Every file below a folder, depth first, by name; folders named in ``skip`` are left out.

        A folder that vanishes or may not be read meanwhile is passed over; only the first one
        is an error. ``open_file`` accepts each path.
        """
        waiting = [Entry(path=self.name(path), kind="folder")]
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

    def _place(self, path: str) -> _Place:
        if "\0" in path:
            raise ToolFailed(f"{path!r} is no path")
        pure = PurePosixPath(path)
        place = _Place(path=path, base=self.root)
        if pure.is_absolute():
            place = self._absolute(path, pure)
            pure = pure.relative_to(place.base)
        if ".." in pure.parts:
            raise ToolFailed(f"{path!r} leads outside the workspace", hint="do not use '..'")
        return replace(place, parts=pure.parts)

    def _absolute(self, path: str, pure: PurePosixPath) -> _Place:
        """The root that an absolute path lies below."""
        for base in _spellings(self.root):
            if pure.is_relative_to(base):
                return _Place(path=path, base=base)
        for other in self.others:
            for base in _spellings(other.path):
                if pure.is_relative_to(base):
                    prefix = f"{base}/".replace("//", "/")
                    return _Place(path=path, base=base, prefix=prefix, writable=other.writable)
        if self.soft:
            return _Place(path=path, base=Path("/"), prefix="/")
        raise ToolFailed(
            f"{str(pure)!r} is outside the workspace",
            hint="name a path relative to the workspace",
        )

    def _file(self, path: str) -> tuple[_Place, str]:
        """The folder a file lies in, and its name there."""
        place = self._place(path)
        if not place.parts:
            raise ToolFailed(f"{path!r} is a folder", hint="list it instead")
        return replace(place, parts=place.parts[:-1]), place.parts[-1]

    def _look(self, place: _Place, name: str) -> Found:
        """The file as it is; a missing folder holds none."""
        try:
            with self._folder(place) as folder, explained(place.path):
                return look(folder, name, place.path)
        except ToolFailed as exc:
            if isinstance(exc.__cause__, FileNotFoundError):
                return Found()
            raise

    def _put(
        self,
        place: _Place,
        name: str,
        found: Found,
        after: bytes | None,
        mode: int | None,
        ahead: Callable[[Edited], object],
    ) -> Edited:
        """``after`` in the place of ``found``; raises Moved when that is not there any more."""
        made: list[int] = []

        def edited(given: int | None) -> Edited:
            return _edited(place.inner + name, found, after, given, len(made))

        def note(given: int | None) -> None:
            ahead(edited(given))

        given = found.mode
        if after != found.data or mode not in (None, found.mode):
            try:
                with self._folder(place, made) as folder, explained(place.path, "written"):
                    self._refuse_private(folder, name, place.path)
                    change = partial(replaced, expected=found, data=after, mode=mode, ahead=note)
                    given = change(folder, name, place.path)
            except BaseException:
                self._unmake(place, made)
                raise
        return edited(given)

    def _unmake(self, place: _Place, made: list[int]) -> None:
        """Remove the folders at these depths, as far as nobody put something there."""
        for depth in reversed(made):
            above = replace(place, parts=place.parts[:depth])
            try:
                with self._folder(above) as folder:
                    os.rmdir(place.parts[depth], dir_fd=folder)
            except (OSError, ToolFailed):
                return

    @contextmanager
    def _folder(self, place: _Place, made: list[int] | None = None) -> Iterator[int]:
        """A descriptor of the folder, closed afterwards.

        With ``made``, missing folders are made, and their depths added to it.
        """
        path = place.path
        with explained(path):
            folder = os.open(place.base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if place.prefix:
                self._refuse_below_private(place)
            for depth, part in enumerate(place.parts):
                if made is not None and self._make(folder, part, path):
                    made.append(depth)
                inner = open_in(part, FOLDER, folder, path)
                os.close(folder)
                folder = inner
                if _identity(os.fstat(folder)) in self._secluded():
                    raise ToolFailed(f"{path!r} is private to octo_lab")
            yield folder
        finally:
            os.close(folder)

    def _make(self, folder: int, name: str, path: str) -> bool:
        """Whether the folder ``name`` had to be made."""
        try:
            os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            self._refuse_private(folder, name, path)
            with explained(path, "written"), suppress(FileExistsError):
                os.mkdir(name, dir_fd=folder)
                return True
        except OSError:  # opening it says why
            return False
        return False

    def _refuse_private(self, folder: int, name: str, path: str) -> None:
        """Nothing is made under the name of a private folder that is not there yet."""
        where = _identity(os.fstat(folder))
        for private in self.private:
            secluded = self.root / private
            if secluded.name.casefold() != name.casefold():
                continue
            try:
                same = _identity(secluded.parent.stat()) == where
            except OSError:
                continue
            if same:
                raise ToolFailed(f"{path!r} is private to octo_lab")

    def _refuse_below_private(self, place: _Place) -> None:
        """A root of the owner's may not lead into octo_lab's own folders."""
        secluded = self._secluded()
        for above in (place.base, *place.base.parents):
            if _identity(above.stat()) in secluded:
                raise ToolFailed(f"{place.path!r} is private to octo_lab")

    def _entries(self, folder: int, place: _Place) -> list[Entry]:
        secluded, prefix = self._secluded(), place.inner
        with explained(place.path), os.scandir(folder) as found:
            entries = [
                entry for item in found if (entry := _entry(item, prefix, secluded)) is not None
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


def _spellings(root: Path) -> tuple[Path, Path]:
    return root.absolute(), root.resolve()


def _edited(path: str, found: Found, after: bytes | None, given: int | None, made: int) -> Edited:
    mode = given if found.mode is None else found.mode
    mode = 0o644 if mode is None else mode
    return Edited(path=path, before=found.data, after=after, mode=mode, made=made)


def _nothing(path: str, data: bytes | None) -> None:
    """The change that removes a file."""
    if data is None:
        raise ToolFailed(f"{path!r} does not exist")


def _entry(item: os.DirEntry[str], prefix: str, secluded: set[tuple[int, int]]) -> Entry | None:
    try:
        status = item.stat(follow_symlinks=False)
    except OSError:
        return None
    if _identity(status) in secluded:
        return None
    kind = _kind(status.st_mode)
    size = status.st_size if kind == "file" else 0
    return Entry(path=prefix + item.name, kind=kind, size=size)


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
