"""The sandbox is chosen by trying; one that was set is never replaced by a weaker one."""

from __future__ import annotations

from pathlib import Path

import pytest

from octo_lab.core.errors import ToolFailed
from octo_lab.tools.sandbox.bwrap import FENCES
from octo_lab.tools.sandbox.choice import Choice, Tried, choose
from octo_lab.tools.sandbox.landlock_exec import landlock_version
from octo_lab.tools.sandbox.policy import SandboxPolicy
from octo_lab.tools.sandbox.report import sandbox_words

BROKEN = """#!/bin/sh
echo 'first line' >&2
echo 'bwrap: No permissions to create namespace' >&2
exit 1
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A search path without any sandbox."""
    return tmp_path


def program(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


@pytest.mark.bwrap
def test_bubblewrap_is_the_first_choice() -> None:
    choice = choose(SandboxPolicy())

    assert (choice.kind, choice.tried, choice.layout.folders[0]) == ("bwrap", (), "/usr")
    assert choice.fence in FENCES


def test_what_does_not_work_is_passed_over_with_its_own_words(path: Path) -> None:
    if not landlock_version():
        pytest.skip("no Landlock in this kernel")
    program(path, "bwrap", BROKEN)
    program(path, "docker", "#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2\nexit 1\n")

    choice = choose(SandboxPolicy(image="img"), str(path))

    assert choice.kind == "landlock"
    assert choice.tried == (
        Tried(kind="bwrap", fault="bwrap: No permissions to create namespace"),
        Tried(kind="macos", fault="this is no macOS"),
        Tried(
            kind="docker",
            fault="the image 'img' cannot be used: Cannot connect to the Docker daemon",
        ),
    )


def test_an_image_that_is_there_is_tried(path: Path) -> None:
    program(path, "docker", "#!/bin/sh\nexit 0\n")

    choice = choose(SandboxPolicy(), str(path))

    assert choice.kind == "docker"
    assert choice.held == {"pids", "memory"}
    assert choice.tried[0] == Tried(kind="bwrap", fault="bwrap is not installed")


@pytest.mark.parametrize("mode", ["bwrap", "docker"])
def test_one_that_was_set_and_does_not_work_is_an_error(path: Path, mode: str) -> None:
    policy = SandboxPolicy(mode="bwrap" if mode == "bwrap" else "docker")

    with pytest.raises(ToolFailed, match=f"'{mode}' cannot be used: {mode} is not installed"):
        choose(policy, str(path))


def test_none_is_taken_when_it_was_set() -> None:
    choice = choose(SandboxPolicy(mode="none"))

    assert choice.kind == "none"
    assert "commands can do everything that you can" in choice.gaps


def test_a_choice_is_told_in_one_line() -> None:
    choice = Choice(
        kind="landlock",
        tried=(Tried(kind="bwrap", fault="not installed"),),
        held=frozenset({"pids"}),
        gaps=("the memory limit holds for each process alone",),
    )

    assert sandbox_words(choice) == (
        "landlock; not bwrap: not installed; limits that hold: processes; "
        "the memory limit holds for each process alone"
    )
    assert sandbox_words(Choice(kind="bwrap")) == "bwrap; limits that hold: none"
