"""Where commands run and files lie: this machine inside a sandbox, or a container."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from octo_lab.security.private_names import PrivateNames


class Feed(Protocol):
    """What is typed into a running program. Asked from a thread, again and again."""

    def take(self) -> bytes | None:
        """What comes next: nothing for now is empty, nothing any more is None."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookout:
    """``names`` tell which files are private; ``opened`` is told of those that are opened while
    the program runs, as far as that can be seen. Called in a thread.
    """

    names: PrivateNames
    opened: Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """One program to run, as an argument list, in ``folder`` (relative to the workspace).

    ``report`` gets lines of output as they come, in the caller's own task and not too many; an
    empty one for each minute without any.
    ``output`` bytes of each stream are kept, head and tail. ``feed`` goes on where ``stdin``
    ends; ``listen`` gets the raw output at once, in a thread of its own. ``steers``: a person has
    agreed that it makes what git, octo_lab or programs that start later obey.
    """

    argv: Sequence[str]
    folder: str = "."
    stdin: bytes = field(default=b"", repr=False)
    timeout: float = 120.0
    output: int = 50_000
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    report: Callable[[str], None] | None = None
    feed: Feed | None = field(default=None, repr=False)
    listen: Callable[[bytes], None] | None = None
    steers: bool = False
    lookout: Lookout | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Executed:
    """``code`` is the exit code, negative for a signal; ``timed_out``: it was ended for that.

    ``notes`` are lines about the run itself, for the model and the person.
    """

    code: int
    stdout: bytes = field(repr=False)
    stderr: bytes = field(default=b"", repr=False)
    timed_out: bool = False
    seconds: float = 0.0
    notes: tuple[str, ...] = ()


class ExecEnvironment(Protocol):
    """Runs programs and keeps files, all within one workspace. Raises ToolFailed, ToolDenied."""

    async def exec(self, execution: Execution) -> Executed:
        """Run to its end; a cancelled call leaves no process behind."""
        ...

    async def read_file(self, path: str) -> bytes: ...

    async def write_file(self, path: str, data: bytes) -> None: ...

    async def file_exists(self, path: str) -> bool: ...

    async def list_dir(self, path: str) -> list[str]: ...
