"""The first step of a command: it enters its groups, bounds itself, and becomes the program.

A shell does this, not a function between fork and exec: that would run Python in a copy of a
process with many threads, which may hang.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from octo_lab.tools.sandbox.policy import Bounds

_BLOCK = 512
_KIB = 1024


def launch_argv(
    argv: Sequence[str], *, bounds: Bounds, doors: Sequence[Path] = (), address_space: bool = False
) -> list[str]:
    """``argv`` behind a shell that never outlives the first step.

    ``address_space``: bound the memory of each process, for want of a group's bound for all.
    A bound that the system refuses to raise is lower already.
    """
    limits = [
        "-c 0",
        f"-f {bounds.file_size // _BLOCK}",
        f"-n {bounds.open_files}",
        *([f"-v {bounds.memory // _KIB}"] if address_space else []),
    ]
    entered = [f"echo 0 > {shlex.quote(str(door))} || exit 125" for door in doors]
    bounded = [f"ulimit {limit} 2>/dev/null" for limit in limits]
    script = "\n".join([*entered, *bounded, 'exec "$@"'])
    return ["/bin/sh", "-c", script, "sh", *argv]
