"""What others obey later, in a workspace: found before and after a command, put out of the way."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from octo_lab.tools.sandbox.folders import COARSE_NS, Folders
from octo_lab.tools.sandbox.repository import running_parts
from octo_lab.tools.sandbox.sight import OWN, STARTING

_ORDERS = ("AGENTS.md", "CLAUDE.md", ".env")
_REPOSITORY, _BARE = ".git", frozenset({"HEAD", "objects", "refs", "config"})
_LARGEST = 1_000_000
_REMEMBERED, _MOST = 65_536, 2000
_WHY = "is obeyed by octo_lab, git, a shell or a kernel later"


@dataclass(frozen=True, slots=True, kw_only=True)
class Steering:
    """At the moment ``at`` (ns): contents by path (None: no plain file), ``repositories`` and the
    contents of their ``settings``, and octo_lab's folders below the workspace, ``own``. What is
    ``walled`` no command can change: if it changes, others did it.
    """

    at: int
    contents: Mapping[Path, bytes | None] = field(repr=False)
    settings: Mapping[Path, bytes | None] = field(repr=False)
    repositories: tuple[Path, ...] = ()
    own: tuple[Path, ...] = ()
    walled: tuple[Path, ...] = ()


class Known:
    """What is known of a workspace from one look at it to the next: a file that did not change is
    not opened again, so that who watches it is not told of us.
    """

    def __init__(self) -> None:
        self.folders = Folders(frozenset({_REPOSITORY, OWN, *_BARE}).intersection)
        self._contents: dict[Path, tuple[tuple[int, int, int], bytes | None]] = {}

    def content(self, path: Path) -> bytes | None:
        with suppress(OSError):
            status = path.lstat()
            mark = (status.st_ctime_ns, status.st_size, status.st_ino)
            known = self._contents.get(path)
            if known is None or known[0] != mark:
                known = (mark, _content(path))
                if status.st_size <= _REMEMBERED and time.time_ns() > mark[0] + COARSE_NS:
                    self._remember(path, known)
            return known[1]
        return None

    def _remember(self, path: Path, known: tuple[tuple[int, int, int], bytes | None]) -> None:
        if len(self._contents) >= _MOST:
            self._contents.clear()
        self._contents[path] = known


def find_steering(known: Known, workspace: Path, home: Path) -> Steering:
    at = time.time_ns() - COARSE_NS
    repositories, own = list[Path](), list[Path]()
    steering = [path for name in _ORDERS if os.path.lexists(path := workspace / name)]
    if home.is_relative_to(workspace):
        steering += [path for name in STARTING if os.path.lexists(path := home / name)]
    for folder, names in known.folders.walk(workspace):
        if names >= _BARE:
            repositories.append(folder)
        if _REPOSITORY in names:
            path = folder / _REPOSITORY
            real = path.is_dir() and not path.is_symlink()
            (repositories if real else steering).append(path)
        if OWN in names and folder != workspace:
            own.append(folder / OWN)
    parts = (part for repository in repositories for part in running_parts(repository))
    contents = {path: known.content(path) for path in (*steering, *own, *parts)}
    settings = {path: known.content(path) for path in (one / "config" for one in repositories)}
    return Steering(
        at=at,
        contents=contents,
        settings=settings,
        repositories=tuple(repositories),
        own=tuple(own),
    )


def put_aside(before: Steering, after: Steering, workspace: Path) -> Iterator[str]:
    """What was made gets another name, what was changed is as before; a line for each."""
    for path, name in _news(before, after, workspace):
        former = before.contents.get(path, before.settings.get(path))
        try:
            other = _renamed(path)
            if former is not None:
                path.write_bytes(former)
        except OSError as exc:
            yield f"{name!r} {_WHY}; the command made it, and it stays: {exc.strerror}."
            continue
        back = "; the former one is back" if former is not None else ""
        yield f"{name!r} {_WHY}: what the command made is {other!r} now{back}."


def tell(before: Steering, after: Steering, workspace: Path) -> Iterator[str]:
    """The same, for a program that ran so long that others may have made it: nothing is moved."""
    for _, name in _news(before, after, workspace):
        yield f"{name!r} {_WHY}; it was made or changed while this ran: look at it."


def _news(before: Steering, after: Steering, workspace: Path) -> list[tuple[Path, str]]:
    new = []
    for path, content in after.contents.items():
        known = path in before.contents
        same = known and before.contents[path] == content
        walled = any(path.is_relative_to(one) for one in before.walled)
        if not (same or walled) and _since(path, workspace, before.at):
            new.append((path, str(path.relative_to(workspace))))
    return new


def _since(path: Path, workspace: Path, at: int) -> bool:
    """Whether it, or what leads to it, has changed since; with no link on the way."""
    way = [path, *(parent for parent in path.parents if parent.is_relative_to(workspace))]
    with suppress(OSError):
        return path.parent.resolve() == path.parent and any(
            part.lstat().st_ctime_ns >= at for part in way
        )
    return False


def _renamed(path: Path) -> str:
    other = path.with_name(f"{path.name}.made-by-a-command-{uuid4().hex[:8]}")
    path.rename(other)
    return other.name


def _content(path: Path) -> bytes | None:
    with suppress(OSError):
        if not path.is_symlink() and path.is_file() and path.stat().st_size <= _LARGEST:
            return path.read_bytes()
    return None
