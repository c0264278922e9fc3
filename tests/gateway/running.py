"""A real gateway: papermill with our engine, or the command, in a process of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import nbformat

from octo_lab.gateway.find import find_gateway
from octo_lab.gateway.headless import notebook_path
from octo_lab.web.endpoint import Endpoint
from tests.cli.octo import Done, Octo, ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A started gateway and the notebook it will save."""

    octo: Octo
    process: subprocess.Popen[bytes]
    notebook: Path
    endpoint: Endpoint

    def stop(self, signum: int) -> Done:
        self.process.send_signal(signum)
        return ended(self.process)

    def shown(self) -> str:
        """The text of everything the notebook's cells displayed."""
        notebook = nbformat.read(self.notebook, as_version=4)  # type: ignore[no-untyped-call]
        outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
        return "\n".join(
            output.get("text") or output.get("data", {}).get("text/plain", "") or output.ename
            for output in outputs
        )


def papermill_command(octo: Octo, *parameters: str, kernel: str = "octo") -> list[str]:
    command = [sys.executable, "-m", "papermill", "--engine", "octo", "--no-progress-bar"]
    return [*command, "-k", kernel, str(notebook_path()), str(output(octo)), *parameters]


def output(octo: Octo) -> Path:
    return octo.folder / "out.ipynb"


@contextmanager
def gateway(octo: Octo, command: list[str]) -> Iterator[Running]:
    """Start ``command`` and wait until it answers; whatever still runs at the end is killed."""
    octo.workspace.mkdir(exist_ok=True)
    (octo.folder / "home").mkdir(exist_ok=True)
    process = subprocess.Popen(
        command,
        cwd=octo.workspace,
        env=octo.environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=_hear_hangups,
    )
    try:
        endpoint = started(octo, process)
        yield Running(octo=octo, process=process, notebook=output(octo), endpoint=endpoint)
    finally:
        process.kill()
        process.communicate()


def _hear_hangups() -> None:
    """As a program in a terminal does, also where the tests themselves were told to outlive one."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def started(octo: Octo, process: subprocess.Popen[bytes]) -> Endpoint:
    deadline = time.monotonic() + 60
    while (endpoint := find_gateway(octo.data)) is None:
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            raise AssertionError(process.communicate())
        time.sleep(0.1)
    return endpoint
