"""Every shipped notebook runs: under nbval with its outputs checked, and under papermill."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = sorted((ROOT / "notebooks" / "guide").glob("*.ipynb"))

pytestmark = [pytest.mark.notebooks, pytest.mark.timeout(300)]


def run(command: list[str], home: Path) -> str:
    kept = {name: v for name, v in os.environ.items() if not name.startswith(("OCTO_", "OPENAI_"))}
    places = {"OCTO_HOME": home, "IPYTHONDIR": home / "ipython", "XDG_CONFIG_HOME": home / "config"}
    env = {**kept, **{name: str(place) for name, place in places.items()}}
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        env=env,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("notebook", GUIDE, ids=lambda path: path.stem)
def test_the_outputs_are_what_the_notebook_shows(notebook: Path, tmp_path: Path) -> None:
    shown = run(
        ["pytest", "--nbval", "-p", "no:cacheprovider", "-o", "addopts=", str(notebook)], tmp_path
    )

    assert " passed" in shown


@pytest.mark.parametrize("kernel", ["octo", "python3"])
@pytest.mark.parametrize("notebook", GUIDE, ids=lambda path: path.stem)
def test_papermill_runs_it_with_either_kernel(notebook: Path, kernel: str, tmp_path: Path) -> None:
    out = tmp_path / "out.ipynb"

    run(["papermill", "--engine", "octo", "-k", kernel, str(notebook), str(out)], tmp_path)

    executed = json.loads(out.read_text(encoding="utf-8"))
    cells = [cell for cell in executed["cells"] if cell["cell_type"] == "code"]
    assert all(cell["metadata"]["papermill"]["status"] == "completed" for cell in cells)
    assert any(_shows_a_turn(cell) for cell in cells)


@pytest.mark.parametrize("notebook", GUIDE, ids=lambda path: path.stem)
def test_the_saved_notebook_tells_nothing_of_the_machine(notebook: Path) -> None:
    text = notebook.read_text(encoding="utf-8")

    assert json.loads(text)["metadata"]["kernelspec"]["name"] == "octo"
    assert not any(word in text for word in ("/work/", "/home/", "/Users/", "/tmp/", "widget-view"))


def _shows_a_turn(cell: dict[str, object]) -> bool:
    outputs = cell["outputs"]
    assert isinstance(outputs, list)
    return any("text/markdown" in output.get("data", {}) for output in outputs)
