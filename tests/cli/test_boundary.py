"""What nobody expected, and Ctrl-C before anything began: real processes."""

from __future__ import annotations

import subprocess
import sys

from tests.cli.octo import KEY, Done, Octo, ended

BROKEN = """
import sys
from octo_lab.cli.boundary import guarded
def command():
    raise {error}
sys.exit(guarded(command))
"""


def broken(octo: Octo, error: str) -> Done:
    octo.workspace.mkdir(exist_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-c", BROKEN.format(error=error)],
        cwd=octo.workspace,
        env=octo.environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    return ended(process)


def test_a_defect_is_one_line_and_its_traceback_is_in_the_private_log(octo: Octo) -> None:
    done = broken(octo, f"KeyError('the key {KEY}')")
    log = octo.data / "octo_lab.log"
    assert (done.code, done.out) == (70, "")
    assert done.err.startswith("octo: internal error: KeyError: ")
    assert done.err.endswith(f"; the log is at {log}\n")
    assert done.err.count("\n") == 1
    assert "Traceback" in log.read_text()
    assert KEY not in log.read_text() + done.err
    assert oct(log.stat().st_mode & 0o777) == "0o600"


def test_a_defect_in_a_group_is_the_same(octo: Octo) -> None:
    done = broken(octo, "ExceptionGroup('g', [ZeroDivisionError('by zero')])")
    assert (done.code, done.err.count("\n")) == (70, 1)
    assert "internal error: ZeroDivisionError: by zero" in done.err


def test_the_traceback_is_shown_on_demand(octo: Octo) -> None:
    debug = Octo(folder=octo.folder, env={"OCTO_DEBUG": "1"})
    assert "Traceback" in broken(debug, "KeyError('x')").err


def test_without_a_log_the_next_step_is_named(octo: Octo) -> None:
    octo.data.touch()
    done = broken(octo, "KeyError('x')")
    assert (done.code, done.err) == (
        70,
        "octo: internal error: KeyError: 'x'; there is no log; OCTO_DEBUG=1 shows more\n",
    )


def test_ctrl_c_is_quiet_from_the_first_line_of_the_command_on(octo: Octo) -> None:
    while_reading = (
        "import os, signal, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == {name!r}:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "sys.argv = ['octo', 'status']\n"
        "from octo_lab.cli.main import main; main()\n"
    )
    octo.workspace.mkdir()
    for name in ("typer", "anyio", "octo_lab.cli.look", "octo_lab.app", "sqlalchemy"):
        process = subprocess.Popen(
            [sys.executable, "-c", while_reading.format(name=name)],
            cwd=octo.workspace,
            env=octo.environ(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        done = ended(process)
        assert (name, done.code, done.out, done.err) == (name, 130, "", "octo: Stopped\n")
