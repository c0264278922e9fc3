"""The tool ``read_file``: a text file of the workspace, with line numbers."""

from __future__ import annotations

from functools import partial

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field

from octo_lab.core.errors import ToolFailed
from octo_lab.core.messages import Media
from octo_lab.core.pictures import picture_type
from octo_lab.tools.editing import one_line
from octo_lab.tools.model_tool import model_tool
from octo_lab.tools.nearby import naming_near
from octo_lab.tools.tool import ToolContext, ToolResult
from octo_lab.tools.workspace import decode, files_of, read_bytes, size_words

_CUT = 100_000
_PICTURE = 5_000_000


class ReadFileArgs(BaseModel):
    model_config = ConfigDict(extra="forbid")

    path: str = Field(min_length=1, description="The file, relative to the workspace.")
    start_line: int = Field(default=1, ge=1, description="The first line, counted from 1.")
    end_line: int | None = Field(default=None, ge=1, description="The last line; default: all.")


async def read_file(ctx: ToolContext, args: ReadFileArgs) -> ToolResult | str:
    """Read a text file of the workspace. Each line comes as `NUMBER|text`.

    At most 100 KB are given at once; read on with start_line. A picture (PNG, JPEG, GIF, WebP)
    is shown.
    """
    return await anyio.to_thread.run_sync(partial(_read, ctx, args))


def _read(ctx: ToolContext, args: ReadFileArgs) -> ToolResult | str:
    files = files_of(ctx)
    with naming_near(files, args.path):
        data = read_bytes(files, args.path)
    if mime := picture_type(data):
        return _picture(args.path, mime, data)
    return _text(args, data)


def _picture(path: str, mime: str, data: bytes) -> ToolResult:
    if len(data) > _PICTURE:
        raise ToolFailed(
            f"{path!r} is a picture of {size_words(len(data))}, at most {size_words(_PICTURE)} go",
            hint="make it smaller first",
        )
    name = one_line(path.rpartition("/")[2])
    text = f"{one_line(path)} is a picture: {mime}, {size_words(len(data))}."
    return ToolResult(text=text, media=(Media(mime=mime, data=data, name=name),))


def _text(args: ReadFileArgs, data: bytes) -> str:
    text = decode(data)
    if text is None:
        raise ToolFailed(
            f"{args.path!r} is a binary file of {len(data)} bytes",
            hint="a program that knows its format can read it, in shell or python",
        )
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    return _numbered(args, lines) if lines else "(empty file)"


def _numbered(args: ReadFileArgs, lines: list[str]) -> str:
    first, last = args.start_line, min(args.end_line or len(lines), len(lines))
    if first > len(lines):
        raise ToolFailed(f"{args.path!r} has only {len(lines)} lines")
    if first > last:
        raise ToolFailed(f"start_line {first} is after end_line {last}")
    part = lines[first - 1 : last]
    whole = "\n".join([f"{number}|{line}" for number, line in enumerate(part, first)])
    data = whole.encode()
    return whole if len(data) < _CUT else _beginning(data, part, first, len(lines))


def _beginning(data: bytes, lines: list[str], first: int, total: int) -> str:
    """As many of the numbered lines in ``data`` as may be shown."""
    shown = data[:_CUT].rpartition(b"\n")[0].decode()
    if not shown:  # one line is larger than everything that may be shown
        line = f"{first}|{lines[0]}"
        note = f"[line {first} of {total} is cut: it has {len(line)} characters]"
        return f"{line[: _CUT // 4]}\n{note}"
    number = first + shown.count("\n") + 1
    return f"{shown}\n[cut at 100 KB, line {number} of {total}: go on with start_line={number}]"


TOOL = model_tool(
    read_file,
    ReadFileArgs,
    name="read_file",
    group="fs",
    source="workspace",
    timeout=30.0,
    output=_CUT + 1000,
)
