from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from octo_lab.tools.builtin import (
    code_structure,
    diff_edit,
    edit_file,
    grep,
    list_dir,
    read_file,
)
from octo_lab.tools.nearby import near_hint, nearby
from octo_lab.tools.tool import Tool
from octo_lab.tools.workspace import enclosure

pytestmark = pytest.mark.anyio

Use = Callable[..., Awaitable[str]]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("src/app/Main.py", "src/app/views.py", "docs/index.md", "old/views.py", "secret"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / ".gitignore").write_text("old/\n")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("src/app/main.py", ["src/app/Main.py"]),
        ("scr/ap/view.py", ["src/app/views.py"]),
        ("views.py", ["src/app/views.py"]),
        ("lib/INDEX.md", ["docs/index.md"]),
        ("docs/index.md/", ["docs/index.md"]),
        ("doc", ["docs"]),
        ("quite/another.txt", []),
    ],
)
def test_a_wrong_path_leads_to_what_may_be_meant(tree: Path, path: str, near: list[str]) -> None:
    assert nearby(enclosure(tree, ()), path) == near


@pytest.mark.parametrize("path", ["../secret", "/etc/passwds", ".octo/conf", "a\0b"])
def test_nothing_outside_is_named(tree: Path, path: str) -> None:
    (tree / ".octo").mkdir()
    (tree / ".octo" / "config").touch()

    assert near_hint(enclosure(tree, ()), path) == ""


_MAIN = "'main.py' does not exist (did you mean 'src/app/Main.py'?)"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (read_file.TOOL, {}),
        (edit_file.TOOL, {"old_string": "a", "new_string": "b"}),
        (diff_edit.TOOL, {"diff": "@@ -1 +1 @@\n-a\n+b\n"}),
        (grep.TOOL, {"pattern": "a"}),
        (list_dir.TOOL, {}),
        (code_structure.TOOL, {}),
    ],
    ids=lambda value: value.name if isinstance(value, Tool) else "",
)
async def test_each_tool_says_what_is_near(
    use: Use, tree: Path, tool: Tool, arguments: dict[str, str]
) -> None:
    assert await use(tool, path="main.py", **arguments) == f"failed: {_MAIN}"
