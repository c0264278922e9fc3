"""What the agent changed in files is taken back in a notebook, also after a kill."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from octo_lab.testing.llm_script import call, calls, says
from octo_lab.testing.llm_server import LlmServer
from tests.notebook.kernels import Kernel, Ran, kernel, with_model

pytestmark = pytest.mark.kernel

WRITES = call("write_file", id="w", path="new/made.txt", content="made\r\n")
EDITS = call("edit_file", id="e", path="run.sh", old_string="true", new_string="false")


def shown(ran: Ran) -> str:
    return "".join(str(output["content"].get("data", "")) for output in ran.of("display_data"))


def test_a_cell_takes_back_what_the_turn_changed(
    octo: Kernel, model: LlmServer, tmp_path: Path
) -> None:
    octo.run("import os; open('run.sh', 'w').write('true\\n'); os.chmod('run.sh', 0o750)")
    python = call("python", id="p", code="open('computed', 'w').write('x')")
    model.script(calls(WRITES, EDITS, python), says("done"))

    turn = octo.run("%octo -t python -t *_file -- change them", stdin=False)
    undone = octo.run("%octo /undo", stdin=False)
    left = octo.run(
        "open('run.sh').read(), oct(os.stat('run.sh').st_mode)[-3:], os.path.exists('new')"
    )
    again = octo.run("%octo /redo", stdin=False)

    assert "-true" in shown(turn)
    assert "cannot be undone" in undone.everything
    assert left.value == "('true\\n', '750', False)"
    assert "new/made.txt" in again.everything
    assert octo.run("open('new/made.txt', newline='').read()").value == r"'made\r\n'"


def test_after_a_kill_the_next_kernel_takes_it_back(model: LlmServer, tmp_path: Path) -> None:
    file = tmp_path / "run.sh"
    file.write_text("true\n")
    file.chmod(0o750)
    hangs = call("python", id="p", code="open('ready', 'w').close(); import time; time.sleep(600)")
    model.script(calls(WRITES, EDITS, hangs))
    environ = with_model(model, JPY_SESSION_NAME=str(tmp_path / "my.ipynb"))
    with kernel(tmp_path, environ) as first:
        first.send("%octo -t python -t *_file -- change them", stdin=False)
        while not ((tmp_path / "ready").exists() and (tmp_path / "new/made.txt").exists()):
            assert first.manager.is_alive()
        while file.read_text() == "true\n":
            assert first.manager.is_alive()
        os.kill(first.pid, signal.SIGKILL)

    with kernel(tmp_path, environ) as second:
        undone = second.run("%octo -s 'change them' /undo", stdin=False)

    assert "- restored" in undone.everything
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("true\n", 0o750)
    assert not (tmp_path / "new").exists()
