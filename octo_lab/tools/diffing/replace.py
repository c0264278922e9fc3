"""Replaces one passage of a text by another, whatever line ends the text has."""

from __future__ import annotations

import difflib
from bisect import bisect_right
from dataclasses import dataclass

from octo_lab.core.errors import ToolFailed
from octo_lab.tools.text_file import line_end

_SEARCHED = 5_000
_NAMED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """The new text, and the lines at which a passage was replaced, counted from 1."""

    text: str
    lines: tuple[int, ...]


def replace_passage(text: str, old: str, new: str, *, every: bool, path: str) -> Replaced:
    """``old`` must occur exactly once, unless ``every`` one is to be replaced.

    Raises ToolFailed with how often it occurs, or with what comes near.
    """
    plain = text.replace("\r\n", "\n")
    wanted = old.replace("\r\n", "\n")
    found = _occurrences(plain, wanted)
    if not found:
        raise _missing(plain, wanted, path)
    numbers = tuple(plain.count("\n", 0, start) + 1 for start in found)
    if len(found) > 1 and not every:
        raise ToolFailed(
            f"old_string occurs {len(found)} times in {path!r}, at lines {_listed(numbers)}",
            hint="add lines around it until it is unique, or set replace_all",
        )
    cuts = _Cuts(text)
    end = line_end(text)
    made = new.replace("\r\n", "\n").replace("\n", end)
    parts, last = [], 0
    for start in found:
        parts += [text[last : cuts.raw(start)], made]
        last = cuts.raw(start + len(wanted))
    return Replaced(text="".join([*parts, text[last:]]), lines=numbers)


class _Cuts:
    """Where a place in the text with plain line ends lies in the text as it is."""

    def __init__(self, text: str) -> None:
        self._places: list[int] = []  # of each line end, counted in plain line ends
        position = text.find("\r\n")
        while position >= 0:
            self._places.append(position - len(self._places))
            position = text.find("\r\n", position + 2)

    def raw(self, plain: int) -> int:
        return plain + bisect_right(self._places, plain - 1)


def _occurrences(text: str, wanted: str) -> list[int]:
    found = []
    position = text.find(wanted)
    while position >= 0:
        found.append(position)
        position = text.find(wanted, position + len(wanted))
    return found


def _listed(numbers: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, numbers[:_NAMED]))
    return f"{shown}, …" if len(numbers) > _NAMED else shown


def _missing(text: str, wanted: str, path: str) -> ToolFailed:
    said = f"old_string does not occur in {path!r} (0 matches)"
    lines = text.split("\n")[:_SEARCHED]
    spaced = _but_for_spaces(lines, wanted.split("\n"))
    if spaced is not None:
        found = "\n".join(lines[spaced : spaced + wanted.count("\n") + 1])[:2000]
        return ToolFailed(
            f"{said}; at line {spaced + 1} it does but for its white space:\n{found}",
            hint="take the white space as it is",
        )
    near = _nearest(lines, wanted)
    if not near:
        return ToolFailed(said, hint="read the file and take a passage as it is")
    shown = "\n".join(f"{number + 1}|{lines[number][:200]}" for number in near)
    return ToolFailed(f"{said}; the nearest lines:\n{shown}", hint="take a passage as it is")


def _but_for_spaces(lines: list[str], wanted: list[str]) -> int | None:
    """The line at which ``wanted`` begins if white space did not count."""
    bare = ["".join(line.split()) for line in lines]
    sought = ["".join(line.split()) for line in wanted]
    if not any(sought):
        return None
    for start in range(len(bare) - len(sought) + 1):
        if bare[start] == sought[0] and bare[start : start + len(sought)] == sought:
            return start
    return None


def _nearest(lines: list[str], wanted: str) -> list[int]:
    """The lines most like the longest one that was sought."""
    longest = max((line.strip() for line in wanted.split("\n")), key=len)[:400]
    known = {line.strip()[:400]: number for number, line in reversed(list(enumerate(lines)))}
    near = difflib.get_close_matches(longest, known, n=3, cutoff=0.5) if longest else []
    return sorted(known[line] for line in near)
