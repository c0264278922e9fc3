from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from octo_lab.tools.builtin.list_dir import TOOL

pytestmark = pytest.mark.anyio

Use = Callable[..., Awaitable[str]]


async def test_folders_come_first_then_files_by_name(use: Use, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "z").mkdir()
    (tmp_path / "a.txt").write_bytes(b"x" * 1500)
    (tmp_path / "c.txt").write_text("abc")
    (tmp_path / "link").symlink_to("/etc")

    assert await use(TOOL) == (
        "[dir] b\n[dir] z\n[file] a.txt (1.5 kB)\n[file] c.txt (3 bytes)\n[link] link"
    )


async def test_an_empty_folder_says_so(use: Use, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()

    assert await use(TOOL, path="b") == "(empty folder)"


async def test_a_huge_folder_is_cut(use: Use, tmp_path: Path) -> None:
    for n in range(1003):
        (tmp_path / f"{n:04}").touch()

    lines = (await use(TOOL, path="")).split("\n")

    assert lines[-2:] == ["[file] 0999 (0 bytes)", "[3 more entries]"]


@pytest.mark.parametrize("path", ["..", "/etc", "nope", "file", "link"])
async def test_what_is_no_folder_of_the_workspace_is_refused(
    use: Use, tmp_path: Path, path: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("/etc")

    assert (await use(TOOL, path=path)).startswith("failed: ")
