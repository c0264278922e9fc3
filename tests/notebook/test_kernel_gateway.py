from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from octo_lab.testing.llm_server import LlmServer
from octo_lab.web.endpoint import read_endpoint
from tests.notebook.kernels import environment, kernel, with_model

pytestmark = pytest.mark.kernel

RUN = (sys.executable, "-c", "from octo_lab.cli.main import main; main()")


def octo(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, which knows no model."""
    env = environment(folder, {})
    return subprocess.run([*RUN, *args], env=env, cwd=folder, capture_output=True, text=True)


def test_the_kernel_answers_other_processes(model: LlmServer, tmp_path: Path) -> None:
    with kernel(tmp_path, with_model(model)) as running:
        assert "does not run" in running.run("%octo_gateway status").printed
        assert "not running" in running.run("%octo").value
        assert "http://127.0.0.1:" in running.run("%octo_gateway start").printed
        file = tmp_path / "data" / "gateway.json"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        endpoint = read_endpoint(tmp_path / "data")
        assert endpoint is not None
        assert endpoint.pid == running.pid

        assert octo(tmp_path, "run", "hello from outside").stdout.strip() == (
            "echo: hello from outside"
        )
        told = running.run("%octo_gateway").printed
        assert f"http://{endpoint.authority}" in told
        assert "1 turns" in told
        assert f":{endpoint.port}" in running.run("%octo").value
        assert "answers a message of web" in running.run("%octo_gateway logs").printed
        assert "echo: still here" in running.run("%octo still here").value

        assert running.run("%octo_gateway stop").printed == "The gateway has stopped.\n"
        assert not file.exists()
        assert "does not run" in running.run("%octo_gateway status").printed
        assert "http://" in running.run("%octo_gateway start").printed
    assert not file.exists()


def test_a_second_gateway_and_a_wrong_word_are_one_line(model: LlmServer, tmp_path: Path) -> None:
    with kernel(tmp_path, with_model(model)) as first:
        first.run("%octo_gateway start")
        (tmp_path / "second").mkdir()
        home = {"OCTO_HOME": str(tmp_path / "data")}
        with kernel(tmp_path / "second", {**with_model(model), **home}) as second:
            ran = second.run("%octo_gateway start")
            assert f"A gateway already runs on '{tmp_path / 'data'}', in process {first.pid}" in (
                ran.printed
            )
            assert ran.printed.count("\n") == 1
            assert f"process {first.pid}" in second.run("%octo_gateway status").printed
        ran = first.run("%octo_gateway restart")
        assert ran.printed == (
            "UsageError: %octo_gateway does not know 'restart' (start, stop, status or logs)\n"
        )
