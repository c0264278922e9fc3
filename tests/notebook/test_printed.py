from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from octo_lab.testing.llm_script import says
from octo_lab.testing.llm_server import LlmServer
from tests.notebook.kernels import environment, with_model

pytestmark = pytest.mark.kernel

IPYTHON = [sys.executable, "-m", "IPython", "--simple-prompt", "--no-banner", "--colors=NoColor"]


def terminal(folder: Path, model: LlmServer, *lines: str) -> str:
    """What IPython in a terminal prints for these lines."""
    run = subprocess.run(
        IPYTHON,
        input="\n".join(["%load_ext octo_lab", *lines, ""]),
        env=environment(folder, with_model(model)),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return run.stdout + run.stderr


def test_a_terminal_sees_each_word_once(model: LlmServer, tmp_path: Path) -> None:
    model.script(says(*(f"word{n} " for n in range(30)), delay=0.03))
    said = terminal(tmp_path, model, "%octo tell")
    assert [said.count(f"word{n} ") for n in range(30)] == [1] * 30
    assert "tokens in" in said


def test_a_terminal_shows_an_error_and_an_answer_in_code_once(
    model: LlmServer, tmp_path: Path
) -> None:
    lines = ["import octo_lab as ol", "ol.ask('hello you')", "ol.ask('  ')"]
    said = terminal(tmp_path, model, *lines)
    assert said.count("echo: hello you") == 1
    assert "octo: There is nothing to ask" in said
    assert "Traceback" not in said
