"""The tool ``list_dir``: what is in a folder of the workspace."""

from __future__ import annotations

from functools import partial

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field

from octo_lab.security.paths import Entry
from octo_lab.tools.editing import one_line
from octo_lab.tools.model_tool import model_tool
from octo_lab.tools.nearby import naming_near
from octo_lab.tools.tool import ToolContext
from octo_lab.tools.workspace import files_of, size_words

_MOST = 1000
_LABELS = {"folder": "dir", "file": "file", "link": "link", "other": "other"}


class ListDirArgs(BaseModel):
    model_config = ConfigDict(extra="forbid")

    path: str = Field(default=".", description="The folder, relative to the workspace.")


async def list_dir(ctx: ToolContext, args: ListDirArgs) -> str:
    """List a folder of the workspace: `[dir]` and `[file]` entries, sorted by name."""
    return await anyio.to_thread.run_sync(partial(_list, ctx, args.path or "."))


def _list(ctx: ToolContext, path: str) -> str:
    files = files_of(ctx)
    with naming_near(files, path):
        entries = files.list_dir(path)
    entries.sort(key=lambda entry: (entry.kind != "folder", entry.name))
    lines = [_line(entry) for entry in entries[:_MOST]]
    if len(entries) > _MOST:
        lines.append(f"[{len(entries) - _MOST} more entries]")
    return "\n".join(lines) or "(empty folder)"


def _line(entry: Entry) -> str:
    size = f" ({size_words(entry.size)})" if entry.kind == "file" else ""
    return f"[{_LABELS[entry.kind]}] {one_line(entry.name)}{size}"


TOOL = model_tool(
    list_dir, ListDirArgs, name="list_dir", group="fs", source="workspace", timeout=30.0
)
