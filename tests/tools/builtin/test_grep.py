from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from octo_lab.tools.builtin.grep import TOOL

pytestmark = pytest.mark.anyio

Use = Callable[..., Awaitable[str]]


def fill(folder: Path, **files: str | bytes) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"pattern": "def"}, "a.py:1:def one():\nb/c.py:2:def two():"),
        ({"pattern": "DEF", "ignore_case": True}, "a.py:1:def one():\nb/c.py:2:def two():"),
        ({"pattern": "DEF"}, "No match for 'DEF'."),
        ({"pattern": "^$"}, "b/c.py:1:"),
        ({"pattern": r"one\(\):\s+return"}, "No match for 'one\\\\(\\\\):\\\\s+return'."),
        ({"pattern": "def", "path": "b"}, "b/c.py:2:def two():"),
        ({"pattern": "def", "path": "./b/"}, "b/c.py:2:def two():"),
        ({"pattern": "def", "path": "a.py"}, "a.py:1:def one():"),
        ({"pattern": "o", "file_pattern": "*.md"}, "n.md:1:one or two"),
        ({"pattern": "two", "file_pattern": "b/**/*.py"}, "b/c.py:2:def two():"),
        ({"pattern": "ü"}, "n.md:2:grüße"),
        ({"pattern": "x", "path": "nope"}, "failed: 'nope' does not exist"),
        (
            {"pattern": "("},
            "failed: '(' is no regular expression for RE2: missing ): ( (RE2 has no "
            "lookaround and no backreferences; escape brackets you mean literally)",
        ),
    ],
)
async def test_matching_lines_come_with_file_and_number(
    use: Use, tmp_path: Path, arguments: dict[str, Any], text: str
) -> None:
    files = {
        "a.py": "def one():\n    return 1\n",
        "b/c.py": "\r\ndef two():\r\n",
        "n.md": "one or two\ngrüße",
    }
    fill(tmp_path, **files)

    assert await use(TOOL, **arguments) == text


async def test_context_shows_each_line_once(use: Use, tmp_path: Path) -> None:
    fill(tmp_path, f="1\nx2\n3\nx4\n5\n6\n7\n8\nx9", g="x1\n")

    assert await use(TOOL, pattern="x", context=1) == (
        "f-1-1\nf:2:x2\nf-3-3\nf:4:x4\nf-5-5\n--\nf-8-8\nf:9:x9\n--\ng:1:x1\ng-2-"
    )


async def test_what_git_ignores_is_left_out(use: Use, tmp_path: Path) -> None:
    files = {
        ".gitignore": "*.log\n/build/\n!keep.log\n",
        "a.log": "x",
        "keep.log": "x",
        "build/out": "x",
        "sub/build/in": "x",
        "sub/.gitignore": "secret\n!b.log\n",
        "sub/secret": "x",
        "sub/b.log": "x",
        ".git/config": "x",
        "node_modules/m.js": "x",
        ".github/flow": "x",
    }
    fill(tmp_path, **files)

    text = await use(TOOL, pattern="x")

    assert text == "keep.log:1:x\n.github/flow:1:x\nsub/b.log:1:x\nsub/build/in:1:x"


async def test_an_ignored_folder_is_searched_when_it_is_named(use: Use, tmp_path: Path) -> None:
    fill(tmp_path, **{".gitignore": "build/\n", "build/out": "x", "build/.gitignore": "no"})
    fill(tmp_path, **{"build/no": "x"})

    assert await use(TOOL, pattern="x", path="build") == "build/out:1:x"


async def test_rules_of_the_folders_above_hold(use: Use, tmp_path: Path) -> None:
    fill(tmp_path, **{".gitignore": "*.log\n", "a/b.log": "x", "a/c": "x"})

    assert await use(TOOL, pattern="x", path="a") == "a/c:1:x"


async def test_the_limit_ends_the_search(use: Use, tmp_path: Path) -> None:
    fill(tmp_path, a="x\n" * 3, b="x\n")

    assert await use(TOOL, pattern="x", limit=2) == (
        "a:1:x\na:2:x\n[stopped at 2 matches: narrow the search, or raise limit]"
    )


async def test_binary_and_huge_files_are_left_out(use: Use, tmp_path: Path) -> None:
    fill(tmp_path, a=b"x\0x", b=b"x" * 10_000_001, c="žx".encode("utf-16"))

    assert await use(TOOL, pattern="x") == (
        "c:1:žx\n[1 files left out: above 10 MB, or not readable]"
    )


async def test_of_a_long_line_the_part_round_the_match_is_shown(use: Use, tmp_path: Path) -> None:
    fill(tmp_path, a="-" * 5000 + "x" + "-" * 5000)

    text = await use(TOOL, pattern="x")

    assert text == f"a:1:…{'-' * 200}x{'-' * 199}…"


async def test_links_are_not_followed(use: Use, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc")
    (tmp_path / "passwd").symlink_to("/etc/passwd")

    assert await use(TOOL, pattern="root") == "No match for 'root'."
    assert (await use(TOOL, pattern="root", path="link")).startswith("failed: ")


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(.*a){20}$", r"(x+x+)+y", r"^(a|aa)+$"])
async def test_no_pattern_takes_for_ever(use: Use, tmp_path: Path, pattern: str) -> None:
    fill(tmp_path, a="a" * 500_000 + "b", x="x" * 500_000)

    with anyio.fail_after(20):
        assert await use(TOOL, pattern=pattern) == f"No match for {pattern!r}."


async def test_a_search_can_be_cancelled(use: Use, tmp_path: Path) -> None:
    for n in range(3000):
        (tmp_path / f"{n}").write_text("y\n")

    with anyio.move_on_after(0.01) as scope:
        await use(TOOL, pattern="(?i:x)")  # one that ripgrep is not asked about

    assert scope.cancelled_caught


async def test_a_name_of_two_lines_is_quoted(use: Use, tmp_path: Path) -> None:
    (tmp_path / "a\nb.py:1:forged").write_text("x\n")
    assert await use(TOOL, pattern="x") == '"a\\nb.py:1:forged":1:x'
