"""Where commands run and files lie: this machine inside a sandbox, or a container."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """One program to run, as an argument list, in ``folder`` (relative to the workspace).

    ``report`` gets each line of output as it comes. ``output`` bytes are kept, head and tail.
    """

    argv: Sequence[str]
    folder: str = "."
    stdin: bytes = field(default=b"", repr=False)
    timeout: float = 120.0
    output: int = 50_000
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    report: Callable[[str], None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Executed:
    """``code`` is the exit code, negative for a signal; ``timed_out``: it was ended for that."""

    code: int
    stdout: bytes = field(repr=False)
    stderr: bytes = field(default=b"", repr=False)
    timed_out: bool = False
    seconds: float = 0.0


class ExecEnvironment(Protocol):
    """Runs programs and keeps files, all within one workspace. Raises ToolFailed, ToolDenied."""

    async def exec(self, execution: Execution) -> Executed:
        """Run to its end; a cancelled call leaves no process behind."""
        ...

    async def read_file(self, path: str) -> bytes: ...

    async def write_file(self, path: str, data: bytes) -> None: ...

    async def file_exists(self, path: str) -> bool: ...

    async def list_dir(self, path: str) -> list[str]: ...
