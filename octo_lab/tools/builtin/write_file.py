"""The tool ``write_file``: makes a file of the workspace, or replaces one."""

from __future__ import annotations

from functools import partial

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field

from octo_lab.core.text import clean
from octo_lab.security.replacing import LARGEST
from octo_lab.tools.diffing.unified import split_lines
from octo_lab.tools.editing import asked, edit_file
from octo_lab.tools.model_tool import model_tool
from octo_lab.tools.reach import judge_write, scopes_write
from octo_lab.tools.tool import ToolContext
from octo_lab.tools.workspace import size_words


class WriteFileArgs(BaseModel):
    model_config = ConfigDict(extra="forbid")

    path: str = Field(min_length=1, description="The file, relative to the workspace.")
    content: str = Field(max_length=LARGEST, description="The whole text of the file.")


async def write_file(ctx: ToolContext, args: WriteFileArgs) -> str:
    """Make a text file, or replace all of one. Missing folders are made.

    To change a part of a file use edit_file or diff_edit.
    """
    return await anyio.to_thread.run_sync(partial(_write, ctx, args))


def _write(ctx: ToolContext, args: WriteFileArgs) -> str:
    content = clean(args.content)
    data = content.encode()
    done = edit_file(ctx, args.path, lambda _: data)
    size = f"{_lines(content)}, {size_words(len(data))}"
    if done.before is None:
        return f"Made {args.path!r}: {size}."
    if done.before == data:
        return f"{args.path!r} has this content already: {size}."
    return f"Replaced {args.path!r}: {size}, before {size_words(len(done.before))}."


def _lines(text: str) -> str:
    count = len(split_lines(text))
    return "1 line" if count == 1 else f"{count} lines"


TOOL = model_tool(
    write_file,
    WriteFileArgs,
    name="write_file",
    group="fs",
    source="workspace",
    risk="write",
    timeout=60.0,
    detail=lambda args: asked(args.path, args.content),
    judge=judge_write,
    scopes=scopes_write,
)
