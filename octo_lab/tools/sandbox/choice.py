"""Which sandbox this machine can run: found by running a harmless command in each."""

from __future__ import annotations

import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from octo_lab.core.errors import ToolFailed
from octo_lab.tools.sandbox.bwrap import FENCES, Layout, Lent, bwrap_argv, find_layout
from octo_lab.tools.sandbox.cgroup import find_places, make_groups, own_groups, remove_stale
from octo_lab.tools.sandbox.docker import docker_run
from octo_lab.tools.sandbox.landlock import landlock_argv, landlock_gaps
from octo_lab.tools.sandbox.landlock_exec import landlock_version
from octo_lab.tools.sandbox.macos import macos_argv
from octo_lab.tools.sandbox.policy import Bounds, Job, Kind, SandboxPolicy
from octo_lab.tools.sandbox.sockets import socket_filter
from octo_lab.tools.sandbox.trusted import SYSTEM_PATH

_SECONDS = 20.0
_ORDER: tuple[Kind, ...] = ("bwrap", "macos", "docker", "landlock", "none")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """``fault`` says why it cannot be used; empty: it can."""

    kind: Kind
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The sandbox in use, with what its command line needs to be known of this machine.

    ``filter`` is what bubblewrap lets through of system calls. ``held`` are the bounds that control
    groups hold (``pids``, ``memory``). ``gaps`` say in words what the sandbox does not hold,
    ``tried`` why others were not taken.
    """

    kind: Kind
    tried: tuple[Tried, ...] = ()
    fence: tuple[str, ...] = ()
    layout: Layout = Layout()
    filter: bytes = field(default=b"", repr=False)
    held: frozenset[str] = frozenset()
    gaps: tuple[str, ...] = ()


def choose(policy: SandboxPolicy, path: str = SYSTEM_PATH) -> Choice:
    """The one that was set, or the best that works. Blocks; raises ToolFailed when the one that
    was set cannot be used: nothing weaker takes its place.
    """
    tried: list[Tried] = []
    for kind in _ORDER if policy.mode == "auto" else (policy.mode,):
        found = _TRIALS[kind](policy, path)
        if isinstance(found, Choice):
            return _bounded(replace(found, tried=tuple(tried)), policy.bounds)
        tried.append(Tried(kind=kind, fault=found))
    raise ToolFailed(
        f"The sandbox {policy.mode!r} cannot be used: {tried[-1].fault}",
        hint="run 'octo doctor', or set sandbox.mode to another",
    )


def _bounded(choice: Choice, bounds: Bounds) -> Choice:
    """With what control groups hold, found by making some."""
    if choice.kind == "docker":
        return replace(choice, held=frozenset({"pids", "memory"}))
    places = find_places(own_groups())
    remove_stale(places)
    groups = make_groups(bounds, places)
    groups.remove()
    gaps = list(choice.gaps)
    if "pids" not in groups.held:
        gaps.append("no process limit holds")
    if "memory" not in groups.held:
        gaps.append("the memory limit holds for each process alone")
    return replace(choice, held=groups.held, gaps=tuple(gaps))


def _try_bwrap(policy: SandboxPolicy, path: str) -> Choice | str:
    program = shutil.which("bwrap", path=path)
    if program is None:
        return "bwrap is not installed"
    fault, layout = "", find_layout(program)
    for fence in FENCES:
        with _harmless(policy) as job:
            fault = _fault(bwrap_argv(job, layout=layout, fence=fence))
        if not fault:
            return _filtered(policy, Choice(kind="bwrap", fence=fence, layout=layout))
    return fault


def _filtered(policy: SandboxPolicy, choice: Choice) -> Choice:
    """With a filter of sockets, where it works."""
    made = socket_filter()
    with _harmless(policy) as job, tempfile.TemporaryFile() as file:
        file.write(made)
        file.seek(0)
        lent = Lent(filter=file.fileno())
        argv = bwrap_argv(job, layout=choice.layout, fence=choice.fence, lent=lent)
        if made and not _fault(argv, lend=[file.fileno()]):
            return replace(choice, filter=made)
    return replace(choice, gaps=("the sockets of a virtual machine's host are not cut",))


def _try_macos(policy: SandboxPolicy, path: str) -> Choice | str:
    if platform.system() != "Darwin":
        return "this is no macOS"
    with _harmless(policy) as job:
        fault = _fault(macos_argv(job, scratch=job.workspace))
    return fault or Choice(kind="macos")


def _try_docker(policy: SandboxPolicy, path: str) -> Choice | str:
    program = shutil.which("docker", path=path)
    if program is None:
        return "docker is not installed"
    fault = _fault([program, "image", "inspect", "--format", "{{.Id}}", policy.image])
    if fault:
        return f"the image {policy.image!r} cannot be used: {fault}"
    with _harmless(policy) as job:
        named = replace(job, name=f"octo-try-{job.workspace.name}")
        fault = _fault([program, *docker_run(named, image=policy.image)[1:]])
    return fault or Choice(kind="docker")


def _try_landlock(policy: SandboxPolicy, path: str) -> Choice | str:
    version = landlock_version()
    if not version:
        return "this kernel has no Landlock"
    with _harmless(policy) as job:
        fault = _fault(landlock_argv(job, scratch=job.workspace))
    return fault or Choice(kind="landlock", gaps=landlock_gaps(version))


def _no_sandbox(policy: SandboxPolicy, path: str) -> Choice:
    return Choice(kind="none", gaps=("commands can do everything that you can",))


_TRIALS: dict[Kind, Callable[[SandboxPolicy, str], Choice | str]] = {
    "bwrap": _try_bwrap,
    "macos": _try_macos,
    "docker": _try_docker,
    "landlock": _try_landlock,
    "none": _no_sandbox,
}


@contextmanager
def _harmless(policy: SandboxPolicy) -> Iterator[Job]:
    """A command that does nothing, in an empty folder of its own."""
    with tempfile.TemporaryDirectory(prefix="octo-") as folder:
        yield Job(argv=("true",), workspace=Path(folder).resolve(), network=policy.network)


def _fault(argv: Sequence[str], lend: Sequence[int] = ()) -> str:
    """Why it does not work, in the program's own last words; empty when it does."""
    try:
        ran = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
            pass_fds=lend,
        )
    except OSError as exc:
        return f"{argv[0]}: {exc.strerror}"
    except subprocess.TimeoutExpired:
        return f"{argv[0]} did not end within {_SECONDS:g} s"
    if ran.returncode == 0:
        return ""
    said = next(_last_lines(ran.stderr), "")
    return said or f"{argv[0]} ended with code {ran.returncode}"


def _last_lines(output: bytes) -> Iterator[str]:
    lines = output.decode(errors="replace").splitlines()
    return (line.strip()[:200] for line in reversed(lines) if line.strip())
