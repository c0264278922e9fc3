"""No command makes the folder from which octo_lab would take its settings."""

from __future__ import annotations

import os
import stat
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from octo_lab.tools.sandbox.sight import OWN

_LOCK = threading.Lock()
_RUNNING: Counter[Path] = Counter()
_CLAIMED: set[Path] = set()


@contextmanager
def keep_out(workspace: Path, *, walled: bool = False) -> Iterator[list[str]]:
    """An existing one is hidden by the sandbox. Where there is none, an empty folder that nobody
    may open takes its place as long as commands run, so that the sandbox has something to hide;
    what stands there in the end all the same gets another name, which a note tells, unless it was
    claimed. ``walled``: no command reaches it, so that its owner has opened it if somebody did.
    """
    own, notes = workspace / OWN, list[str]()
    held = _take(own)
    try:
        yield notes
    finally:
        if held is not None and (other := _leave(own, held, walled)):
            notes.append(f"{OWN!r} is octo_lab's own folder; what was made is {other!r} now.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """The empty folder. While the descriptor is open nothing else gets its number; where there are
    no such descriptors, numbers are not used again.
    """

    folder: os.stat_result
    descriptor: int | None

    def is_still(self, own: Path) -> bool:
        """Another process may have cleared it away meanwhile, and commands can make their own."""
        try:
            return os.path.samestat(own.lstat(), self.folder)
        except OSError:
            return False

    def close(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)


def _hold(own: Path) -> _Held:
    look = getattr(os, "O_PATH", None)
    flags = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = None if look is None else os.open(own, look | flags)
    return _Held(folder=own.lstat(), descriptor=descriptor)


def _take(own: Path) -> _Held | None:
    with _LOCK, suppress(OSError):
        if not os.path.lexists(own):
            own.mkdir(mode=0)
        elif not is_place_holder(own):
            return None
        held = _hold(own)
        _RUNNING[own] += 1
        return held
    return None


def claim(own: Path) -> None:
    """Let octo_lab write into its folder, and let that stay, where its name is only kept free."""
    with _LOCK:
        if is_place_holder(own):
            own.chmod(0o700)
            _CLAIMED.update({own} & _RUNNING.keys())


def _leave(own: Path, held: _Held, walled: bool) -> str:
    """The name of what a command made, if it made something."""
    same = held.is_still(own)
    held.close()
    with _LOCK:
        _RUNNING[own] -= 1
        if _RUNNING[own] > 0 and is_place_holder(own):
            return ""
        claimed = own in _CLAIMED
        if _RUNNING[own] <= 0:
            del _RUNNING[own]
            _CLAIMED.discard(own)
        mine = same and (claimed or walled) and not is_place_holder(own)
        return "" if mine else _cleared(own)


def _cleared(own: Path) -> str:
    if not os.path.lexists(own):
        return ""
    if is_place_holder(own):
        try:
            own.rmdir()
        except OSError:  # no command may write there: its owner put something into it
            own.chmod(0o755)
        return ""
    other = own.with_name(f"octo-made-by-a-command-{uuid4().hex[:8]}")
    own.rename(other)
    return other.name


def is_place_holder(own: Path) -> bool:
    """One that a run which was killed has left behind is as good as another."""
    try:
        status = own.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and not stat.S_IMODE(status.st_mode)
