from __future__ import annotations

import anyio.to_thread
import pytest

from octo_lab.tools.gitpatterns import GitPatterns


@pytest.mark.parametrize(
    ("lines", "path", "ignored"),
    [
        ("*.log", "a/b.log", True),
        ("*.log", "a/b.txt", None),
        ("/*.log", "a/b.log", None),
        ("a/b", "a/b", True),
        ("a/b", "c/a/b", None),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("a/**", "a", None),
        ("*.log\n!keep.log", "keep.log", False),
        ("!keep.log\n*.log", "keep.log", True),
        ("# x\n\n!\n/", "# x", None),
        ("\\#x", "#x", True),
        ("a\\ ", "a ", True),
        ("a ", "a", True),
        ("[a-c]x", "bx", True),
        ("[!a-c]x", "bx", None),
        ("[!a]b", "/b", None),
        ("a[", "a[", None),
        ("a.b", "axb", None),
        ("caf?", "caf\udce9", True),
        ("*ž*", "xžx", True),
    ],
)
def test_the_last_pattern_that_fits_decides(lines: str, path: str, ignored: bool | None) -> None:
    assert GitPatterns(lines.split("\n")).ignored(path) is ignored


def test_a_pattern_of_folders_fits_no_file() -> None:
    patterns = GitPatterns(["build/"])

    assert patterns.ignored("build") is None
    assert patterns.ignored("build", folder=True) is True
    assert patterns.ignored("a/build", folder=True) is True


@pytest.mark.anyio
async def test_a_hostile_pattern_takes_no_time() -> None:
    patterns = GitPatterns(["*a" * 50 + "b"])

    found = await anyio.to_thread.run_sync(patterns.ignored, "a" * 250)

    assert found is None
