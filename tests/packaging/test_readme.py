"""The README says nothing that does not run."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.packaging.environments import ROOT, plain_environment, run

pytestmark = [pytest.mark.packaging, pytest.mark.timeout(300)]

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def blocks(*languages: str) -> list[str]:
    return [body for language, body in BLOCKS if language in languages]


def commands(program: str) -> list[list[str]]:
    """Every line of the shell blocks and every `code` of the text that starts with ``program``."""
    lines = [line for body in blocks("bash") for line in body.splitlines()]
    lines += re.findall(r"`([^`\n]+)`", README)
    words = [shlex.split(line, comments=True) for line in lines if line.startswith(program + " ")]
    return [command for command in words if "…" not in " ".join(command)]


def test_each_make_target_exists() -> None:
    named = {command[1] for command in commands("make")}
    targets = set(re.findall(r"^(\w+):.*##", MAKEFILE, re.MULTILINE))

    assert named >= {"lab", "test", "demo"}
    assert named <= targets


def test_make_demo_prints_the_conversation() -> None:
    printed = run(["make", "--silent", "demo"])

    assert "│ %octo" in printed
    assert "✓ python(" in printed


def test_make_lab_serves_the_quickstart(tmp_path: Path) -> None:
    """The same script as ``make lab``, without opening a browser."""
    port = "18988"
    options = ["--no-browser", f"--port={port}", "--IdentityProvider.token=t"]
    server = subprocess.Popen(
        [ROOT / ".ci" / "lab", "notebooks/guide/00-quickstart.ipynb", *options],
        cwd=ROOT,
        env=plain_environment({"JUPYTER_CONFIG_DIR": str(tmp_path), "HOME": str(tmp_path)}),
        stderr=subprocess.DEVNULL,
    )
    try:
        page = _answer(f"http://127.0.0.1:{port}/lab/tree/notebooks/guide?token=t")
        specs = _answer(f"http://127.0.0.1:{port}/api/kernelspecs?token=t")
    finally:
        server.terminate()
        server.wait(timeout=30)

    assert "JupyterLab" in page
    assert "Octo (Python 3)" in specs


@pytest.mark.parametrize("command", commands("octo"), ids=" ".join)
def test_octo_commands_run(command: list[str], tmp_path: Path) -> None:
    if command[1] in ("chat", "gateway"):  # these stay; `--help` proves that they are there
        command = [*command[:2], "--help"]
    place = {"OCTO_HOME": str(tmp_path / "data"), "OCTO_WORKSPACE": str(tmp_path)}
    place["XDG_CONFIG_HOME"] = str(tmp_path)  # what is trusted is kept there

    run([Path(sys.executable).parent / command[0], *command[1:]], cwd=tmp_path, **place)


def test_the_cells_run_in_the_octo_kernel(tmp_path: Path) -> None:
    notebook, out = tmp_path / "readme.ipynb", tmp_path / "out.ipynb"
    notebook.write_text(json.dumps(_notebook(blocks("python", "octo"))), encoding="utf-8")
    place = {"OCTO_HOME": str(tmp_path / "data"), "OCTO_WORKSPACE": str(tmp_path)}

    command = [sys.executable, "-m", "papermill", "-k", "octo", str(notebook), str(out)]
    run(command, cwd=tmp_path, **place)

    cells = json.loads(out.read_text(encoding="utf-8"))["cells"]
    shown = [o["data"]["text/plain"] for cell in cells for o in cell["outputs"] if "data" in o]
    assert len(shown) >= 1


def _notebook(sources: list[str]) -> dict[str, object]:
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
        | {"id": f"cell{number}", "source": source.strip()}
        for number, source in enumerate(sources)
    ]
    kernel = {"name": "octo", "display_name": "Octo (Python 3)", "language": "python"}
    return {
        "cells": cells,
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _answer(url: str) -> str:
    for _ in range(300):
        try:
            with urllib.request.urlopen(url, timeout=5) as reply:
                return str(reply.read().decode())
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.2)
    raise AssertionError(f"nothing answered at {url}")


def test_its_pictures_are_small_and_shipped() -> None:
    pictures = [ROOT / path for path in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)]

    assert len(pictures) == 2
    assert all(picture.stat().st_size <= 300_000 for picture in pictures)
