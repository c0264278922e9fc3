"""The tool ``diff_edit``: applies a unified diff to a file."""

from __future__ import annotations

from functools import partial

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field

from octo_lab.core.errors import ToolFailed
from octo_lab.core.text import clean
from octo_lab.tools.diffing.apply import apply_patch
from octo_lab.tools.diffing.parse import Patch, parse_patch
from octo_lab.tools.editing import asked, edit_file, existing_text
from octo_lab.tools.model_tool import model_tool
from octo_lab.tools.reach import judge_write, scopes_write
from octo_lab.tools.tool import ToolContext


class DiffEditArgs(BaseModel):
    model_config = ConfigDict(extra="forbid")

    path: str = Field(min_length=1, description="The file, relative to the workspace.")
    diff: str = Field(min_length=1, max_length=1_000_000, description="A unified diff of the file.")


async def diff_edit(ctx: ToolContext, args: DiffEditArgs) -> str:
    """Apply a unified diff to a text file: all of its hunks, or none.

    Each hunk begins with `@@ -LINE,COUNT +LINE,COUNT @@`; it is found up to three lines beside
    where it says. `--- /dev/null` makes the file, `+++ /dev/null` deletes it.
    """
    return await anyio.to_thread.run_sync(partial(_apply, ctx, args))


def _apply(ctx: ToolContext, args: DiffEditArgs) -> str:
    patch = parse_patch(clean(args.diff))
    done = edit_file(ctx, args.path, partial(_patched, ctx, patch, args.path))
    hunks = "1 hunk" if len(patch.hunks) == 1 else f"{len(patch.hunks)} hunks"
    if done.after is None:
        return f"Deleted {args.path!r}."
    return f"{'Made' if done.before is None else 'Edited'} {args.path!r}: {hunks} applied."


def _patched(ctx: ToolContext, patch: Patch, path: str, data: bytes | None) -> bytes | None:
    if patch.creates:
        if data is not None:
            raise ToolFailed(
                f"{path!r} exists, and the diff makes it anew", hint="diff against what it is"
            )
        return apply_patch("", patch, path).encode()
    file = existing_text(ctx, data, path)
    text = apply_patch(file.text, patch, path)
    if not patch.deletes:
        return file.with_text(text)
    if text:
        raise ToolFailed(
            f"the diff deletes {path!r} but does not name all of its lines",
            hint="let it remove every line",
        )
    return None


TOOL = model_tool(
    diff_edit,
    DiffEditArgs,
    name="diff_edit",
    group="fs",
    source="workspace",
    risk="write",
    timeout=60.0,
    detail=lambda args: asked(args.path, args.diff),
    judge=judge_write,
    scopes=scopes_write,
)
