"""The steps Binder runs, in an empty environment and without Docker."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.packaging.environments import ROOT, UV, fresh_python, run

pytestmark = [pytest.mark.packaging, pytest.mark.timeout(600), pytest.mark.xdist_group("packaging")]
QUICKSTART = ROOT / "notebooks" / "guide" / "00-quickstart.ipynb"


def test_binder_builds_and_runs_the_quickstart(tmp_path: Path) -> None:
    python = fresh_python(tmp_path / "image")
    path = f"{python.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}"

    run([UV, "pip", "install", "--quiet", "--python", python, "-r", "binder/requirements.txt"])
    run([ROOT / "binder" / "postBuild"], PATH=path)
    out = tmp_path / "out.ipynb"
    run(
        [ROOT / "binder" / "start", python, "-m", "papermill", "-k", "octo", QUICKSTART, out],
        PATH=path,
        HOME=str(tmp_path),
        OCTO_WORKSPACE=str(tmp_path),
    )

    assert '"output_type": "error"' not in out.read_text()


def test_the_declared_files_are_what_binder_reads() -> None:
    files = {path.name for path in (ROOT / "binder").iterdir()}

    assert files == {"requirements.txt", "runtime.txt", "apt.txt", "postBuild", "start"}
    assert (ROOT / "binder" / "runtime.txt").read_text().strip() == "python-3.11"
