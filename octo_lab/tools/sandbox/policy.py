"""What the owner set for sandboxes, and what one command is to see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Mode = Literal["auto", "bwrap", "docker", "macos", "landlock", "none"]
Kind = Literal["bwrap", "docker", "macos", "landlock", "none"]
Mounts = Literal["none", "ro", "rw"]
MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What one command may use: bytes of memory and of one file, processes, open files, CPUs."""

    memory: int = 4096 * MIB
    file_size: int = 2048 * MIB
    scratch: int = 1024 * MIB
    processes: int = 512
    open_files: int = 4096
    cpus: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxPolicy:
    """``readable`` are folders shown to commands besides the system's and Python's own;
    ``allow`` are names of variables that are passed although they look secret. ``image`` and
    ``mounts`` are for Docker.
    """

    mode: Mode = "auto"
    network: bool = False
    bounds: Bounds = field(default_factory=Bounds)
    readable: tuple[Path, ...] = ()
    allow: tuple[str, ...] = ()
    image: str = "python:3.12-slim"
    mounts: Mounts = "rw"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One command and what it sees: ``workspace`` to write, ``readable`` to read, but nothing of
    ``hidden`` (existing folders and files below those). ``fixed`` is what of the workspace
    may only be read. All paths are absolute and resolved.
    """

    argv: tuple[str, ...]
    workspace: Path
    folder: str = "."
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    network: bool = False
    bounds: Bounds = field(default_factory=Bounds)
    readable: tuple[Path, ...] = ()
    fixed: tuple[Path, ...] = ()
    hidden_folders: tuple[Path, ...] = ()
    hidden_files: tuple[Path, ...] = ()
    name: str = "octo"

    @property
    def anchors(self) -> tuple[Path, ...]:
        """The folders between the workspace and what is hidden or fixed, the upper ones first. One
        that was renamed would lay it open to the next command.
        """
        between = {
            parent
            for path in (*self.fixed, *self.hidden_folders, *self.hidden_files)
            for parent in path.parents
            if parent != self.workspace and parent.is_relative_to(self.workspace)
        }
        return tuple(sorted(between))
