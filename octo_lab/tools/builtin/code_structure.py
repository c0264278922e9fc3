"""The tool ``code_structure``: what source files define, and at which lines."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial

import anyio.from_thread
import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field

from octo_lab.core.errors import ToolFailed
from octo_lab.security.paths import Enclosure
from octo_lab.tools.editing import one_line
from octo_lab.tools.gitignore import walk_unignored
from octo_lab.tools.model_tool import model_tool
from octo_lab.tools.nearby import naming_near
from octo_lab.tools.outline.languages import BY_ENDING, Language, language_of
from octo_lab.tools.outline.outline import Definition, outline
from octo_lab.tools.tool import ToolContext
from octo_lab.tools.workspace import files_of, read_bytes, utf8_lines

_FILES = 200
_LINES = 600
_LARGEST = 1_000_000
_INNER = 1


class CodeStructureArgs(BaseModel):
    model_config = ConfigDict(extra="forbid")

    path: str = Field(default=".", description="The file or folder, relative to the workspace.")


async def code_structure(ctx: ToolContext, args: CodeStructureArgs) -> str:
    """Outline source code: classes, functions and their signatures, each with its line number.

    Of a folder all files are outlined that .gitignore does not name. Languages: Python,
    JavaScript, TypeScript, Rust, Go, C, Bash.
    """
    return await anyio.to_thread.run_sync(partial(_outline, ctx, args.path or "."))


@dataclass(slots=True)
class _Summary:
    """What is said of a folder so far."""

    lines: list[str] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)
    left: int = 0
    files: int = 0

    @property
    def full(self) -> bool:
        return self.files >= _FILES or len(self.lines) >= _LINES


def _outline(ctx: ToolContext, path: str) -> str:
    files = files_of(ctx)
    language = language_of(path)
    try:
        return _folder(files, path)
    except ToolFailed:
        with naming_near(files, path):
            data = read_bytes(files, path)
    if language is None:
        known = " ".join(sorted(BY_ENDING))
        raise ToolFailed(f"{path!r} is of no language that can be outlined", hint=f"known: {known}")
    if len(data) > _LARGEST:
        raise ToolFailed(f"{path!r} has more than 1 MB", hint="search in it with grep")
    return "\n".join(_file(path, data, language, _LINES, deepest=None))


def _folder(files: Enclosure, path: str) -> str:
    summary = _Summary()
    for entry in walk_unignored(files, path):
        anyio.from_thread.check_cancelled()
        language = language_of(entry.path)
        if language is None:
            summary.others[_ending(entry.name)] += 1
        elif summary.full or entry.size > _LARGEST:
            summary.left += 1
        else:
            _add(files, entry.path, language, summary)
    return _report(path, summary)


def _add(files: Enclosure, path: str, language: Language, summary: _Summary) -> None:
    try:
        data = read_bytes(files, path)
    except ToolFailed:  # gone meanwhile, or not readable
        summary.left += 1
        return
    summary.files += 1
    room = _LINES - len(summary.lines)
    summary.lines += _file(path, data, language, room, deepest=_INNER)


def _file(
    path: str, data: bytes, language: Language, room: int, *, deepest: int | None
) -> list[str]:
    """The outline of one file in at most about ``room`` lines."""
    source = utf8_lines(data)
    found = outline(source, language)
    kept = [one for one in found.definitions if deepest is None or one.depth <= deepest]
    count = source.count(b"\n") + (not source.endswith(b"\n") and bool(source))
    broken = ", with syntax errors" if found.broken else ""
    head = f"{one_line(path)} ({language.name}, {count} lines{broken})"
    shown = [_line(one) for one in kept[: max(room, 1)]]
    if len(kept) > len(shown):
        shown.append(f"  [{len(kept) - len(shown)} more definitions]")
    return [head, *shown]


def _line(definition: Definition) -> str:
    return f"  {definition.line}: {'  ' * definition.depth}{definition.signature}"


def _report(path: str, summary: _Summary) -> str:
    notes = []
    if summary.left:
        notes.append(f"[{summary.left} more source files: outline a smaller folder, or each]")
    if summary.others:
        said = ", ".join(f"{count} {name}" for name, count in summary.others.most_common(8))
        notes.append(f"[other files: {said}]")
    return "\n".join([*summary.lines, *notes]) or f"{path!r} holds no files."


def _ending(name: str) -> str:
    dot = name.rfind(".")
    return name[dot:] if dot > 0 else name


TOOL = model_tool(
    code_structure,
    CodeStructureArgs,
    name="code_structure",
    group="fs",
    source="workspace",
    timeout=60.0,
)
