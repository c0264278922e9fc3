from __future__ import annotations

import os
from pathlib import Path

import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from octo_lab.security.paths import Enclosure
from octo_lab.tools.gitignore import ALWAYS_SKIPPED, walk_unignored
from octo_lab.tools.ripgrep import may_match, rust_pattern
from octo_lab.tools.workspace import utf8_lines

LINES = (
    "def alpha(self):",
    "  x = [1, 2] & ~y",
    "Größe = 'ß' STRASSE",
    "a-b a_b a.b a$b",
    "tab\there",
    "mid\rdle <b>",
    "",
    "漢字 kanji 42",
)
FILES = {
    "lf.txt": "\n".join(LINES).encode(),
    "crlf.txt": "\r\n".join(LINES).encode(),
    "bom.txt": "\ufeffdef first".encode(),
    "wide.txt": "\ufeffdef wide\r\n漢".encode("utf-16-le"),
    "latin.txt": b"caf\xe9 def\n",
    "late.txt": b"x" * 9000 + b"\0\nalpha\n",
    "sub/deep.py": b"def deep(): pass\n",
    ".hidden": b"alpha\n",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Enclosure:
    root = tmp_path_factory.mktemp("tree")
    for name, data in FILES.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(data)
    return Enclosure(root=root)


def named(files: Enclosure, pattern: str, *, ignore_case: bool = False) -> list[str] | None:
    return may_match(
        files, pattern, ignore_case=ignore_case, skipped=ALWAYS_SKIPPED, check=lambda: None
    )


def matching(files: Enclosure, pattern: str, *, ignore_case: bool) -> list[str] | None:
    """What is found without ripgrep; None for what is no pattern."""
    options = re2.Options()
    options.log_errors = False
    options.never_nl = True
    options.case_sensitive = not ignore_case
    try:
        compiled = re2.compile(b"(?m)" + pattern.encode(), options)
    except re2.error:
        return None
    found = []
    for entry in walk_unignored(files):
        with files.open_file(entry.path) as file:
            data = utf8_lines(file.read())
        match = compiled.search(data)
        if match and data and match.start() < len(data):
            found.append(entry.path)
    return found


atoms = st.sampled_from(
    [
        *("a", "D", "ß", "漢", ".", r"\w", r"\W", r"\d", r"\s", r"\S", r"\b", "^", "$", r"\."),
        *(r"\$", r"\-", r"\<", "[a-c]", "[^a-z]", r"[\w.]", "[]a]", "[&~[]", r"[^\s=]"),
        *("-", " ", "=", "(?:x|f)"),
    ]
)
quantified = st.builds(
    lambda atom, count: atom + count, atoms, st.sampled_from(["", "*", "+", "?", "{1,2}"])
)
patterns = st.lists(st.one_of(atoms, quantified), min_size=1, max_size=4).map("".join)


@settings(max_examples=150, deadline=None)
@given(patterns, st.booleans())
def test_ripgrep_names_every_file_that_matches(
    files: Enclosure, pattern: str, ignore_case: bool
) -> None:
    found = matching(files, pattern, ignore_case=ignore_case)
    likely = named(files, pattern, ignore_case=ignore_case)
    if found is not None and likely is not None:
        assert set(found) <= set(likely)


@pytest.mark.parametrize(
    ("pattern", "translated"),
    [
        (r"def \w+\(", r"def [0-9A-Za-z_]+\("),
        ("end$", r"end(?:\r?$)"),
        (r"\bx\B", r"(?-u:\b)x(?-u:\B)"),
        (r"[\d[&]", r"[0-9\[\&]"),
        (r"a\<b", "a<b"),
        ("(a|b$)", r"(a|b(?:\r?$))"),
        ("a$|b", r"a(?:\r?$)|b"),
        (r"$\b", None),
        (r"(a$|b)\b", None),
        (r"\Aabc", None),
        (r"\pL", None),
        ("(?s)a", None),
        ("(?P<n>a)", None),
        (r"[\W]", None),
        ("[[:alpha:]]", None),
        ("a\nb", None),
        ("[a", None),
        ("a\\", None),
    ],
)
def test_patterns_are_translated_or_left(pattern: str, translated: str | None) -> None:
    assert rust_pattern(pattern) == translated


def test_files_come_in_the_order_of_a_walk(files: Enclosure) -> None:
    assert named(files, "def") == [
        "bom.txt",
        "crlf.txt",
        "latin.txt",
        "lf.txt",
        "wide.txt",
        "sub/deep.py",
    ]


def test_what_is_ignored_private_or_elsewhere_is_not_named(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for name in (
        "keep.py",
        "ignored.py",
        "sub/own.py",
        "sub/keep.py",
        ".octo/token",
        "data [x]/token",
        "node_modules/m.js",
        ".git/config",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("needle\n")
    (root / ".gitignore").write_text("ignored.py\n")
    (root / "sub" / ".gitignore").write_text("own.py\n")
    (root / ".ignore").write_text("keep.py\n")
    (tmp_path / ".gitignore").write_text("*\n")
    (tmp_path / "outside").write_text("needle\n")
    (root / "link").symlink_to(tmp_path / "outside")
    (root / "folder").symlink_to(tmp_path)
    files = Enclosure(root=root, private=(".octo", root / "data [x]"))
    assert named(files, "needle") == ["keep.py", "sub/keep.py"]


def test_names_of_any_bytes_are_named(tmp_path: Path) -> None:
    for name in ("a\nb", "-x", "é\udcff"):
        Path(os.fsdecode(os.fsencode(tmp_path / name))).write_text("needle")
    assert named(Enclosure(root=tmp_path), "needle") == sorted(["-x", "a\nb", "é\udcff"])


def test_a_search_can_be_stopped(files: Enclosure) -> None:
    def check() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        may_match(files, "x", ignore_case=False, skipped=(), check=check)
