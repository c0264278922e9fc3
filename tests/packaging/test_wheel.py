"""The product as it is installed: from a wheel, into an empty environment."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from tests.packaging.environments import UV, fresh_python, run

pytestmark = [pytest.mark.packaging, pytest.mark.timeout(600), pytest.mark.xdist_group("packaging")]

ONE_TURN = """
from jupyter_client.manager import KernelManager

manager = KernelManager(kernel_name="octo", transport="ipc")
manager.start_kernel()
client = manager.client()
client.start_channels()
client.wait_for_ready(timeout=60)
reply = client.execute_interactive(
    "turn = %octo what time is it in UTC?\\nprint('STATE', turn.state, turn.text)",
    allow_stdin=False,
    timeout=120,
)
client.stop_channels()
manager.shutdown_kernel()
assert reply["content"]["status"] == "ok", reply["content"]
"""


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    python = fresh_python(tmp_path_factory.mktemp("installed") / "venv")
    run([UV, "pip", "install", "--quiet", "--python", python, wheel])
    return python


def test_the_wheel_carries_the_kernel_and_the_front_end(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()

    assert any(name.endswith("share/jupyter/kernels/octo/kernel.json") for name in names)
    assert any(n.startswith("octo_lab/notebook/static/") and n.endswith(".js") for n in names)
    assert not any("node_modules" in name or name.startswith("tests/") for name in names)


def test_jupyter_sees_the_kernel(installed: Path) -> None:
    listed = json.loads(run([installed, "-m", "jupyter", "kernelspec", "list", "--json"]))

    assert listed["kernelspecs"]["octo"]["spec"]["display_name"] == "Octo (Python 3)"


def test_the_terminal_answers(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")

    answer = run(
        [installed.parent / "octo", "run", "list the files here"],
        OCTO_HOME=str(tmp_path / "data"),
        OCTO_WORKSPACE=str(tmp_path),
    )

    assert "a.txt" in answer


def test_the_kernel_answers_a_turn(installed: Path, tmp_path: Path) -> None:
    printed = run(
        [installed, "-c", ONE_TURN],
        OCTO_HOME=str(tmp_path / "data"),
        OCTO_WORKSPACE=str(tmp_path),
    )

    assert "STATE completed" in printed
