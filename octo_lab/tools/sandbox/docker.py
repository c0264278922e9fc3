"""The arguments of Docker: a container without rights, network or more of this machine's files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from octo_lab.core.errors import ToolFailed
from octo_lab.tools.sandbox.policy import Bounds, Job, Mounts

WORK = "/workspace"
_REFUSED = (Path("/etc"), Path("/proc"), Path("/sys"), Path("/dev"))
_ODD = frozenset(":\0\r\n")


def docker_run(job: Job, *, image: str, mounts: Mounts = "rw", user: str = "") -> list[str]:
    """One command in a container of its own, removed afterwards; raises ToolFailed."""
    return [
        *("docker", "run", "--rm", "--interactive", "--init", "--name", job.name),
        *_walls(job.bounds, network=job.network),
        *(("--user", user) if user else ()),
        *_mounts(job, mounts),
        *_variables(job.environ),
        *("--workdir", _inside(job.folder), "--entrypoint", job.argv[0], image, *job.argv[1:]),
    ]


def docker_exec(container: str, argv: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    """One command in a container that runs already; only names of variables are given."""
    return ["docker", "exec", "--interactive", *_variables(environ), container, *argv]


def docker_remove(name: str) -> list[str]:
    return ["docker", "rm", "--force", "--volumes", name]


def docker_user() -> str:
    """The owner of this process, so that files made inside are the owner's."""
    return f"{os.getuid()}:{os.getgid()}"


def check_source(path: Path) -> Path:
    """A folder that may be mounted: none of the system's own, no socket; raises ToolFailed."""
    text = str(path)
    if _ODD & set(text):
        raise ToolFailed(f"The path {text!r} cannot be mounted", hint="rename it: no ':' in it")
    real = path.resolve()
    system = any(real.is_relative_to(folder) for folder in _REFUSED) or real == Path("/")
    if system or real.name == "docker.sock" or path.name == "docker.sock":
        raise ToolFailed(f"{text!r} may not be mounted", hint="choose another folder")
    return path


def _walls(bounds: Bounds, *, network: bool) -> Sequence[str]:
    return (
        *("--security-opt", "no-new-privileges", "--cap-drop", "ALL"),
        *(("--network", "bridge") if network else ("--network", "none")),
        *("--cpus", f"{bounds.cpus:g}", "--memory", str(bounds.memory)),
        *("--memory-swap", str(bounds.memory), "--pids-limit", str(bounds.processes)),
        *("--ulimit", f"fsize={bounds.file_size}", "--ulimit", "core=0"),
        *("--ulimit", f"nofile={bounds.open_files}"),
        *("--tmpfs", f"/tmp:exec,size={bounds.scratch}"),
    )


def _mounts(job: Job, mounts: Mounts) -> list[str]:
    if mounts == "none":
        return ["--tmpfs", f"{WORK}:exec,mode=1777,size={job.bounds.scratch}"]
    sources = [(check_source(job.workspace), WORK, mounts)]
    sources += [(check_source(path), str(path), "ro") for path in job.readable]
    hidden = [path for path in job.hidden_folders if path.is_relative_to(job.workspace)]
    hidden_files = [path for path in job.hidden_files if path.is_relative_to(job.workspace)]
    return [
        *(part for source, to, how in sources for part in ("--volume", f"{source}:{to}:{how}")),
        *(
            part
            for path in job.fixed
            for part in ("--volume", f"{check_source(path)}:{_at(path, job)}:ro")
        ),
        *(part for path in hidden for part in ("--tmpfs", f"{_at(path, job)}:ro,size=4096")),
        *(part for path in hidden_files for part in ("--volume", f"/dev/null:{_at(path, job)}:ro")),
    ]


def _at(path: Path, job: Job) -> str:
    return str(PurePosixPath(WORK) / check_source(path).relative_to(job.workspace))


def _inside(folder: str) -> str:
    return str(PurePosixPath(WORK) / folder)


def _variables(environ: Mapping[str, str]) -> list[str]:
    """Only the names: their values go by the environment of ``docker`` itself."""
    return [part for name in environ for part in ("--env", name)]
