from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from octo_lab.core.errors import ToolFailed
from octo_lab.security.paths import Enclosure, Entry


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    (root / "a" / "b").mkdir(parents=True)
    (root / "top.txt").write_text("top")
    (root / "a" / "b" / "deep.txt").write_text("deep")
    (root / ".octo").mkdir()
    (root / ".octo" / "token").write_text("secret")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x").write_text("outside")
    return root


def read(root: Path, path: str) -> bytes:
    with Enclosure(root=root).open_file(path) as file:
        return file.read()


def failure(root: Path, path: str) -> str:
    with pytest.raises(ToolFailed) as raised:
        read(root, path)
    return str(raised.value)


@pytest.mark.parametrize("path", ["a/b/deep.txt", "./a//b/./deep.txt"])
def test_a_file_below_the_root_is_read(root: Path, path: str) -> None:
    assert read(root, path) == b"deep"


def test_an_absolute_path_below_the_root_is_read(root: Path) -> None:
    assert read(root, str(root / "top.txt")) == b"top"


def test_a_path_through_the_links_that_lead_to_the_root_is_read(root: Path) -> None:
    link = root.parent / "link"
    link.symlink_to(root)
    enclosure = Enclosure(root=link)
    for path in (link / "top.txt", root / "top.txt"):
        with enclosure.open_file(str(path)) as file:
            assert file.read() == b"top"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("../outside/x", "'../outside/x' leads outside the workspace (do not use '..')"),
        ("a/../top.txt", "'a/../top.txt' leads outside the workspace (do not use '..')"),
        (
            "/etc/passwd",
            "'/etc/passwd' is outside the workspace (name a path relative to the workspace)",
        ),
        ("none.txt", "'none.txt' does not exist"),
        ("top.txt/x", "'top.txt/x' is not a folder"),
        ("a", "'a' is a folder (list it instead)"),
        (".", "'.' is a folder (list it instead)"),
        ("", "'' is a folder (list it instead)"),
        ("a\0b", "'a\\x00b' is no path"),
        ("\ud800", "'\\ud800' is no path"),
        ("x" * 300, f"'{'x' * 300}' is too long for a path"),
        (".octo/token", "'.octo/token' is private to octo_lab"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_reason(root: Path, path: str, message: str) -> None:
    assert failure(root, path) == message


def test_links_are_not_followed_wherever_they_point(root: Path) -> None:
    (root / "out").symlink_to(root.parent / "outside")
    (root / "a" / "in.txt").symlink_to(root / "top.txt")
    assert failure(root, "out/x") == (
        "'out' in 'out/x' is a symbolic link (links are not followed)"
    )
    assert failure(root, "a/in.txt") == (
        "'in.txt' in 'a/in.txt' is a symbolic link (links are not followed)"
    )


def test_a_pipe_is_refused_without_waiting_for_a_writer(root: Path) -> None:
    os.mkfifo(root / "pipe")
    assert failure(root, "pipe") == "'pipe' is no regular file"


def test_a_folder_is_listed_by_name_without_the_private_one(root: Path) -> None:
    (root / "out").symlink_to(root.parent / "outside")
    os.mkfifo(root / "pipe")
    assert Enclosure(root=root).list_dir() == [
        Entry(path="a", kind="folder"),
        Entry(path="out", kind="link"),
        Entry(path="pipe", kind="other"),
        Entry(path="top.txt", kind="file", size=3),
    ]
    assert Enclosure(root=root).list_dir("a/b") == [Entry(path="a/b/deep.txt", kind="file", size=4)]


def test_a_private_folder_elsewhere_is_hidden_too(root: Path) -> None:
    enclosure = Enclosure(root=root, private=(root / "a" / "b",))
    assert enclosure.list_dir("a") == []
    with pytest.raises(ToolFailed, match="is private"):
        enclosure.open_file("a/b/deep.txt")


def test_a_walk_meets_every_file_once_and_leaves_out_what_it_shall_skip(root: Path) -> None:
    (root / "a" / "a.txt").write_text("")
    (root / "node_modules").mkdir()
    (root / "node_modules" / "m.js").write_text("")
    (root / "a" / "loop").symlink_to(root)
    found = [e.path for e in Enclosure(root=root).walk(skip={"node_modules"})]
    assert found == ["top.txt", "a/a.txt", "a/b/deep.txt"]
    assert [e.path for e in Enclosure(root=root).walk("a/b")] == ["a/b/deep.txt"]


def test_a_walk_of_what_is_no_folder_is_refused(root: Path) -> None:
    with pytest.raises(ToolFailed, match="is not a folder"):
        list(Enclosure(root=root).walk("top.txt"))


def test_a_folder_that_vanishes_during_a_walk_is_passed_over(root: Path) -> None:
    walk = Enclosure(root=root).walk()
    assert next(walk).path == "top.txt"
    (root / "a" / "b" / "deep.txt").unlink()
    (root / "a" / "b").rmdir()
    (root / "a").rmdir()
    assert list(walk) == []


def test_no_descriptor_stays_open(root: Path) -> None:
    enclosure = Enclosure(root=root)
    before = len(os.listdir("/dev/fd"))  # noqa: PTH208 - pathlib holds none either, but be exact
    list(enclosure.walk())
    for path in ("a", "../x", "none", ".octo/token", "a/b/none"):
        failure(root, path)
    assert len(os.listdir("/dev/fd")) == before  # noqa: PTH208


@pytest.fixture
def swapped(root: Path) -> Iterator[str]:
    """A folder that is a link to the outside half of the time, swapped by another thread."""
    inside, link = root / "real", root / "link"
    inside.mkdir()
    (inside / "x").write_text("inside")
    link.symlink_to(root.parent / "outside")
    ended = threading.Event()

    def swap() -> None:
        while not ended.is_set():
            inside.rename(root / "dir")
            (root / "dir").rename(inside)
            inside.rename(root / "target")
            link.rename(inside)
            inside.rename(link)
            (root / "target").rename(inside)

    thread = threading.Thread(target=swap)
    thread.start()
    yield "real/x"
    ended.set()
    thread.join()


def test_a_folder_swapped_for_a_link_never_lets_the_outside_in(root: Path, swapped: str) -> None:
    seen: set[bytes] = set()
    refused = 0
    for _ in range(2000):
        try:
            seen.add(read(root, swapped))
        except ToolFailed:
            refused += 1
    assert seen == {b"inside"}
    assert refused
