from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_lab.core.errors import ToolFailed
from octo_lab.security.paths import Edited, Enclosure, Root
from octo_lab.security.replacing import LARGEST


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    root.mkdir()
    (root / "top.txt").write_bytes(b"top")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x").write_bytes(b"outside")
    return root


def failure(action: Callable[[], object]) -> str:
    with pytest.raises(ToolFailed) as raised:
        action()
    return str(raised.value)


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_new_file_gets_its_folders_and_the_usual_permissions(root: Path) -> None:
    before = os.umask(0o027)
    try:
        done = Enclosure(root=root).write_file("a/b/new.txt", b"new")
    finally:
        os.umask(before)
    assert done == Edited(path="a/b/new.txt", before=None, after=b"new", mode=0o640, made=2)
    assert (root / "a/b/new.txt").read_bytes() == b"new"
    assert everything(root) == ["a", "a/b", "a/b/new.txt", "top.txt"]


def test_a_replaced_file_keeps_its_permissions(root: Path) -> None:
    (root / "top.txt").chmod(0o750)
    done = Enclosure(root=root).write_file(str(root / "top.txt"), b"next")
    assert done == Edited(path="top.txt", before=b"top", after=b"next", mode=0o750)
    assert stat.S_IMODE((root / "top.txt").stat().st_mode) == 0o750
    assert everything(root) == ["top.txt"]


def test_a_removed_file_takes_the_folders_made_for_it_along(root: Path) -> None:
    files = Enclosure(root=root)
    made = files.write_file("a/b/new.txt", b"").made
    assert files.remove("a/b/new.txt", made=made).after is None
    assert everything(root) == ["top.txt"]


def test_a_folder_in_which_something_else_lies_stays(root: Path) -> None:
    files = Enclosure(root=root)
    made = files.write_file("a/b/new.txt", b"").made
    files.write_file("a/other.txt", b"")
    files.remove("a/b/new.txt", made=made)
    assert everything(root) == ["a", "a/other.txt", "top.txt"]


def test_a_link_is_neither_written_through_nor_replaced(root: Path) -> None:
    outside = root.parent / "outside"
    (root / "out").symlink_to(outside)
    (root / "x").symlink_to(outside / "x")
    files = Enclosure(root=root)
    for path in ("out/new/f", "out/x", "x"):
        assert "is a symbolic link" in failure(partial(files.write_file, path, b"!"))
        assert "is a symbolic link" in failure(partial(files.remove, path))
    assert everything(outside) == ["x"]
    assert (outside / "x").read_bytes() == b"outside"


def test_a_hard_link_is_parted_from_its_other_names(root: Path) -> None:
    os.link(root.parent / "outside" / "x", root / "x")
    Enclosure(root=root).write_file("x", b"inside")
    assert (root.parent / "outside" / "x").read_bytes() == b"outside"
    assert (root / "x").read_bytes() == b"inside"


def test_what_is_no_file_is_refused(root: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "folder").mkdir()
    files = Enclosure(root=root)
    cases = {
        "pipe": "'pipe' is no regular file",
        "folder": "'folder' is a folder (name a file)",
        "new/": "'new/' names a folder (name a file)",
        ".": "'.' is a folder (list it instead)",
        "../outside/x": "'../outside/x' leads outside the workspace (do not use '..')",
        "top.txt/x": "'top.txt/x' is not a folder",
        "y" * 256: f"{'y' * 256!r} is too long for a path",
        "a\0b": "'a\\x00b' is no path",
        "\ud800": "'\\ud800' is no path",
    }
    assert {path: failure(partial(files.write_file, path, b"")) for path in cases} == cases
    assert everything(root) == ["folder", "pipe", "top.txt"]


def test_nothing_is_made_under_a_private_name_that_is_not_there_yet(root: Path) -> None:
    elsewhere = root / "data"
    files = Enclosure(root=root, private=(".octo", elsewhere))
    for path in (".octo/config.toml", ".octo", ".OCTO/x", "data/x"):
        assert failure(partial(files.write_file, path, b"")).endswith("is private to octo_lab")
    assert everything(root) == ["top.txt"]
    files.write_file("a/.octo/x", b"")


