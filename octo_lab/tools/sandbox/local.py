"""Runs programs on this machine, inside the best sandbox there is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from uuid import uuid4

import anyio
import anyio.to_thread

from octo_lab.core.errors import ToolFailed
from octo_lab.security.env import clean_environ, without_blocked
from octo_lab.security.paths import Enclosure
from octo_lab.tools.exec_env import Executed, Execution
from octo_lab.tools.sandbox.attended import AT_ONCE, attended
from octo_lab.tools.sandbox.bwrap import HOME, Lent, bwrap_argv
from octo_lab.tools.sandbox.cgroup import Groups, find_places, make_groups, own_groups
from octo_lab.tools.sandbox.choice import Choice, choose
from octo_lab.tools.sandbox.docker import docker_remove, docker_run, docker_user
from octo_lab.tools.sandbox.endings import MARK
from octo_lab.tools.sandbox.landlock import landlock_argv
from octo_lab.tools.sandbox.launch import launch_argv
from octo_lab.tools.sandbox.macos import macos_argv
from octo_lab.tools.sandbox.opened import looking_out
from octo_lab.tools.sandbox.own_folder import is_place_holder, keep_out
from octo_lab.tools.sandbox.policy import Job, SandboxPolicy
from octo_lab.tools.sandbox.process import Start, run_process
from octo_lab.tools.sandbox.sight import OWN, Sight, find_sight, make_private
from octo_lab.tools.sandbox.steering import (
    Known,
    Steering,
    find_steering,
    put_aside,
    tell,
)
from octo_lab.tools.sandbox.stop import Stop
from octo_lab.tools.sandbox.trusted import SYSTEM_PATH

_WALLS = ("bwrap", "docker", "macos")
_LARGEST = 10_000_000
_QUIET = {"TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}
_SOCKETS = ("DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """Where commands run and what they are told. ``private`` are octo_lab's own folders,
    ``secrets`` are values that no command is told.
    """

    workspace: Path
    private: tuple[Path, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: Iterable[str] = field(default=(), repr=False)
    policy: SandboxPolicy = field(default_factory=SandboxPolicy)
    home: Path | None = None


class LocalExec:
    """An ExecEnvironment. The sandbox is chosen by trying, when the first command runs."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self._files = Enclosure(root=home.workspace, private=(OWN, *home.private))
        self._known = Known()
        self._choice: Choice | None = None
        self._choosing = anyio.Lock()
        self._slots = anyio.CapacityLimiter(AT_ONCE)
        self._warned = False
        self._looked: tuple[tuple[dict[str, str], tuple[str, ...]], dict[str, str]] | None = None

    async def choice(self) -> Choice:
        """The sandbox in use; raises ToolFailed when the one that was set cannot be used."""
        async with self._choosing:
            if self._choice is None:
                self._choice = await anyio.to_thread.run_sync(choose, self.home.policy)
        return self._choice

    @property
    def walled(self) -> bool:
        """Whether commands reach nothing outside; only known once the sandbox was chosen."""
        chosen = self._choice
        return chosen is not None and chosen.kind in _WALLS and not self.home.policy.network

    async def exec(self, execution: Execution) -> Executed:
        choice = await self.choice()
        notes = self._warnings(choice, execution.report)
        ran = await attended(partial(self._run, choice), execution, self._slots)
        return replace(ran, notes=(*notes, *ran.notes))

    async def read_file(self, path: str) -> bytes:
        return await anyio.to_thread.run_sync(self._read, path)

    async def write_file(self, path: str, data: bytes) -> None:
        await anyio.to_thread.run_sync(self._files.write_file, path, data)

    async def file_exists(self, path: str) -> bool:
        try:
            with await anyio.to_thread.run_sync(self._files.open_file, path):
                return True
        except ToolFailed:
            return False

    async def list_dir(self, path: str) -> list[str]:
        entries = await anyio.to_thread.run_sync(self._files.list_dir, path)
        return [entry.name for entry in entries]

    def _read(self, path: str) -> bytes:
        with self._files.open_file(path) as file:
            data = file.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise ToolFailed(f"{path!r} has more than {_LARGEST // 1_000_000} MB")
        return data

    def _warnings(self, choice: Choice, report: Callable[[str], None] | None) -> tuple[str, ...]:
        """Once: that the walls are weak or missing."""
        if self._warned or choice.kind not in ("none", "landlock"):
            return ()
        self._warned = True
        what = "No sandbox" if choice.kind == "none" else f"A weak sandbox ({choice.kind})"
        warning = f"{what} holds here: {'; '.join(choice.gaps)}. 'octo doctor' says why."
        if report is not None:
            report(warning)
        return (warning,)

    def _run(self, choice: Choice, execution: Execution, stop: Stop) -> Executed:
        if execution.folder != ".":
            self._files.list_dir(execution.folder)
        workspace = self.home.workspace.resolve()
        make_private(workspace, self.home.private)
        before = self._steering(workspace)
        with ExitStack() as after, keep_out(workspace, walled=choice.kind in _WALLS) as notes:
            sight = self._sight(before)
            openings = after.enter_context(looking_out(execution.lookout, workspace))
            start = self._start(choice, execution, sight, after)
            ran = run_process(replace(start, openings=openings), stop)
        if choice.kind != "none" and not execution.steers:
            walled = sight.fixed if choice.kind in _WALLS else ()
            notes.extend(self._made(replace(before, walled=walled), workspace, execution))
        return replace(ran, notes=(*ran.notes, *notes))

    def _made(self, before: Steering, workspace: Path, execution: Execution) -> list[str]:
        """Told in the output of a program that goes on running: whoever ends it hears no more."""
        news = self._steering(workspace)
        if execution.feed is None or execution.listen is None:
            return list(put_aside(before, news, workspace))
        told = list(tell(before, news, workspace))
        execution.listen("".join(f"[{line}]\n" for line in told).encode())
        return told

    def _steering(self, workspace: Path) -> Steering:
        return find_steering(self._known, workspace, (self.home.home or Path.home()).resolve())

    def _sight(self, steering: Steering) -> Sight:
        return find_sight(
            self.home.workspace,
            private=(*self.home.private, *steering.own),
            readable=self.home.policy.readable,
            home=self.home.home,
            repositories=steering.repositories,
        )

    def _start(self, choice: Choice, execution: Execution, sight: Sight, after: ExitStack) -> Start:
        policy, mark = self.home.policy, uuid4().hex
        job = Job(
            argv=tuple(execution.argv),
            workspace=sight.workspace,
            folder=execution.folder,
            environ=without_blocked(execution.environ),
            network=policy.network,
            bounds=policy.bounds,
            readable=sight.readable,
            fixed=sight.fixed,
            hidden_folders=sight.hidden_folders,
            hidden_files=sight.hidden_files,
            name=f"octo-{mark[:12]}",
        )
        groups = _groups(choice, job, after)
        scratch = _scratch(choice, after)
        if choice.kind == "docker":
            after.callback(_remove_container, job.name)
        return Start(
            argv=partial(self._argv, choice, job, groups, scratch),
            cwd=Path("/") if choice.kind in ("bwrap", "docker") else job.workspace / job.folder,
            environ={**self._environ(choice, scratch), **job.environ, MARK: mark},
            mark=mark,
            timeout=execution.timeout,
            stdin=execution.stdin,
            feed=execution.feed,
            listen=execution.listen,
            output=execution.output,
            namespace=choice.kind == "bwrap",
            filter=choice.filter,
            groups=groups,
        )

    def _argv(
        self, choice: Choice, job: Job, groups: Groups, scratch: Path, lent: Lent
    ) -> Sequence[str]:
        if choice.kind == "docker":
            policy = self.home.policy
            return docker_run(job, image=policy.image, mounts=policy.mounts, user=docker_user())
        return launch_argv(
            _walled(choice, job, scratch, lent),
            bounds=job.bounds,
            doors=groups.doors,
            address_space="memory" not in groups.held,
        )

    def _cleaned(self) -> dict[str, str]:
        """The variables that may be told; looked through anew only when one has changed."""
        home = self.home
        now = (dict(home.environ), tuple(home.secrets))
        if self._looked is None or self._looked[0] != now:
            told = clean_environ(now[0], allow=home.policy.allow, secrets=now[1])
            self._looked = (now, told)
        return dict(self._looked[1])

    def _environ(self, choice: Choice, scratch: Path) -> dict[str, str]:
        told = self._cleaned()
        if choice.kind == "docker":
            return {**told, "PATH": SYSTEM_PATH}
        for name in _SOCKETS if choice.kind == "bwrap" else ():
            told.pop(name, None)
        binaries = str(Path(sys.prefix).resolve() / "bin")
        paths = dict.fromkeys((binaries, *told.get("PATH", os.defpath).split(os.pathsep)))
        told |= {**_QUIET, "PATH": os.pathsep.join(paths), "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
        if choice.kind != "none":
            told |= {"HOME": str(scratch), "TMPDIR": str(scratch)}
        return told


def _walled(choice: Choice, job: Job, scratch: Path, lent: Lent) -> Sequence[str]:
    match choice.kind:
        case "bwrap":
            return bwrap_argv(job, layout=choice.layout, fence=choice.fence, lent=lent)
        case "macos":
            return macos_argv(job, scratch=scratch)
        case "landlock":
            there = tuple(path for path in job.hidden_folders if not is_place_holder(path))
            return landlock_argv(replace(job, hidden_folders=there), scratch=scratch)
    return job.argv


def _groups(choice: Choice, job: Job, after: ExitStack) -> Groups:
    if choice.kind == "docker" or not choice.held:
        return Groups()
    groups = make_groups(job.bounds, find_places(own_groups()))
    after.callback(groups.remove)
    return groups


def _scratch(choice: Choice, after: ExitStack) -> Path:
    """Where temporary files go: a place that does not outlast the command."""
    if choice.kind in ("landlock", "macos"):
        folder = after.enter_context(
            tempfile.TemporaryDirectory(prefix="octo-", ignore_cleanup_errors=True)
        )
        return Path(folder).resolve()
    return Path(HOME)


def _remove_container(name: str) -> None:
    """Ending the client ends no container."""
    with suppress(OSError, subprocess.TimeoutExpired):
        _, *words = docker_remove(name)
        docker = shutil.which("docker", path=SYSTEM_PATH) or "/usr/bin/docker"
        subprocess.run([docker, *words], capture_output=True, timeout=20.0, check=False)
