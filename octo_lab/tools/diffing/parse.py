"""Reads a unified diff of one file, as models write it: counts may be wrong, ends may lack."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from octo_lab.core.errors import ToolFailed

_HEADER = re.compile(r"@@(?: -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@.*|.*)")
_NOWHERE = "/dev/null"
_FENCE = re.compile(r"```\w*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """One change: ``lines`` of ``old`` become ``new``.

    ``start`` is the index of its first old line, None where the header does not tell. A line
    begins with its sign; ``old_end`` and ``new_end`` are False where the file ends there without
    a line end.
    """

    header: str
    start: int | None
    lines: tuple[str, ...]
    old_end: bool = True
    new_end: bool = True

    @property
    def old(self) -> list[str]:
        return [line[1:] for line in self.lines if line[0] in " -"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """The change of one file; ``creates`` and ``deletes`` say whether it is there before, after."""

    hunks: tuple[Hunk, ...]
    creates: bool = False
    deletes: bool = False


def parse_patch(diff: str) -> Patch:
    """Raises ToolFailed when it is no diff, or one of several files."""
    lines = diff.replace("\r\n", "\n").split("\n")
    while lines and (not lines[-1] or _FENCE.fullmatch(lines[-1])):
        lines.pop()
    hunks: list[Hunk] = []
    names: list[str] = []
    position = 0
    while position < len(lines):
        line = lines[position]
        if line.startswith("@@"):
            hunk, position = _hunk(lines, position)
            hunks.append(hunk)
            continue
        if _is_name(lines, position):
            names += [
                line[4:].split("\t")[0].strip(),
                lines[position + 1][4:].split("\t")[0].strip(),
            ]
            position += 1
        elif hunks and line[:1] in ("+", "-"):
            raise ToolFailed(f"the diff has the line {line!r} outside of a hunk", hint=_HINT)
        position += 1
    _check(hunks, names)
    return Patch(
        hunks=tuple(hunks),
        creates=names[:1] == [_NOWHERE],
        deletes=names[1:] == [_NOWHERE],
    )


_HINT = (
    "give a unified diff: `@@ -LINE,COUNT +LINE,COUNT @@`, then lines that begin with ' ', - or +"
)


def _check(hunks: list[Hunk], names: list[str]) -> None:
    if len(names) > 2:
        raise ToolFailed("the diff is of several files", hint="give one call for each file")
    if not hunks:
        raise ToolFailed("the diff has no hunk", hint=_HINT)
    if not any(line[0] in "+-" for hunk in hunks for line in hunk.lines):
        raise ToolFailed("the diff changes nothing", hint=_HINT)


def _is_name(lines: Sequence[str], position: int) -> bool:
    """Whether the two lines here name the files: a removed line may look like the first."""
    if not lines[position].startswith("--- ") or position + 1 >= len(lines):
        return False
    return lines[position + 1].startswith("+++ ")


def _hunk(lines: Sequence[str], position: int) -> tuple[Hunk, int]:
    """The hunk whose header is here, and where it ends."""
    header = lines[position]
    found = _HEADER.fullmatch(header)
    numbers = [int(group) if group else 1 for group in found.groups()] if found else []
    known = bool(found and found[1])
    first = position + 1
    end = _counted(lines, first, numbers[1], numbers[3]) if known else None
    if end is None:
        end = _guessed(lines, first)
    body = [line or " " for line in lines[first:end]]
    start = (
        (numbers[0] - 1 if any(line[0] in " -" for line in body) else numbers[0]) if known else None
    )
    return _made(header, start, body), end


def _counted(lines: Sequence[str], position: int, old: int, new: int) -> int | None:
    """Where the hunk ends if its counts are right; None when they are not."""
    while old > 0 or new > 0:
        sign = lines[position][:1] or " " if position < len(lines) else "@"
        if sign not in " -+\\":
            return None
        old -= sign in " -"
        new -= sign in " +"
        position += 1
    while position < len(lines) and lines[position].startswith("\\"):
        position += 1
    rest = lines[position] if position < len(lines) else ""
    over = rest.startswith("@@") or not rest or _is_name(lines, position) or rest[0] not in " -+"
    return position if old == new == 0 and over else None


def _guessed(lines: Sequence[str], position: int) -> int:
    """Where the hunk ends by what its lines look like."""
    while position < len(lines):
        line = lines[position]
        if line.startswith("@@") or _is_name(lines, position) or line[:1] not in ("", *" -+\\"):
            break
        position += 1
    while not lines[position - 1]:  # between two hunks
        position -= 1
    return position


def _made(header: str, start: int | None, body: Sequence[str]) -> Hunk:
    old_end = new_end = True
    kept: list[str] = []
    for line in body:
        if not line.startswith("\\"):
            kept.append(line)
        elif kept:
            old_end = old_end and kept[-1][0] == "+"
            new_end = new_end and kept[-1][0] == "-"
    return Hunk(header=header, start=start, lines=tuple(kept), old_end=old_end, new_end=new_end)
