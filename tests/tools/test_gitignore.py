from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from octo_lab.core.errors import ToolFailed
from octo_lab.security.paths import Enclosure
from octo_lab.tools.gitignore import walk_unignored


def walked(folder: Path, path: str = ".") -> list[str]:
    return [entry.path for entry in walk_unignored(Enclosure(root=folder), path)]


def fill(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def test_the_files_of_a_folder_come_before_those_deeper(tmp_path: Path) -> None:
    fill(tmp_path, "b/z", "b/a/x", "a/y", "c")

    assert walked(tmp_path) == ["c", "a/y", "b/z", "b/a/x"]
    assert walked(tmp_path, "b") == ["b/z", "b/a/x"]


def test_a_line_that_is_no_pattern_does_not_spoil_the_others(tmp_path: Path) -> None:
    fill(tmp_path, "a.log", "b")
    (tmp_path / ".gitignore").write_text("!\n*.log\n")

    assert walked(tmp_path) == [".gitignore", "b"]


@pytest.mark.parametrize("path", ["nope", "file", "../x", "link"])
def test_only_folders_of_the_workspace_are_walked(tmp_path: Path, path: str) -> None:
    fill(tmp_path, "file")
    (tmp_path / "link").symlink_to("/etc")

    with pytest.raises(ToolFailed):
        walked(tmp_path, path)


NAMES = ["a", "b", "x.py", "y.log", "d/a", "d/x.py", "d/e/a", "d/e/y.log", "f/b", "f/e/x.py"]
PATTERNS = st.sampled_from(
    ["a", "/a", "*.py", "*.log", "d/", "/d/e", "e/", "!a", "!*.py", "**/e/*", "d/**", "!d/e/",
     "f/*/x.py", "# note", "", "!d/", "[xy].*", "?", "[!x].log", "[]x].py", "[^a-w].*",
     "**", "*", "!*/", "/*", "d/*", "**/", "***", "a**", "d**/e", "/**/e/a", "\\a", "a ", "/",
     "//", "[", "x.py\\", "[[:alpha:]]", "d/e/**/a", "!/d/e/a", "**/d/**", "f/**/", "*/", "[x-]*"]
)  # fmt: skip


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.differing_executors])
@given(root=st.lists(PATTERNS, max_size=5), inner=st.lists(PATTERNS, max_size=3))
def test_git_itself_sees_the_same_files(
    tmp_path_factory: pytest.TempPathFactory, root: list[str], inner: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("tree")
    fill(folder, *NAMES)
    (folder / ".gitignore").write_text("\n".join(root))
    (folder / "d/.gitignore").write_text("\n".join(inner))
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)

    command = ["git", "ls-files", "--others", "--exclude-standard"]
    seen = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout

    assert sorted(walked(folder)) == sorted(seen.split())
