from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from octo_lab.core.errors import UsageError
from octo_lab.notebook.kernelspec import install_kernelspec, kernel_json
from octo_lab.testing.llm_script import call, calls, says
from octo_lab.testing.llm_server import LlmServer
from tests.notebook.kernels import OCTO, ROOT, Kernel, environment, kernel, with_model

pytestmark = pytest.mark.kernel

SLOW = says(*(f"word{n} " for n in range(500)), delay=0.05)


def states(folder: Path) -> list[str]:
    """The states of all stored turns, read by a process of its own."""
    code = (
        "import sqlite3, sys\n"
        "db = sqlite3.connect(sys.argv[1])\n"
        "print([state for state, in db.execute('select state from turns order by id')])"
    )
    database = str(folder / "data" / "octo_lab.db")
    run = subprocess.run(
        [sys.executable, "-c", code, database], capture_output=True, text=True, check=True
    )
    return list(eval(run.stdout))


def begin_slow_turn(octo: Kernel, model: LlmServer) -> None:
    model.script(SLOW)
    asked = len(model.requests)
    octo.run("%octo status")
    octo.send("%octo tell")
    assert model.wait_until(lambda: len(model.requests) > asked)
    time.sleep(0.5)


def wait_for_end(pid: int, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline, "the kernel did not end"
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGTERM])
def test_a_signal_ends_the_turn_in_order(
    model: LlmServer, tmp_path: Path, number: signal.Signals
) -> None:
    left = len(model.disconnects)
    with kernel(tmp_path, with_model(model)) as octo:
        begin_slow_turn(octo, model)
        os.kill(octo.pid, number)
        wait_for_end(octo.pid)
        assert states(tmp_path) == ["interrupted"]
        assert model.wait_until(lambda: len(model.disconnects) > left)


def test_a_shutdown_request_ends_the_turn_in_order(model: LlmServer, tmp_path: Path) -> None:
    with kernel(tmp_path, with_model(model)) as octo:
        begin_slow_turn(octo, model)
        octo.manager.shutdown_kernel()
    # jupyter_client interrupts and then shuts down: either may reach the turn first
    assert states(tmp_path) in (["cancelled"], ["interrupted"])


def test_the_death_of_the_parent_ends_the_turn_in_order(model: LlmServer, tmp_path: Path) -> None:
    """A process starts the kernel, asks, and is killed: the kernel must follow in order."""
    model.script(SLOW)
    asked = len(model.requests)
    code = (
        "import pathlib, sys, time\n"
        "from tests.notebook.kernels import kernel\n"
        "import json\n"
        "with kernel(pathlib.Path(sys.argv[1]), json.loads(sys.argv[2])) as octo:\n"
        "    octo.send('%octo tell')\n"
        "    print(octo.pid, flush=True)\n"
        "    time.sleep(60)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path), json.dumps(with_model(model))],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert model.wait_until(lambda: len(model.requests) > asked)
    time.sleep(0.5)
    parent.kill()
    parent.communicate()
    wait_for_end(pid)
    assert states(tmp_path) == ["interrupted"]


def test_an_interrupt_of_a_tool_leaves_no_process(model: LlmServer, tmp_path: Path) -> None:
    with kernel(tmp_path, with_model(model)) as octo:
        octo.run("%octo status")
        model.script(calls(call("python", code="!sleep 47")), says("never"))
        sent = octo.send("%octo -t python go", stdin=False)
        time.sleep(1.0)
        octo.interrupt()
        octo.collect(sent, wait=10)
        children = psutil.Process(octo.pid).children(recursive=True)
        assert [c for c in children if "sleep" in c.name() and c.status() != "zombie"] == []


def test_the_kernelspec_is_what_front_ends_expect(tmp_path: Path) -> None:
    path = install_kernelspec(prefix=str(tmp_path), name="my-octo", display_name="Mine")
    assert path == tmp_path / "share" / "jupyter" / "kernels" / "my-octo"
    assert sorted(file.name for file in path.iterdir()) == [
        "kernel.json",
        "logo-32x32.png",
        "logo-64x64.png",
        "logo-svg.svg",
    ]
    spec = json.loads((path / "kernel.json").read_text())
    assert spec["display_name"] == "Mine"
    assert spec["argv"] == [sys.executable, *OCTO, "-f", "{connection_file}"]
    assert kernel_json()["display_name"] == "Octo (Python 3)"
    assert kernel_json()["language"] == "python"


def test_files_beside_a_notebook_are_for_its_cells_not_for_the_kernel(tmp_path: Path) -> None:
    for name in ("typing_extensions", "json", "queue"):
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit('{name} of the folder ran')\n")
    (tmp_path / "mine.py").write_text("WORD = 'found'\n")

    with kernel(tmp_path) as octo:
        ran = octo.run("import json, mine; print(json.dumps(mine.WORD))")
        state = octo.run("%octo status")

    assert (ran.printed, ran.error) == ('"found"\n', "")
    assert (state.status, "of the folder" in state.everything) == ("ok", False)


def test_a_kernel_name_that_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Invalid kernel"):
        install_kernelspec(prefix=str(tmp_path), name="no/such name")


def test_importing_the_package_imports_nothing_heavy(tmp_path: Path) -> None:
    code = "import sys, octo_lab; print(sorted(m for m in sys.modules if 'octo_lab' in m))"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(tmp_path, {}),
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == "['octo_lab']"


def test_a_terminal_python_is_told_where_to_go(tmp_path: Path) -> None:
    code = "import octo_lab\ntry: octo_lab.ask('hi')\nexcept octo_lab.OctoError as exc: print(exc)"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(tmp_path, {}),
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == (
        "octo_lab needs a notebook or IPython here (in a terminal: octo run, octo chat)"
    )


def test_the_help_menu_names_no_package_registry(tmp_path: Path) -> None:
    with kernel(tmp_path) as octo:
        links = octo.client.kernel_info(reply=True, timeout=10)["content"]["help_links"]
        assert [link["url"] for link in links if "pypi" in link["url"]] == []
