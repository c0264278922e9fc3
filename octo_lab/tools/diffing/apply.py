"""Applies a diff to a text: all of it or nothing, with a little tolerance for where and how."""

from __future__ import annotations

from collections.abc import Sequence

from octo_lab.core.errors import ToolFailed
from octo_lab.tools.diffing.parse import Hunk, Patch
from octo_lab.tools.diffing.unified import split_lines
from octo_lab.tools.text_file import line_end

DRIFT = 3
_NEAR = sorted(range(-DRIFT, DRIFT + 1), key=abs)


def apply_patch(text: str, patch: Patch, path: str) -> str:
    """The text with every hunk applied, the last first; raises ToolFailed when one does not fit.

    A hunk may lie up to three lines beside where it says, the nearest place is taken; lines may
    differ in the white space at their end. Lines that a hunk only shows stay as they are.
    """
    lines = split_lines(text)
    places: list[int] = []
    after = 0
    for number, hunk in enumerate(patch.hunks, 1):
        place = _place(lines, hunk, after)
        if place is None:
            raise _misfit(lines, hunk, f"hunk {number} of {len(patch.hunks)}", path)
        places.append(place)
        after = place + len(hunk.old)
    end = line_end(text)
    for place, hunk in reversed(list(zip(places, patch.hunks, strict=True))):
        lines[place : place + len(hunk.old)] = _replaced(lines, place, hunk, end)
    return "".join(lines)


def _place(lines: Sequence[str], hunk: Hunk, after: int) -> int | None:
    old = hunk.old
    tries = _tries(lines, hunk, after)
    for fits in (_same, _nearly):
        for place in tries:
            if after <= place <= len(lines) - len(old) and fits(lines, place, hunk):
                return place
    return None


def _tries(lines: Sequence[str], hunk: Hunk, after: int) -> Sequence[int]:
    if hunk.start is None:
        return range(after, len(lines) + 1) if hunk.old else [len(lines)]
    if not hunk.old:
        return [min(hunk.start, len(lines))]
    return [hunk.start + drift for drift in _NEAR]


def _same(lines: Sequence[str], place: int, hunk: Hunk) -> bool:
    old = hunk.old
    found = [_bare(line) for line in lines[place : place + len(old)]]
    return found == old and _ends_alike(lines, place, hunk)


def _nearly(lines: Sequence[str], place: int, hunk: Hunk) -> bool:
    old = hunk.old
    found = [line.rstrip() for line in lines[place : place + len(old)]]
    return found == [line.rstrip() for line in old]


def _ends_alike(lines: Sequence[str], place: int, hunk: Hunk) -> bool:
    """A hunk that shows the end of a file without a line end fits only there."""
    end = place + len(hunk.old)
    return hunk.old_end or (end == len(lines) and not lines[-1].endswith("\n"))


def _bare(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")


def _replaced(lines: Sequence[str], place: int, hunk: Hunk, end: str) -> list[str]:
    """The lines that stand there afterwards."""
    made: list[str] = []
    position = place
    for line in hunk.lines:
        if line[0] == "+":
            made.append(line[1:].removesuffix("\r") + end)
            continue
        if line[0] == " ":
            made.append(lines[position])
        position += 1
    if position == len(lines):
        made = [line if line.endswith("\n") else line + end for line in made[:-1]] + made[-1:]
        if made and not hunk.new_end:
            made[-1] = _bare(made[-1])
    return made


def _misfit(lines: Sequence[str], hunk: Hunk, name: str, path: str) -> ToolFailed:
    old = hunk.old
    start = min(max(hunk.start or 0, 0), len(lines))
    elsewhere = [
        place for place in range(len(lines) - len(old) + 1) if old and _nearly(lines, place, hunk)
    ]
    if elsewhere:
        where = ", ".join(str(place + 1) for place in elsewhere[:3])
        hint = f"these lines begin at line {where}: correct the header, or the order of the hunks"
    else:
        hint = "read the file again and take its lines as they are"
    shown = "\n".join(_shown(lines, start, len(old)))
    return ToolFailed(
        f"{name} ({hunk.header[:80]}) does not fit {path!r}, which stays as it is; "
        f"{_first_difference(lines, hunk, start)}\nthere is:\n{shown}",
        hint=hint,
    )


def _first_difference(lines: Sequence[str], hunk: Hunk, start: int) -> str:
    for number, wanted in enumerate(hunk.old):
        if start + number >= len(lines):
            return f"the file ends at line {len(lines)}"
        found = _bare(lines[start + number])
        if found.rstrip() != wanted.rstrip():
            return f"line {start + number + 1} is {found[:200]!r}, not {wanted[:200]!r}"
    return "its lines overlap those of another hunk"


def _shown(lines: Sequence[str], start: int, length: int) -> list[str]:
    first, last = max(0, start - DRIFT), min(len(lines), start + min(length, 20) + DRIFT)
    return [f"{n + 1}|{_bare(lines[n])[:200]}" for n in range(first, last)] or ["(nothing)"]
