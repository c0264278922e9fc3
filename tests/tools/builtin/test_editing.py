from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from octo_lab.tools.builtin import diff_edit, edit_file, list_dir, write_file
from octo_lab.tools.changes import Change
from octo_lab.tools.tool import ToolContext

pytestmark = pytest.mark.anyio

Use = Callable[..., Awaitable[str]]


async def test_a_file_is_made_replaced_and_left(use: Use, ctx: ToolContext, tmp_path: Path) -> None:
    said = [
        await use(write_file.TOOL, path="a/b.txt", content=content)
        for content in ("one\ntwo\n", "žluť", "žluť")
    ]
    assert said == [
        "Made 'a/b.txt': 2 lines, 8 bytes.",
        "Replaced 'a/b.txt': 1 line, 6 bytes, before 8 bytes.",
        "'a/b.txt' has this content already: 1 line, 6 bytes.",
    ]
    assert (tmp_path / "a" / "b.txt").read_bytes() == "žluť".encode()
    made, replaced = ctx.changes.files
    mode = (tmp_path / "a" / "b.txt").stat().st_mode & 0o777
    assert made == Change(
        path="a/b.txt",
        before=None,
        after=b"one\ntwo\n",
        mode=mode,
        made=1,
        diff="--- /dev/null\n+++ b/a/b.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n",
        call_id="1",
    )
    assert (replaced.before, replaced.after, replaced.made) == (b"one\ntwo\n", "žluť".encode(), 0)
    assert ctx.changes.diff_of("1") == made.diff + replaced.diff
    assert ctx.changes.diff_of("2") == ""


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\r\n", "a\nb", "x\ny", b"x\r\ny\r\n"),
        ("\ufeffaž\n".encode(), "ž", "č", "\ufeffač\n".encode()),
        ("\ufeffž\r\n".encode("utf-16-le"), "ž", "č", "\ufeffč\r\n".encode("utf-16-le")),
        (b"caf\xe9\n", "café", "thé", b"th\xe9\n"),
        ("ž".encode() + b"\xff old", "old", "new", "ž".encode() + b"\xff new"),
    ],
)
async def test_line_ends_marks_and_encodings_stay(
    use: Use, tmp_path: Path, before: bytes, old: str, new: str, after: bytes
) -> None:
    (tmp_path / "f").write_bytes(before)
    (tmp_path / "f").chmod(0o640)
    assert await use(edit_file.TOOL, path="f", old_string=old, new_string=new) == (
        "Edited 'f' at line 1."
    )
    assert (tmp_path / "f").read_bytes() == after
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o640


async def test_a_letter_the_encoding_lacks_is_refused(use: Use, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"caf\xe9")
    said = await use(edit_file.TOOL, path="f", old_string="caf", new_string="漢")
    assert said.startswith("failed: '漢' cannot be written in cp1252")
    assert (tmp_path / "f").read_bytes() == b"caf\xe9"


async def test_edits_that_cannot_be_made_change_nothing(
    use: Use, ctx: ToolContext, tmp_path: Path
) -> None:
    (tmp_path / "f").write_text("x\nx\n")
    (tmp_path / "bin").write_bytes(b"\0x")
    edit = partial(use, edit_file.TOOL)
    said = [
        await edit(path="f", old_string="x", new_string="x"),
        await edit(path="none", old_string="x", new_string="y"),
        await edit(path="bin", old_string="x", new_string="y"),
        await use(diff_edit.TOOL, path="f", diff="--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n"),
        await use(diff_edit.TOOL, path="f", diff="--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"),
    ]
    assert [line.partition(" (")[0] for line in said] == [
        "failed: old_string and new_string are the same",
        "failed: 'none' does not exist",
        "failed: 'bin' is a binary file of 2 bytes",
        "failed: 'f' exists, and the diff makes it anew",
        "failed: the diff deletes 'f' but does not name all of its lines",
    ]
    assert ctx.changes.files == []
    assert await use(list_dir.TOOL) == "[file] bin (2 bytes)\n[file] f (4 bytes)"


async def test_a_diff_makes_edits_and_deletes_a_file(use: Use, tmp_path: Path) -> None:
    edit = partial(use, diff_edit.TOOL, path="d/f")
    made = await edit(diff="--- /dev/null\n+++ b/d/f\n@@ -0,0 +1,2 @@\n+a\n+b\n")
    edited = await edit(diff="@@ -1,2 +1,2 @@\n a\n-b\n+c\n")
    assert (tmp_path / "d" / "f").read_text() == "a\nc\n"
    deleted = await edit(diff="--- a/d/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-c\n")
    assert [made, edited, deleted] == [
        "Made 'd/f': 1 hunk applied.",
        "Edited 'd/f': 1 hunk applied.",
        "Deleted 'd/f'.",
    ]
    assert not (tmp_path / "d" / "f").exists()


async def test_two_edits_of_one_file_at_once_are_both_made(use: Use, tmp_path: Path) -> None:
    words = [f"word{number}" for number in range(12)]
    (tmp_path / "f").write_text("".join(f"{word}\n" for word in words))

    async def edit(old: str, new: str) -> None:
        await use(edit_file.TOOL, path="f", old_string=old, new_string=new)

    async with anyio.create_task_group() as tasks:
        for word in words:
            tasks.start_soon(edit, f"{word}\n", "+\n")
    assert (tmp_path / "f").read_text() == "+\n" * len(words)


async def test_a_binary_file_that_is_replaced_is_told_in_words(
    use: Use, ctx: ToolContext, tmp_path: Path
) -> None:
    (tmp_path / "f").write_bytes(b"\0" * 2000)
    await use(write_file.TOOL, path="f", content="x")
    assert ctx.changes.files[0].diff == "Binary file f: 2.0 kB -> 1 byte\n"


async def test_a_long_diff_is_shown_in_part(use: Use, ctx: ToolContext) -> None:
    await use(write_file.TOOL, path="f", content="x\n" * 1000)
    await use(write_file.TOOL, path="g", content="y" * 100_000)
    long, wide = ctx.changes.files
    assert long.diff.endswith("+x\n… 603 more lines\n")
    assert len(wide.diff) < 1000


async def test_a_name_that_is_odd_is_quoted_in_the_diff(use: Use, ctx: ToolContext) -> None:
    await use(write_file.TOOL, path="a\nb", content="")
    await use(write_file.TOOL, path="c\nd", content="x")
    assert ctx.changes.files[1].diff.startswith('--- /dev/null\n+++ b/"c\\nd"\n')


async def test_a_secret_is_masked_in_the_diff_but_not_in_the_file(
    use: Use, ctx: ToolContext, tmp_path: Path
) -> None:
    key = "sk-ant-" + "a1B2" * 12
    await use(write_file.TOOL, path=".env", content=f"KEY={key}\n")
    assert key not in ctx.changes.files[0].diff
    assert ctx.changes.files[0].after == f"KEY={key}\n".encode()
