"""Runs programs and keeps files in a container that runs already, by ``docker exec``."""

from __future__ import annotations

import posixpath
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import anyio

from octo_lab.core.errors import ToolFailed
from octo_lab.security.env import clean_environ, without_blocked
from octo_lab.tools.exec_env import Executed, Execution
from octo_lab.tools.sandbox.attended import AT_ONCE, attended
from octo_lab.tools.sandbox.docker import docker_exec
from octo_lab.tools.sandbox.endings import MARK
from octo_lab.tools.sandbox.process import Start, run_process
from octo_lab.tools.sandbox.stop import Stop
from octo_lab.tools.sandbox.trusted import SYSTEM_PATH

_LARGEST = 10_000_000
_SWEEP_SECONDS = 10.0
_IN_FOLDER = 'cd -- "$1" && shift && exec "$@"'


class ContainerExec:
    """An ExecEnvironment. Paths are relative to the working folder of the container, which walls
    commands in by itself; what a command leaves running is ended after it.
    """

    def __init__(
        self, container: str, environ: Mapping[str, str], *, path: str = SYSTEM_PATH
    ) -> None:
        self._container = container
        self._environ = {**clean_environ(environ), "PATH": path}
        self._slots = anyio.CapacityLimiter(AT_ONCE)

    async def exec(self, execution: Execution) -> Executed:
        folder = _inner(execution.folder)
        argv = ("sh", "-c", _IN_FOLDER, "sh", folder, *execution.argv)
        return await attended(self._run, replace(execution, argv=argv), self._slots)

    async def read_file(self, path: str) -> bytes:
        script = f'head -c {_LARGEST + 1} -- "$1"'
        ran = await self._file(script, path, output=2 * _LARGEST)
        if len(ran.stdout) > _LARGEST:
            raise ToolFailed(f"{path!r} has more than {_LARGEST // 1_000_000} MB")
        return ran.stdout

    async def write_file(self, path: str, data: bytes) -> None:
        """Replaced as a whole, by a temporary file beside it."""
        script = (
            'mkdir -p -- "$(dirname -- "$1")" && new=$(mktemp -- "$1.XXXXXX")'
            ' && cat > "$new" && chmod 644 "$new" && mv -T -- "$new" "$1"'
        )
        await self._file(script, path, stdin=data)

    async def file_exists(self, path: str) -> bool:
        argv = ("test", "-f", _inner(path))
        return (await self.exec(Execution(argv=argv, output=1000))).code == 0

    async def list_dir(self, path: str) -> list[str]:
        script = 'cd -- "$1" && find . -mindepth 1 -maxdepth 1 -print0'
        ran = await self._file(script, path, output=2 * _LARGEST)
        names = ran.stdout.decode(errors="replace").split("\0")
        return sorted(name.removeprefix("./") for name in names if name)

    async def _file(
        self, script: str, path: str, *, stdin: bytes = b"", output: int = 1000
    ) -> Executed:
        argv = ("sh", "-c", script, "sh", _inner(path))
        ran = await self.exec(Execution(argv=argv, stdin=stdin, output=output))
        if ran.code != 0:
            said = ran.stderr.decode(errors="replace").strip()[-200:]
            raise ToolFailed(f"{path!r} cannot be used in {self._container!r}: {said}")
        return ran

    def _run(self, execution: Execution, stop: Stop) -> Executed:
        mark = uuid4().hex
        told = {**without_blocked(execution.environ), MARK: mark}
        start = Start(
            argv=lambda _: docker_exec(self._container, execution.argv, told),
            cwd=Path("/"),
            environ={**self._environ, **told},
            mark=mark,
            timeout=execution.timeout,
            stdin=execution.stdin,
            feed=execution.feed,
            listen=execution.listen,
            output=execution.output,
        )
        try:
            return run_process(start, stop)
        finally:
            self._sweep(mark)

    def _sweep(self, mark: str) -> None:
        """End what the command left: the end of the client ends nothing in the container."""
        sweep = docker_exec(self._container, sweep_argv(mark), {})
        with suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(
                sweep,
                env=self._environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SWEEP_SECONDS,
                check=False,
            )


def sweep_argv(mark: str) -> Sequence[str]:
    """Kills every process whose environment holds the mark, those that it meanwhile made too."""
    wanted = shlex.quote(f"{MARK}={mark}")
    script = (
        "for round in 1 2 3 4 5; do found=; for place in /proc/[0-9]*; do"
        f" if grep -qsa {wanted} $place/environ; then found=1; kill -9 ${{place#/proc/}}; fi;"
        ' done; [ "$found" ] || exit 0; done'
    )
    return ("sh", "-c", script)


def _inner(path: str) -> str:
    """Relative to the working folder, or absolute: it is the container's own."""
    if "\0" in path:
        raise ToolFailed(f"{path!r} is no path")
    return posixpath.normpath(path) if path.startswith("/") else f"./{posixpath.normpath(path)}"
