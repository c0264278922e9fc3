from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from octo_lab.core.errors import ToolFailed
from octo_lab.core.messages import Media
from octo_lab.tools.builtin.read_file import TOOL
from octo_lab.tools.tool import ToolContext, ToolResult

pytestmark = pytest.mark.anyio

Use = Callable[..., Awaitable[str]]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"one\ntwo\n", "1|one\n2|two"),
        (b"one\r\ntwo", "1|one\n2|two"),
        (b"one\n\n", "1|one\n2|"),
        (b"", "(empty file)"),
        ("žluť\n".encode(), "1|žluť"),
        ("\ufeffbom\n".encode(), "1|bom"),
        ("ž\n".encode("utf-16"), "1|ž"),
        (b"caf\xe9\n", "1|café"),
        (
            b"\x89PNG\0\0",
            "failed: 'f' is a binary file of 6 bytes "
            "(a program that knows its format can read it, in shell or python)",
        ),
    ],
)
async def test_lines_come_with_their_numbers(
    use: Use, tmp_path: Path, data: bytes, text: str
) -> None:
    (tmp_path / "f").write_bytes(data)

    assert await use(TOOL, path="f") == text


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ({"start_line": 2, "end_line": 3}, "2|b\n3|c"),
        ({"start_line": 3}, "3|c\n4|d"),
        ({"end_line": 1}, "1|a"),
        ({"start_line": 4, "end_line": 99}, "4|d"),
        ({"start_line": 5}, "failed: 'f' has only 4 lines"),
        ({"start_line": 3, "end_line": 2}, "failed: start_line 3 is after end_line 2"),
        (
            {"start_line": 0},
            "failed: Invalid arguments for 'read_file': start_line: Input should be greater than "
            "or equal to 1, not 0 (it takes: path, start_line, end_line)",
        ),
    ],
)
async def test_a_range_of_lines_can_be_asked_for(
    use: Use, tmp_path: Path, lines: dict[str, int], text: str
) -> None:
    (tmp_path / "f").write_text("a\nb\nc\nd\n")

    assert await use(TOOL, path="f", **lines) == text


async def test_a_long_file_is_cut_at_a_line_and_says_how_to_go_on(use: Use, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("".join(f"line {n} {'x' * 90}\n" for n in range(1, 3001)))

    text = await use(TOOL, path="f")
    *_, last, note = text.split("\n")
    number = int(last.partition("|")[0])

    assert len(text) < 100_100
    assert note == (
        f"[cut at 100 KB, line {number + 1} of 3000: go on with start_line={number + 1}]"
    )
    assert (await use(TOOL, path="f", start_line=number + 1)).startswith(f"{number + 1}|line ")


async def test_one_endless_line_is_cut(use: Use, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x" * 200_000)

    text = await use(TOOL, path="f")

    assert text.endswith("[line 1 of 1 is cut: it has 200002 characters]")
    assert len(text) < 30_000


async def test_a_file_above_10_mb_is_refused(use: Use, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * 10_000_001)

    assert await use(TOOL, path="f") == (
        "failed: 'f' has more than 10 MB (look at parts of it in shell, as with head, tail or grep)"
    )


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "link", "out/secret", "pipe", "."])
async def test_nothing_outside_the_workspace_can_be_read(
    use: Use, tmp_path: Path, path: str
) -> None:
    outside = tmp_path / "outside"
    workspace = tmp_path
    outside.mkdir()
    (outside / "secret").write_text("hidden")
    (workspace / "link").symlink_to("/etc/passwd")
    (workspace / "out").symlink_to(outside)
    os.mkfifo(workspace / "pipe")

    assert (await use(TOOL, path=path)).startswith("failed: ")


def test_its_result_may_be_longer_than_what_a_turn_allows() -> None:
    assert TOOL.output == 101_000


@pytest.mark.parametrize("name", [".octo/token", "data/token"])
async def test_octo_labs_own_folders_stay_private(
    ctx: ToolContext, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).parent.mkdir()
    (tmp_path / name).write_text("secret")
    guarded = replace(ctx, private=(tmp_path / "data",))

    with pytest.raises(ToolFailed, match="private to octo_lab"):
        await TOOL.run(guarded, TOOL.parse({"path": name}))


async def test_a_picture_is_shown(ctx: ToolContext, tmp_path: Path) -> None:
    data = b"\x89PNG\r\n\x1a\n" + bytes(100)
    (tmp_path / "plots").mkdir()
    (tmp_path / "plots" / "a.png").write_bytes(data)

    shown = await TOOL.run(ctx, TOOL.parse({"path": "plots/a.png"}))

    assert shown == ToolResult(
        text="plots/a.png is a picture: image/png, 108 bytes.",
        media=(Media(mime="image/png", data=data, name="a.png"),),
    )


async def test_a_picture_too_large_for_a_model_is_not_sent(use: Use, tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(b"\xff\xd8\xff" + bytes(5_000_000))

    assert await use(TOOL, path="a.jpg") == (
        "failed: 'a.jpg' is a picture of 5.0 MB, at most 5.0 MB go (make it smaller first)"
    )
