"""Control groups: bounds for all processes of one command together, and a list to kill by.

A command gets groups of its own below (version 1) or beside (version 2) those of this process,
where their folders may be written. https://docs.kernel.org/admin-guide/cgroup-v2.html
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import psutil

from octo_lab.tools.sandbox.policy import Bounds

ROOT = Path("/sys/fs/cgroup")
_CONTROLLERS = ("pids", "memory")
# To move a whole process the kernel waits some 10 ms for all others, to move a thread it does not;
# version 2 moves no threads out of their process's group.
_DOORS = {1: "tasks", 2: "cgroup.procs"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A folder in which groups may be made, and what they can bound."""

    folder: Path
    controllers: tuple[str, ...]
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """The groups of one command; ``held`` are the controllers that bound it, ``doors`` the files
    into which a process of one thread writes 0 to enter.
    """

    folders: tuple[Path, ...] = ()
    doors: tuple[Path, ...] = ()
    held: frozenset[str] = field(default_factory=frozenset)

    def members(self) -> set[int]:
        found: set[int] = set()
        for folder in self.folders:
            with suppress(OSError):
                found.update(int(line) for line in (folder / "cgroup.procs").read_text().split())
        return found - {0}  # a process that this one cannot see; to signal 0 is to signal us

    def kill(self, seconds: float) -> bool:
        """Kill until none is left, for as long; whether none is."""
        until = time.monotonic() + seconds
        while members := self.members():
            for folder in self.folders:
                with suppress(OSError):
                    (folder / "cgroup.kill").write_text("1")
            for pid in members:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            if time.monotonic() > until:
                return False
            time.sleep(0.005)
        return True

    def remove(self, seconds: float = 1.0) -> None:
        """The kernel lets an empty group go only some time after its last process."""
        until = time.monotonic() + seconds
        for folder in self.folders:
            while folder.exists():
                with suppress(OSError):
                    folder.rmdir()
                    break
                if time.monotonic() > until:
                    break
                time.sleep(0.005)


def find_places(own: str, root: Path = ROOT) -> list[Place]:
    """Where groups could be made, by what ``/proc/self/cgroup`` says; the likeliest first."""
    places: list[Place] = []
    for line in own.splitlines():
        _, controllers, path = line.split(":", 2)
        names = tuple(name for name in controllers.split(",") if name in _CONTROLLERS)
        if names:
            folder = root / controllers / path.lstrip("/")
            places.append(Place(folder=folder, controllers=names, version=1))
        elif not controllers and (root / "cgroup.controllers").exists():
            here = root / path.lstrip("/")
            beside = [here.parent] if here != root else []
            places += [
                Place(folder=folder, controllers=_CONTROLLERS, version=2)
                for folder in (*beside, here)
            ]
    return places


def make_groups(bounds: Bounds, places: Iterable[Place]) -> Groups:
    """Groups with these bounds, as far as they can be had; the caller removes them."""
    folders: list[Path] = []
    doors: list[Path] = []
    held: set[str] = set()
    for place in places:
        if held.issuperset(place.controllers):
            continue
        folder = place.folder / f"octo-{os.getpid()}-{uuid4().hex[:12]}"
        bounded = _make(folder, _settings(bounds, place))
        if bounded:
            folders.append(folder)
            doors.append(folder / _DOORS[place.version])
            held |= bounded
    return Groups(folders=tuple(folders), doors=tuple(doors), held=frozenset(held))


def remove_stale(places: Iterable[Place]) -> None:
    """Remove what processes left that were killed before they could."""
    for place in places:
        for folder in place.folder.glob("octo-*-*"):
            owner = folder.name.split("-")[1]
            if owner.isdigit() and not psutil.pid_exists(int(owner)):
                with suppress(OSError):
                    folder.rmdir()


def own_groups() -> str:
    with suppress(OSError):
        return Path("/proc/self/cgroup").read_text()
    return ""


def _settings(bounds: Bounds, place: Place) -> dict[str, Mapping[str, int]]:
    memory = "memory.max" if place.version == 2 else "memory.limit_in_bytes"
    every = {"pids": {"pids.max": bounds.processes}, "memory": {memory: bounds.memory}}
    return {name: every[name] for name in place.controllers}


def _make(folder: Path, settings: Mapping[str, Mapping[str, int]]) -> set[str]:
    """The controllers that took their bound; without any there is no folder either."""
    try:
        folder.mkdir()
    except OSError:
        return set()
    held = {name for name, files in settings.items() if _set(folder, files)}
    if not held:
        folder.rmdir()
    return held


def _set(folder: Path, files: Mapping[str, int]) -> bool:
    try:
        for name, value in files.items():
            with (folder / name).open("r+") as file:  # never makes a file of that name
                file.write(str(value))
    except OSError:
        return False
    return True
