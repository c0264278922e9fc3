from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from octo_lab.tools.builtin.code_structure import TOOL

pytestmark = pytest.mark.anyio

Use = Callable[..., Awaitable[str]]


async def test_a_file_is_outlined_with_line_numbers(use: Use, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("class A:\n    def f(self):\n        pass\n\ndef g(x")
    assert await use(TOOL, path="a.py") == (
        "a.py (Python, 5 lines, with syntax errors)\n  1: class A\n  2:   def f(self)"
    )


async def test_a_folder_is_outlined_as_git_sees_it(use: Use, tmp_path: Path) -> None:
    for name, text in {
        "b.sh": "f() { :; }\n",
        "pkg/a.py": "class A:\n  class B:\n    class C:\n      pass\n",
        "build/x.py": "def no(): pass\n",
        ".gitignore": "build/\n",
        "README.md": "hi",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert await use(TOOL) == (
        "b.sh (Bash, 1 lines)\n  1: f()\n"
        "pkg/a.py (Python, 4 lines)\n  1: class A\n  2:   class B\n"
        "[other files: 1 .gitignore, 1 .md]"
    )
    assert await use(TOOL, path="pkg/") == (
        "pkg/a.py (Python, 4 lines)\n  1: class A\n  2:   class B"
    )


async def test_very_many_definitions_are_shown_in_part(use: Use, tmp_path: Path) -> None:
    text = "".join(f"def f{number}(): pass\n" for number in range(500))
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text(text)
    shown = (await use(TOOL)).split("\n")
    assert len(shown) < 610
    assert shown[-2:] == [
        "  [401 more definitions]",
        "[1 more source files: outline a smaller folder, or each]",
    ]


async def test_a_file_with_a_byte_order_mark_is_source_too(use: Use, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes("\ufeffdef ž(): pass\r\n".encode("utf-16-le"))
    assert await use(TOOL, path="a.py") == "a.py (Python, 1 lines)\n  1: def ž()"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("none.py", "failed: 'none.py' does not exist"),
        ("../x.py", "failed: '../x.py' leads outside the workspace (do not use '..')"),
        ("a.txt", "failed: 'a.txt' is of no language that can be outlined (known: .bash .c "),
        ("big.py", "failed: 'big.py' has more than 1 MB (search in it with grep)"),
    ],
)
async def test_what_cannot_be_outlined_says_why(
    use: Use, tmp_path: Path, path: str, said: str
) -> None:
    (tmp_path / "a.txt").write_text("")
    (tmp_path / "big.py").write_text("#" * 1_000_001)
    assert (await use(TOOL, path=path)).startswith(said)


async def test_an_empty_folder_says_so(use: Use, tmp_path: Path) -> None:
    assert await use(TOOL) == "'.' holds no files."