def test_a_private_folder_is_refused_under_each_of_its_names(root: Path) -> None:
    (root / "state").mkdir()
    (root / "state" / "token").write_bytes(b"secret")
    for files in (
        Enclosure(root=root, private=("state",)),
        Enclosure(root=root / "none", private=(root / "state",), others=(Root(path=root),)),
        Enclosure(root=root / "none", private=(root,), others=(Root(path=root / "state"),)),
        Enclosure(root=root / "none", private=(root / "state",), soft=True),
    ):
        (root / "none").mkdir(exist_ok=True)
        path = str(root / "state" / "token")
        assert failure(partial(files.open_file, path)).endswith("is private to octo_lab")


def test_other_roots_are_named_by_absolute_paths_and_written_only_where_allowed(
    root: Path,
) -> None:
    outside = root.parent / "outside"
    (root.parent / "open").mkdir()
    files = Enclosure(
        root=root, others=(Root(path=outside), Root(path=root.parent / "open", writable=True))
    )
    assert [entry.path for entry in files.walk(str(outside))] == [str(outside / "x")]
    with files.open_file(str(outside / "x")) as file:
        assert file.read() == b"outside"
    assert failure(lambda: files.write_file(str(outside / "x"), b"")) == (
        f"{str(outside / 'x')!r} may be read, but not changed"
    )
    new = str(root.parent / "open" / "a" / "new")
    assert files.write_file(new, b"1") == Edited(
        path=new, before=None, after=b"1", mode=0o666 & ~_umask(), made=1
    )
    assert failure(lambda: files.open_file("/etc/passwd")).startswith("'/etc/passwd' is outside")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_the_soft_mode_reaches_every_path(root: Path) -> None:
    files = Enclosure(root=root, soft=True)
    outside = str(root.parent / "outside" / "x")
    assert files.write_file(outside, b"changed").path == outside
    assert files.name(str(root / "top.txt")) == "top.txt"
    assert files.name("/") == "/"


def test_a_read_only_file_stays(root: Path) -> None:
    (root / "top.txt").chmod(0o444)
    assert failure(lambda: Enclosure(root=root).write_file("top.txt", b"")) == (
        "'top.txt' is read-only (ask the owner, or write another file)"
    )


def test_a_file_too_large_to_be_kept_is_not_replaced(root: Path) -> None:
    with (root / "big").open("wb") as file:
        file.truncate(LARGEST + 1)
    assert "has more than 10 MB" in failure(lambda: Enclosure(root=root).write_file("big", b""))
    assert (root / "big").stat().st_size == LARGEST + 1


@pytest.mark.parametrize(
    "name", ["a\nb", "a\udcffb", "é" * 127 + "x", "*?[", " ", "-rf", "\x1b[31m"]
)
def test_odd_names_are_names(root: Path, name: str) -> None:
    files = Enclosure(root=root)
    files.write_file(name, b"odd")
    assert (root / name).read_bytes() == b"odd"
    assert files.remove(name).before == b"odd"


def test_a_change_that_fails_leaves_nothing_behind(root: Path) -> None:
    def refuse(data: bytes | None) -> bytes:
        raise ToolFailed("no")

    assert failure(lambda: Enclosure(root=root).edit("a/b/c", refuse)) == "no"
    assert everything(root) == ["top.txt"]


def test_a_change_is_made_again_for_a_file_that_was_changed_meanwhile(root: Path) -> None:
    seen: list[bytes | None] = []

    def add(data: bytes | None) -> bytes:
        seen.append(data)
        if len(seen) == 1:
            (root / "top.txt").write_bytes(b"other")
        return (data or b"") + b"+"

    done = Enclosure(root=root).edit("top.txt", add)
    assert seen == [b"top", b"other"]
    assert (done.before, done.after) == (b"other", b"other+")


