"""The tool ``edit_file``: replaces one passage of a file by another."""

from __future__ import annotations

from functools import partial

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field

from octo_lab.core.errors import ToolFailed
from octo_lab.core.text import clean
from octo_lab.tools import editing
from octo_lab.tools.diffing.replace import Replaced, replace_passage
from octo_lab.tools.model_tool import model_tool
from octo_lab.tools.reach import judge_write, scopes_write
from octo_lab.tools.tool import ToolContext

_NAMED = 20


class EditFileArgs(BaseModel):
    model_config = ConfigDict(extra="forbid")

    path: str = Field(min_length=1, description="The file, relative to the workspace.")
    old_string: str = Field(
        min_length=1, description="The passage as it is, white space included; it must be unique."
    )
    new_string: str = Field(description="What takes its place.")
    replace_all: bool = Field(default=False, description="Replace every occurrence.")


async def edit_file(ctx: ToolContext, args: EditFileArgs) -> str:
    """Replace one passage of a text file. The rest of the file stays byte for byte as it is.

    old_string must occur exactly once, unless replace_all is set; do not put line numbers in it.
    """
    return await anyio.to_thread.run_sync(partial(_edit, ctx, args))


def _edit(ctx: ToolContext, args: EditFileArgs) -> str:
    if args.old_string == args.new_string:
        raise ToolFailed("old_string and new_string are the same", hint="nothing would change")
    replaced: list[Replaced] = []

    def change(data: bytes | None) -> bytes:
        file = editing.existing_text(ctx, data, args.path)
        made = replace_passage(
            file.text,
            args.old_string,
            clean(args.new_string),
            every=args.replace_all,
            path=args.path,
        )
        replaced[:] = [made]
        return file.with_text(made.text)

    editing.edit_file(ctx, args.path, change)
    return f"Edited {args.path!r} at {_where(replaced[0].lines)}."


def _where(lines: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, lines[:_NAMED]))
    if len(lines) > _NAMED:
        return f"{len(lines)} places, lines {shown}, …"
    return f"line {shown}" if len(lines) == 1 else f"lines {shown}"


TOOL = model_tool(
    edit_file,
    EditFileArgs,
    name="edit_file",
    group="fs",
    source="workspace",
    risk="write",
    timeout=60.0,
    detail=lambda args: editing.asked(args.path, args.old_string, f"→\n{args.new_string}"),
    judge=judge_write,
    scopes=scopes_write,
)
