"""Takes back what turns changed in files, or makes it again: byte for byte, and only if nobody
changed the files since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise

from octo_lab.core.errors import ToolFailed
from octo_lab.security.paths import Enclosure
from octo_lab.storage.changes import StoredChange

Read = Callable[[str], bytes | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One file on its way back: from the blob ``now`` to the blob ``then``, "" for no file.

    ``broken``: somebody changed it between two changes of the turns.
    """

    path: str
    now: str
    then: str
    mode: int
    made: int
    ids: tuple[int, ...]
    broken: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """``done`` says for each file what became of it; ``conflicts`` are files changed since."""

    done: tuple[str, ...] = ()
    ids: tuple[int, ...] = ()
    conflicts: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()


def steps_back(changes: Sequence[StoredChange]) -> list[Step]:
    """What undoes these changes, oldest first, in the order in which it is to be done."""
    steps = [
        Step(
            path=path,
            now=own[-1].after,
            then=own[0].before,
            mode=own[0].mode,
            made=own[0].made,
            ids=tuple(change.id for change in own),
            broken=_broken(own),
        )
        for path, own in _by_path(changes).items()
    ]
    return steps[::-1]


def steps_again(changes: Sequence[StoredChange]) -> list[Step]:
    """What makes these changes, oldest first, once more."""
    return [
        Step(
            path=path,
            now=own[0].before,
            then=own[-1].after,
            mode=own[-1].mode,
            made=0,
            ids=tuple(change.id for change in own),
        )
        for path, own in _by_path(changes).items()
    ]


def _by_path(changes: Sequence[StoredChange]) -> dict[str, list[StoredChange]]:
    found: dict[str, list[StoredChange]] = {}
    for change in changes:
        found.setdefault(change.path, []).append(change)
    return found


def _broken(changes: Sequence[StoredChange]) -> bool:
    return any(one.after != next_.before for one, next_ in pairwise(changes))


def take_steps(files: Enclosure, steps: Iterable[Step], read: Read, *, force: bool) -> Result:
    """Do all steps, or none while a file is not as it was left, unless ``force``.

    ``read`` gives a blob, None when it is gone. What fails does not stop the others.
    """
    steps = list(steps)
    if not force:
        conflicts = tuple(step.path for step in steps if step.broken or _differs(files, step))
        if conflicts:
            return Result(conflicts=conflicts)
    done: list[str] = []
    ids: list[int] = []
    failures: list[str] = []
    for step in steps:
        try:
            done.append(_take(files, step, read, force=force))
            ids += step.ids
        except ToolFailed as exc:
            failures.append(str(exc))
    return Result(done=tuple(done), ids=tuple(ids), failures=tuple(failures))


def _differs(files: Enclosure, step: Step) -> bool:
    return _name(_read(files, step.path)) not in (step.now, step.then)


def _read(files: Enclosure, path: str) -> bytes | None:
    """The file as it is; None for none, and b"?" for what is no file any more."""
    found: list[bytes | None] = []

    def look(data: bytes | None) -> bytes | None:
        found.append(data)
        return data

    try:
        files.edit(path, look)
    except ToolFailed:
        return b"?"
    return found[-1]


def _name(data: bytes | None) -> str:
    return "" if data is None else sha256(data).hexdigest()


def _take(files: Enclosure, step: Step, read: Read, *, force: bool) -> str:
    wanted = read(step.then) if step.then else None
    if step.then and wanted is None:
        raise ToolFailed(f"what {step.path!r} held is not kept any more")

    def change(data: bytes | None) -> bytes | None:
        if not force and _name(data) not in (step.now, step.then):
            raise ToolFailed(f"{step.path!r} was changed just now")
        return wanted

    done = files.edit(step.path, change, mode=None if wanted is None else step.mode, made=step.made)
    if done.before == done.after:
        return f"left {step.path!r}: it was so already"
    if done.after is None:
        return f"removed {step.path!r}"
    return f"{'made' if done.before is None else 'restored'} {step.path!r}"
