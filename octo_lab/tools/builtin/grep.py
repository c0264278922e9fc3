"""The tool ``grep``: lines of the workspace's files that match a regular expression."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

import anyio.from_thread
import anyio.to_thread
import re2
from pydantic import BaseModel, ConfigDict, Field

from octo_lab.core.errors import ToolFailed
from octo_lab.core.text import clean
from octo_lab.security.paths import Enclosure
from octo_lab.tools.editing import one_line
from octo_lab.tools.gitignore import ALWAYS_SKIPPED, walk_unignored
from octo_lab.tools.gitpatterns import GitPatterns
from octo_lab.tools.model_tool import model_tool
from octo_lab.tools.nearby import naming_near
from octo_lab.tools.ripgrep import may_match
from octo_lab.tools.tool import ToolContext
from octo_lab.tools.workspace import files_of, read_bytes, utf8_lines

_WIDEST = 400
_LINES = "(?m)"


class GrepArgs(BaseModel):
    model_config = ConfigDict(extra="forbid")

    pattern: str = Field(
        min_length=1, max_length=1000, description="A regular expression (RE2), line by line."
    )
    path: str = Field(default=".", description="The folder or file to search.")
    file_pattern: str | None = Field(
        default=None, description="Only files like this, for example `*.py` or `src/**/*.ts`."
    )
    limit: int = Field(default=50, ge=1, le=1000, description="How many matches at most.")
    context: int = Field(default=0, ge=0, le=20, description="Lines to show around each match.")
    ignore_case: bool = False


async def grep(ctx: ToolContext, args: GrepArgs) -> str:
    """Search the files of the workspace for a regular expression.

    Gives `path:line:text` for each match. Files named by .gitignore, binary files and files
    above 10 MB are left out.
    """
    return await anyio.to_thread.run_sync(partial(_search, ctx, args))


@dataclass(slots=True)
class _Found:
    """What has been found so far."""

    limit: int
    lines: list[str] = field(default_factory=list)
    matches: int = 0
    skipped: int = 0

    @property
    def full(self) -> bool:
        return self.matches >= self.limit


def _search(ctx: ToolContext, args: GrepArgs) -> str:
    pattern, files = _compiled(args), files_of(ctx)
    found = _Found(args.limit)
    for path in _paths(files, args):
        anyio.from_thread.check_cancelled()
        _search_file(files, path, pattern, args, found)
        if found.full:
            break
    return _report(args, found)


def _compiled(args: GrepArgs) -> re2._Regexp[bytes]:
    """RE2 takes linear time for every pattern and releases the GIL: none can hang the kernel."""
    options = re2.Options()
    options.log_errors = False
    options.never_nl = True
    options.case_sensitive = not args.ignore_case
    try:
        return re2.compile((_LINES + clean(args.pattern)).encode(), options)
    except re2.error as exc:
        said = exc.args[0] if exc.args else ""
        raise ToolFailed(
            f"{args.pattern!r} is no regular expression for RE2: "
            f"{_own(said.decode(errors='replace') if isinstance(said, bytes) else str(said))}",
            hint="RE2 has no lookaround and no backreferences; escape brackets you mean literally",
        ) from None


def _own(said: str) -> str:
    """Without the flag that is ours."""
    return said.replace(_LINES, "")


def _paths(files: Enclosure, args: GrepArgs) -> Iterator[str]:
    """The file that ``path`` names, or the files below it that fit ``file_pattern``."""
    wanted = GitPatterns([args.file_pattern]) if args.file_pattern else None
    try:
        for path in _likely(files, args):
            if wanted is None or wanted.ignored(path):
                yield path
    except ToolFailed:
        with naming_near(files, args.path):
            files.open_file(args.path).close()
        yield args.path


def _likely(files: Enclosure, args: GrepArgs) -> Iterator[str]:
    """The files to search: of a whole workspace those that ripgrep names, where it is there."""
    found = None
    if args.path in ("", "."):
        found = may_match(
            files,
            clean(args.pattern),
            ignore_case=args.ignore_case,
            skipped=ALWAYS_SKIPPED,
            check=anyio.from_thread.check_cancelled,
        )
    if found is not None:
        yield from found
    else:
        yield from (entry.path for entry in walk_unignored(files, args.path or "."))


def _search_file(
    files: Enclosure, path: str, pattern: re2._Regexp[bytes], args: GrepArgs, found: _Found
) -> None:
    try:
        data = utf8_lines(read_bytes(files, path))
    except ToolFailed:  # too large, or gone meanwhile
        found.skipped += 1
        return
    hits = list(islice(_hits(pattern, data), found.limit - found.matches))
    path = one_line(path)
    found.matches += len(hits)
    if args.context:
        found.lines += _with_context(path, data.split(b"\n"), hits, args.context)
    else:
        found.lines += [f"{path}:{hit.number}:{_shown(hit.line, hit.column)}" for hit in hits]


@dataclass(frozen=True, slots=True)
class _Hit:
    number: int
    line: bytes
    column: int


def _hits(pattern: re2._Regexp[bytes], data: bytes) -> Iterator[_Hit]:
    """The matching lines in order, each once."""
    number, counted, position = 1, 0, 0
    while position < len(data) and (match := pattern.search(data, position)):
        start = data.rfind(b"\n", 0, match.start()) + 1
        end = data.find(b"\n", match.end())
        end = len(data) if end < 0 else end
        if start >= len(data):  # the nothing after the last line end
            return
        number += data.count(b"\n", counted, start)
        yield _Hit(number, data[start:end], match.start() - start)
        counted, position = start, end + 1


def _shown(line: bytes, column: int = 0) -> str:
    """The line, or of a very long one the part round the match."""
    if len(line) <= _WIDEST:
        return line.decode(errors="replace")
    start = max(0, column - _WIDEST // 2)
    part = line[start : start + _WIDEST].decode(errors="ignore")
    return f"{'…' if start else ''}{part}{'…' if start + _WIDEST < len(line) else ''}"


def _with_context(path: str, lines: list[bytes], hits: list[_Hit], around: int) -> list[str]:
    """Matches as ``path:line:text``, their surroundings as ``path-line-text``."""
    columns = {hit.number: hit.column for hit in hits}
    near = {n for hit in hits for n in range(hit.number - around, hit.number + around + 1)}
    shown: list[str] = []
    last = 0
    for number in sorted(n for n in near if 1 <= n <= len(lines)):
        if shown and number != last + 1:
            shown.append("--")
        mark = ":" if number in columns else "-"
        text = _shown(lines[number - 1], columns.get(number, 0))
        shown.append(f"{path}{mark}{number}{mark}{text}")
        last = number
    return [*shown, "--"] if shown else []


def _report(args: GrepArgs, found: _Found) -> str:
    lines = found.lines[: -1 if args.context else None] or [f"No match for {args.pattern!r}."]
    if found.full:
        lines.append(f"[stopped at {found.limit} matches: narrow the search, or raise limit]")
    if found.skipped:
        lines.append(f"[{found.skipped} files left out: above 10 MB, or not readable]")
    return "\n".join(lines)


TOOL = model_tool(grep, GrepArgs, name="grep", group="fs", source="workspace", timeout=60.0)