def test_many_writers_lose_no_change(root: Path) -> None:
    files = Enclosure(root=root)

    def work(mark: bytes) -> None:
        for _ in range(10):
            files.edit("top.txt", lambda data: (data or b"") + mark)

    threads = [threading.Thread(target=work, args=(mark,)) for mark in (b"a", b"b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted((root / "top.txt").read_bytes()[3:]) == sorted(b"a" * 10 + b"b" * 10)


_CRASH = """
import os, sys
from pathlib import Path
from octo_lab.security.paths import Enclosure
sys.addaudithook(lambda event, args: event == "os.rename" and os._exit(7))
Enclosure(root=Path(sys.argv[1])).write_file("top.txt", b"new")
"""


def test_a_crash_before_the_new_file_takes_its_name_leaves_the_old_one(root: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _CRASH, str(root)], check=False)
    assert done.returncode == 7
    assert (root / "top.txt").read_bytes() == b"top"


@pytest.mark.skipif(os.getuid() != 0, reason="only root may mount a small file system")
def test_a_full_disk_leaves_the_old_file_and_no_temporary_one(root: Path) -> None:
    disk = root / "disk"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], check=False
    ).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        files = Enclosure(root=root)
        files.write_file("disk/f", b"old")
        assert failure(lambda: files.write_file("disk/f", b"x" * 100_000)) == (
            "'disk/f' cannot be written: No space left on device"
        )
        assert failure(lambda: files.write_file("disk/new/g", b"x" * 100_000)) == (
            "'disk/new/g' cannot be written: No space left on device"
        )
        assert everything(disk) == ["f"]
        assert (disk / "f").read_bytes() == b"old"
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@contextmanager
def swapping(folder: Path, target: Path) -> Iterator[None]:
    """Makes ``folder`` a link to ``target`` and a folder again, as fast as it can."""
    over = threading.Event()

    def swap() -> None:
        for number in count():
            if over.is_set():
                return
            kept = folder.with_name(f"kept{number}")
            for step in (
                partial(folder.rename, kept),
                partial(folder.symlink_to, target),
                folder.unlink,
                partial(kept.rename, folder),
            ):
                with suppress(OSError):  # the writer made the folder anew
                    step()

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_a_folder_swapped_for_a_link_never_leads_a_write_outside(root: Path) -> None:
    outside = root.parent / "outside"
    (root / "sub").mkdir()
    files = Enclosure(root=root)
    with swapping(root / "sub", outside):
        for number in range(1000):
            with suppress(ToolFailed):
                files.write_file(f"sub/f{number % 3}", str(number).encode())
                files.remove(f"sub/f{number % 3}")
    assert everything(outside) == ["x"]
    assert (outside / "x").read_bytes() == b"outside"


def test_a_file_swapped_for_a_link_is_never_written_through(root: Path) -> None:
    outside = root.parent / "outside" / "x"
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            (root / "new").write_bytes(b"mine")
            (root / "new").replace(root / "f")
            (root / "link").symlink_to(outside)
            (root / "link").replace(root / "f")

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(500):
            with suppress(ToolFailed):
                Enclosure(root=root).write_file("f", b"written")
    finally:
        over.set()
        thread.join()
    assert outside.read_bytes() == b"outside"


parts = st.sampled_from(["a", "b", "..", ".", "", "out", "/", "x", ".octo", "\udc80"])


@given(st.lists(parts, min_size=1, max_size=6).map("/".join))
def test_no_path_leads_outside(tmp_path_factory: pytest.TempPathFactory, path: str) -> None:
    base = tmp_path_factory.mktemp("enclosure")
    (base / "root" / "a").mkdir(parents=True)
    (base / "root" / "out").symlink_to(base)
    files = Enclosure(root=base / "root")
    with suppress(ToolFailed):
        files.write_file(path, b"x")
    assert [entry.name for entry in base.iterdir()] == ["root"]
    assert not (base / "root" / ".octo").exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root may mount a file system")
def test_a_read_only_folder_says_so(root: Path) -> None:
    disk = root / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "ro,size=64k", "tmpfs", str(disk)]
    if subprocess.run(mount, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        for path in ("disk/f", "disk/new/f"):
            said = failure(partial(Enclosure(root=root).write_file, path, b""))
            assert said == f"{path!r} cannot be written: Read-only file system"
    finally:
        subprocess.run(["umount", str(disk)], check=True)
