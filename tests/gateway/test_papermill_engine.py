"""Real papermill processes with a real kernel, stopped by real signals."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import cast

import nbformat
import pytest

pytestmark = pytest.mark.kernel

INTERRUPTIBLE = """
import time, pathlib
try:
    pathlib.Path("started").touch()
    time.sleep(60)
except KeyboardInterrupt:
    print("asked to stop")
finally:
    time.sleep(4)
    print("cleaned up")
"""
NEXT = 'print("summary")'
UNHANDLED = """
import time, pathlib
try:
    pathlib.Path("started").touch()
    time.sleep(60)
finally:
    print("cleaned up")
"""
STUBBORN = """
import time, pathlib
try:
    pathlib.Path("started").touch()
    time.sleep(60)
finally:
    pathlib.Path("cleaning").touch()
    time.sleep(60)
"""


def start(folder: Path, *cells: str, options: tuple[str, ...] = ()) -> subprocess.Popen[bytes]:
    notebook = nbformat.v4.new_notebook(  # type: ignore[no-untyped-call]
        cells=[nbformat.v4.new_code_cell(cell) for cell in cells],  # type: ignore[no-untyped-call]
        metadata={"kernelspec": {"name": "python3", "language": "python", "display_name": "P"}},
    )
    nbformat.write(notebook, folder / "in.ipynb")  # type: ignore[no-untyped-call]
    command = [sys.executable, "-m", "papermill", "--engine", "octo", "--no-progress-bar"]
    command += [*options, "in.ipynb", "out.ipynb"]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} never came"
        time.sleep(0.05)


def printed(folder: Path) -> list[str]:
    notebook = nbformat.read(folder / "out.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return [cast(str, output.text) for output in outputs if output.output_type == "stream"]


def ended(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    output, _ = process.communicate(timeout=60)
    return process.returncode, output.decode()


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_the_cell_clean_up_and_the_notebook_finish(
    tmp_path: Path, signum: signal.Signals
) -> None:
    process = start(tmp_path, INTERRUPTIBLE, NEXT)
    wait_for(tmp_path / "started")
    process.send_signal(signum)
    code, output = ended(process)
    assert (code, "Traceback" in output) == (0, False)
    assert "".join(printed(tmp_path)) == "asked to stop\ncleaned up\nsummary\n"


def test_an_interrupt_the_cell_does_not_handle_ends_the_run_with_the_signals_code(
    tmp_path: Path,
) -> None:
    process = start(tmp_path, UNHANDLED, NEXT)
    wait_for(tmp_path / "started")
    process.send_signal(signal.SIGTERM)
    code, output = ended(process)
    assert (code, "Traceback" in output) == (128 + signal.SIGTERM, False)
    assert printed(tmp_path) == ["cleaned up\n"]


def test_a_signal_while_the_kernel_starts_runs_no_cell(tmp_path: Path) -> None:
    process = start(tmp_path, INTERRUPTIBLE)
    wait_for(tmp_path / "out.ipynb")
    process.send_signal(signal.SIGTERM)
    assert ended(process)[0] == 128 + signal.SIGTERM
    assert not (tmp_path / "started").exists()


def test_a_second_signal_does_not_wait_for_the_clean_up(tmp_path: Path) -> None:
    process = start(tmp_path, STUBBORN)
    wait_for(tmp_path / "started")
    process.send_signal(signal.SIGTERM)
    wait_for(tmp_path / "cleaning")
    process.send_signal(signal.SIGTERM)
    assert ended(process)[0] == 128 + signal.SIGTERM
    assert (tmp_path / "out.ipynb").exists()


def test_an_ordinary_error_is_papermills_as_ever(tmp_path: Path) -> None:
    process = start(tmp_path, "1 / 0", NEXT)
    code, output = ended(process)
    assert code == 1
    assert "ZeroDivisionError" in output
    assert printed(tmp_path) == []
