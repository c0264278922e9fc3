"""The folders of a workspace, read anew only where something was made, moved or removed."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_NOT_ENTERED = frozenset({"node_modules", "__pycache__", "site-packages"})
_DEEPEST, _MOST = 2, 500
COARSE_NS = 50_000_000
"""File times may lag behind the clock by so much."""


@dataclass(frozen=True, slots=True)
class _Read:
    """``changed`` is the folder's own time of change, which no program can set; ``at`` is now."""

    changed: int
    at: int
    names: frozenset[str]
    inner: tuple[str, ...]

    @property
    def settled(self) -> bool:
        """Whether a change after it was read would show."""
        return self.at > self.changed + COARSE_NS


class Folders:
    """Looks for names; ``wanted`` says which of a folder's are. Used by several threads, each of
    which may read for itself.
    """

    def __init__(self, wanted: Callable[[Iterable[str]], frozenset[str]]) -> None:
        self._wanted = wanted
        self._known: dict[str, _Read] = {}

    def walk(self, workspace: Path) -> Iterator[tuple[Path, frozenset[str]]]:
        """The folders with wanted names in them, at most 500 and two levels down; hidden ones
        are not entered, and no links are followed.
        """
        waiting, seen = deque([(str(workspace), 0)]), dict[str, _Read]()
        while waiting and len(seen) < _MOST:
            folder, depth = waiting.popleft()
            with suppress(OSError):
                read = seen[folder] = self._read(folder)
                if depth < _DEEPEST:
                    waiting.extend((f"{folder}/{name}", depth + 1) for name in read.inner)
                if read.names:
                    yield Path(folder), read.names
        self._known = seen

    def _read(self, folder: str) -> _Read:
        changed = os.lstat(folder).st_ctime_ns
        known = self._known.get(folder)
        if known is not None and known.changed == changed and known.settled:
            return known
        at = time.time_ns()
        with os.scandir(folder) as entries:
            found = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
        inner = tuple(name for name, is_folder in found.items() if is_folder and _entered(name))
        return _Read(changed, at, self._wanted(found), inner)


def _entered(name: str) -> bool:
    return not name.startswith(".") and name not in _NOT_ENTERED
