from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from octo_lab.tools.builtin.glob import TOOL

pytestmark = pytest.mark.anyio

Use = Callable[..., Awaitable[str]]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in (
        "b.py",
        "a.py",
        "src/x.ts",
        "src/deep/y.tsx",
        "src/deep/z.py",
        "build/out.py",
        ".git/config",
        "odd\nname.md",
        "[x].txt",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / ".gitignore").write_text("build/\n")
    (tmp_path / "out").symlink_to("/etc")
    return tmp_path


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", "a.py\nb.py"),
        ("./*.py", "a.py\nb.py"),
        ("**/*.py", "a.py\nb.py\nsrc/deep/z.py"),
        ("src/**/*.{ts,tsx}", "src/deep/y.tsx\nsrc/x.ts"),
        ("src/*", "src/x.ts"),
        ("src/", "src/deep/y.tsx\nsrc/deep/z.py\nsrc/x.ts"),
        ("src/**", "src/deep/y.tsx\nsrc/deep/z.py\nsrc/x.ts"),
        ("[ab].py", "a.py\nb.py"),
        (r"\[x\].txt", "[x].txt"),
        ("*.md", '"odd\\nname.md"'),
        ("out/*", "No file fits 'out/*'."),
        ("*.rs", "No file fits '*.rs'. At any depth: `**/*.rs`."),
        ("build/*.py", "No file fits 'build/*.py'."),
        ("*.{a", "No file fits '*.{a'. At any depth: `**/*.{a`."),
    ],
)
async def test_files_are_found_by_pattern(use: Use, tree: Path, pattern: str, found: str) -> None:
    assert await use(TOOL, pattern=pattern) == found


async def test_everything_is_found_in_order(use: Use, tree: Path) -> None:
    found = (await use(TOOL, pattern="**")).split("\n")
    assert found == [
        ".gitignore",
        "[x].txt",
        "a.py",
        "b.py",
        '"odd\\nname.md"',
        "src/deep/y.tsx",
        "src/deep/z.py",
        "src/x.ts",
    ]


async def test_the_number_of_files_is_limited(use: Use, tree: Path) -> None:
    assert await use(TOOL, pattern="**/*.py", limit=2) == (
        "a.py\nb.py\n[1 more files: narrow the pattern, or raise limit]"
    )


@pytest.mark.parametrize("pattern", ["/etc/*", "../*", "src/../../*", "{/etc,src}/*", "{..,src}/*"])
async def test_patterns_that_lead_outside_are_refused(use: Use, tree: Path, pattern: str) -> None:
    assert (await use(TOOL, pattern=pattern)).startswith("failed: ")


async def test_too_many_alternatives_are_refused(use: Use, tree: Path) -> None:
    said = await use(TOOL, pattern="{a,b}" * 10)
    assert said.endswith("has too many alternatives (search for each)")
