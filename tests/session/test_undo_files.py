"""What is taken back, for every sort of file and whatever happened to it since."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from octo_lab.core.mail import AskOptions
from octo_lab.security.paths import Enclosure
from octo_lab.session.undo import Step, take_steps
from tests.session.undoing import Change, Chat, edits, patches, writes

pytestmark = pytest.mark.anyio


def deletes(path: str, *lines: str) -> Change:
    removed = "".join(f"-{line}\n" for line in lines)
    return patches(path, f"--- a/{path}\n+++ /dev/null\n@@ -1,{len(lines)} +0,0 @@\n{removed}")


FILES: dict[str, tuple[bytes, int]] = {
    "binary": (bytes(range(256)), 0o600),
    "windows.txt": (b"one\r\ntwo\n\r\nthree", 0o644),
    "marked.txt": (b"\xef\xbb\xbfone\r\n", 0o664),
    "wide.txt": ("\ufeffžluť\n".encode("utf-16-le"), 0o644),
    "western.txt": (b"caf\xe9\n", 0o444 | 0o200),
    "empty": (b"", 0o755),
    "run.sh": (b"#!/bin/sh\ntrue\n", 0o755),
    'žluť "x".txt': (b"one\n", 0o640),
}
TURNS: dict[str, tuple[Change, ...]] = {
    "a binary file replaced by text": (writes("binary", "text"),),
    "a file of mixed line ends": (edits("windows.txt", "two", "2"),),
    "a file with a mark": (edits("marked.txt", "one", "two\n"),),
    "a file of two bytes a letter": (edits("wide.txt", "žluť", "kůň"),),
    "a file of an old encoding": (edits("western.txt", "é", "è"),),
    "an empty file filled": (writes("empty", "full"),),
    "a file emptied": (writes("run.sh", ""),),
    "an empty file made": (writes("new/empty", ""),),
    "a file deleted": (deletes("run.sh", "#!/bin/sh", "true"),),
    "a file deleted and made again": (
        deletes("run.sh", "#!/bin/sh", "true"),
        writes("run.sh", "other\n"),
    ),
    "a file renamed": (
        deletes("run.sh", "#!/bin/sh", "true"),
        writes("bin/start.sh", "#!/bin/sh\ntrue\n"),
    ),
    "a file made and deleted": (writes("a/b/c", "x\n"), deletes("a/b/c", "x")),
    "an odd name": (edits('žluť "x".txt', "one", "two"),),
    "several files of several folders": (
        writes("x/1", "1"),
        writes("x/y/2", "2"),
        edits("windows.txt", "one", "1"),
        writes("x/1", "one"),
        writes("empty", "\r\n"),
    ),
}


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    for name, (data, mode) in FILES.items():
        (tmp_path / name).write_bytes(data)
        (tmp_path / name).chmod(mode)
    (tmp_path / "link").symlink_to("run.sh")
    return Chat(tmp_path)


@pytest.mark.parametrize("changes", TURNS.values(), ids=TURNS)
async def test_it_is_as_before_then_as_after_then_as_before(
    chat: Chat, changes: tuple[Change, ...]
) -> None:
    before = await chat.tree()
    await chat.run(changes)
    after = await chat.tree()

    for line, wanted in (("/undo", before), ("/redo", after), ("/undo", before)):
        (said,) = await chat.run(lines=(line,))
        tree = await chat.tree()
        assert not said.startswith("failed"), said
        assert {n: f for n, f in tree.items() if f} == {n: f for n, f in wanted.items() if f}
    assert tree == before


def _mine(path: Path) -> object:
    return path.write_bytes(b"mine")


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _other_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("binary")


SINCE: dict[str, Callable[[Path], object]] = {
    "written": _mine,
    "deleted": Path.unlink,
    "made a folder": _folder,
    "made a link": _other_link,
}


@pytest.mark.parametrize("since", SINCE.values(), ids=SINCE)
@pytest.mark.parametrize(
    "changes",
    [
        (edits("run.sh", "true", "false"), writes("other", "x")),
        (writes("run.sh", ""), writes("other", "x")),
    ],
)
async def test_no_file_is_touched_while_one_was_changed_since(
    chat: Chat, changes: tuple[Change, ...], since: Callable[[Path], object]
) -> None:
    await chat.run(changes)
    await chat.do(lambda folder: since(folder / "run.sh"))
    left = await chat.tree()

    (said,) = await chat.run(lines=("/undo",))

    assert said == (
        "failed: Nothing was changed: 'run.sh' was changed since "
        "(`/undo force` overwrites what is there now)"
    )
    assert await chat.tree() == left


async def test_a_file_that_was_made_and_is_gone_already_is_no_conflict(chat: Chat) -> None:
    before = await chat.tree()
    await chat.run((writes("new/x", "x"), writes("new/y", "y")))
    await chat.do(lambda folder: (folder / "new" / "x").unlink())

    assert await chat.run(lines=("/undo",)) == [
        "Taken back:\n- removed 'new/y'\n- left 'new/x': it was so already"
    ]
    assert await chat.tree() == before


async def test_a_folder_that_holds_something_else_by_now_stays(chat: Chat) -> None:
    await chat.run((writes("new/x", "x"),))
    await chat.do(lambda folder: (folder / "new" / "mine").write_bytes(b"mine"))

    await chat.run(lines=("/undo",))

    tree = await chat.tree()
    assert (tree["new/mine"] or (b"",))[0] == b"mine"
    assert "new/x" not in tree


async def test_a_file_that_may_not_be_written_any_more_is_named(chat: Chat) -> None:
    await chat.run((edits("run.sh", "true", "false"), writes("other", "x")))
    await chat.do(lambda folder: (folder / "run.sh").chmod(0o555))

    (said,) = await chat.run(lines=("/undo",))

    assert said == (
        "failed: Taken back:\n- removed 'other'\nFailed:\n"
        "- 'run.sh' is read-only (ask the owner, or write another file)"
    )
    await chat.do(lambda folder: (folder / "run.sh").chmod(0o755))
    assert await chat.run(lines=("/undo",)) == ["Taken back:\n- restored 'run.sh'"]


async def test_two_sessions_that_touch_one_file_are_taken_back_in_their_order(chat: Chat) -> None:
    before = await chat.tree()
    await chat.run((edits("run.sh", "true", "one"),), session="first")
    between = await chat.tree()
    await chat.run((edits("run.sh", "one", "two"),), session="second")

    (refused,) = await chat.run(lines=("/undo",), session="first")
    assert refused.startswith("failed: Nothing was changed: 'run.sh' was changed since")
    assert await chat.run(lines=("/undo",), session="second") == [
        "Taken back:\n- restored 'run.sh'"
    ]
    assert await chat.tree() == between
    assert await chat.run(lines=("/undo",), session="first") == ["Taken back:\n- restored 'run.sh'"]
    assert await chat.tree() == before


async def test_what_was_taken_back_is_not_made_again_over_newer_changes(chat: Chat) -> None:
    await chat.run((edits("run.sh", "true", "one"),), lines=("/undo",))
    await chat.run((edits("run.sh", "true", "two"),))
    newer = await chat.tree()

    (said,) = await chat.run(lines=("/redo",))

    assert said == (
        "failed: Nothing was changed: 'run.sh' was changed since "
        "(`/redo force` overwrites what is there now)"
    )
    assert await chat.tree() == newer
    assert await chat.run(lines=("/redo force",)) == ["Made again:\n- restored 'run.sh'"]


def test_a_change_that_comes_between_the_look_and_the_write_is_kept(tmp_path: Path) -> None:
    """Somebody writes after it was seen that nobody did."""
    file = tmp_path / "f"
    file.write_bytes(b"new")
    names = {b"new": _sha(b"new"), b"old": _sha(b"old")}
    step = Step(path="f", now=names[b"new"], then=names[b"old"], mode=0o644, made=0, ids=(1,))

    def read(name: str) -> bytes:
        file.write_bytes(b"mine")
        return b"old"

    result = take_steps(Enclosure(root=tmp_path), [step], read, force=False)

    assert (result.done, result.failures) == ((), ("'f' was changed just now",))
    assert file.read_bytes() == b"mine"


def _sha(data: bytes) -> str:
    return sha256(data).hexdigest()


async def test_a_cell_that_ran_again_is_taken_back_to_before_its_first_run(chat: Chat) -> None:
    """The second turn takes the place of the first in the conversation, not in the files."""
    before = await chat.tree()
    slot = AskOptions(headless=True, slot="cell-1")
    await chat.run((edits("run.sh", "true", "one"),), options=slot)
    between = await chat.tree()
    await chat.run((edits("run.sh", "one", "two"), writes("new/x", "x")), options=slot)

    for wanted in (between, before):
        (said,) = await chat.run(lines=("/undo",))
        assert not said.startswith("failed")
        assert await chat.tree() == wanted
    assert (await chat.run(lines=("/redo", "/redo")))[1].startswith("Made again")
