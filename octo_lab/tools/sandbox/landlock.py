"""The arguments for Landlock, where bubblewrap cannot run: what may be read and what written.

It gives rights to whole folders and excepts nothing in them: where something is hidden, the folder
itself is not given, only what else lies in it, so that nothing new can be made beside it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from octo_lab.tools.sandbox.bwrap import ETC, NETWORK_ETC, SYSTEM
from octo_lab.tools.sandbox.policy import Job

_SCRIPT = Path(__file__).with_name("landlock_exec.py")
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm")


def landlock_argv(job: Job, *, scratch: Path, python: str = sys.executable) -> list[str]:
    """``scratch`` is a folder for temporary files that the caller removes afterwards."""
    etc = (*ETC, *(NETWORK_ETC if job.network else ()))
    spec = {
        "read": [
            *SYSTEM,
            *(f"/etc/{name}" for name in etc),
            "/proc",
            *(str(path) for path in job.readable),
        ],
        "write": [
            str(job.workspace),
            str(scratch),
            *(f"/dev/{name}" for name in _DEVICES),
        ],
        "hidden": [str(path) for path in (*job.hidden_folders, *job.hidden_files)],
        "fixed": [str(path) for path in job.fixed],
        "network": job.network,
    }
    return [python, "-I", "-S", str(_SCRIPT), json.dumps(spec), *job.argv]


def landlock_gaps(version: int) -> tuple[str, ...]:
    """What this version does not hold."""
    gaps = ["other processes are seen", "what git and Python run from the workspace can be written"]
    gaps.append("beside what is hidden, such as .octo, commands make nothing new")
    gaps.append("UDP and the sockets of files are not cut" if version >= 4 else "no network is cut")
    if version < 6:
        gaps.append("processes of the same user can be ended")
    return tuple(gaps)
