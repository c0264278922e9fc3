"""The recipes of the page on writing a provider work as they are printed."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from octo_lab.llm.plugins import GROUP
from octo_lab.testing.llm_script import says
from octo_lab.testing.llm_server import LlmServer
from tests.cli.octo import KEY, Octo

PAGE = (files("octo_lab.tools.builtin.docs") / "providers.md").read_text("utf-8")
FACTS, OWN, PROGRAM = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
PROJECT = tomllib.loads(re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)[0])


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """A folder of installed packages, as an installer leaves it."""
    return tmp_path / "packages"


def install(packages: Path, code: str) -> None:
    """The package of the page, with one module: ``code``."""
    points = PROJECT["project"]["entry-points"][GROUP]
    lines = "".join(f"{name} = {value}\n" for name, value in points.items())
    info = packages / "my_lab-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-lab\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{lines}")
    (packages / "my_lab.py").write_text(code)


def test_a_provider_of_facts_is_listed_found_by_its_models_and_asked(
    octo: Octo, packages: Path
) -> None:
    install(packages, FACTS)
    bare = Octo(folder=octo.folder, env={"PYTHONPATH": str(packages)})
    with LlmServer(api_key=KEY, models=["lab-1", "lab-2"]) as server:
        server.script(says("hello"), says("ready"))
        keyed = {**bare.env, "LAB_API_KEY": KEY, "LAB_BASE_URL": server.base_url}
        octo = Octo(folder=octo.folder, env=keyed)
        answered = octo("run", "-m", "lab-2", "hi")
        tested = octo("providers", "test", "lab")
    listed = {one["name"]: one for one in bare("providers", "--json").json["providers"]}

    assert (answered.out, answered.err, answered.code) == ("hello\n", "", 0)
    assert (tested.code, [received.body["model"] for received in server.requests]) == (
        0,
        ["lab-2", "lab-1"],
    )
    assert listed["lab"]["key"] == "missing (set LAB_API_KEY)"
    assert listed["lab"]["base_url"] == "https://models.lab.example/v1 (built in)"


def test_a_provider_with_a_protocol_of_its_own_answers(octo: Octo, packages: Path) -> None:
    install(packages, OWN)
    octo = Octo(folder=octo.folder, env={"PYTHONPATH": str(packages)})
    assert octo("run", "-m", "echo", "--no-tools", "say it").out == "say it\n"


def test_a_program_asks_a_model(octo: Octo) -> None:
    with LlmServer(says("Hello!")) as server:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=octo.with_model(server).environ(),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert (done.stdout, done.stderr, done.returncode) == ("Hello!\n", "", 0)


def test_a_package_that_cannot_be_used_is_listed_with_why(octo: Octo, packages: Path) -> None:
    install(packages, "raise RuntimeError('boom')\n")
    broken = Octo(folder=octo.folder, env={"PYTHONPATH": str(packages)})("providers")
    assert broken.code == 0
    assert "lab         The provider plugin 'lab' could not be loaded: RuntimeError: boom" in (
        broken.out
    )
