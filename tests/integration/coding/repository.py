"""A small repository with a failing test, and how it must look when it is mended."""

from __future__ import annotations

import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.integration.coding.programmer import Work

Files = dict[str, tuple[int, bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """``mended`` are the files that differ at the end, None for one that is gone.

    ``work`` mends it; ``modes`` are permissions other than 0644, ``left`` is what its own tests
    leave behind.
    """

    name: str
    files: Mapping[str, bytes]
    mended: Mapping[str, bytes | None]
    work: Callable[[], Work]
    modes: Mapping[str, int] = field(default_factory=dict)
    left: Mapping[str, bytes] = field(default_factory=dict)

    def make(self, folder: Path) -> None:
        for name, data in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.chmod(self.modes.get(name, 0o644))

    def before(self) -> Files:
        return {name: (self.modes.get(name, 0o644), data) for name, data in self.files.items()}

    def after(self) -> Files:
        changed = {**self.files, **self.mended}
        return {
            name: (self.modes.get(name, 0o644), data)
            for name, data in changed.items()
            if data is not None
        }

    def beside(self) -> Files:
        return {name: (0o644, data) for name, data in self.left.items()}


def files_in(folder: Path, *, without: tuple[str, ...] = ()) -> Files:
    """Every file below a folder with its permissions and bytes, by its path there."""
    return {
        path.relative_to(folder).as_posix(): (stat.S_IMODE(path.stat().st_mode), path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.relative_to(folder).parts[0] not in without
    }


def text(*lines: str, end: str = "\n") -> bytes:
    return "".join(f"{line}{end}" for line in lines).encode()
