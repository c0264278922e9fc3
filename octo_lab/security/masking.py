"""Masks text that arrives in pieces: the result is that of the whole, however it was cut."""

from __future__ import annotations

import re

from octo_lab.security.known import Known
from octo_lab.security.shapes import CONTEXT, SHAPES, TRIGGER, Shape, plain, shapes_in

MASK = "***"
LONGEST = 21_000
"""Characters held back at most, if no known secret is longer; then they are taken as the end."""

_MANY = 256  # pieces
_DOES = re.compile(r"[|;&()<>`$@]")  # ends a command or begins another, or another host

Ranges = list[tuple[int, int]]


class Rule:
    """What is masked: known secrets, and with ``shapes`` what looks like a key."""

    def __init__(self, known: Known, *, shapes: bool = True) -> None:
        self.known = known
        self.shapes = shapes
        triggers = [known.trigger, TRIGGER if shapes else ""]
        self.trigger = re.compile("|".join(filter(None, triggers)) or "(?!)")
        self.longest = max(LONGEST, known.longest + 1)

    def shapes_in(self, data: bytes) -> tuple[Shape, ...]:
        """Those that may be there; the same in the same order."""
        return shapes_in(data) if self.shapes else ()

    def mask(self, text: str) -> str:
        """The whole text, masked: each hidden part, with those that touch it, is one MASK."""
        data = plain(text)
        ranges = [*self._known_in(text, data), *self._shaped_in(text, data)]
        return hide(text, 0, len(text), ranges, -1) if ranges else text

    def mask_to_judge(self, text: str) -> str:
        """For a person who says yes or no to it: what only looks like a key, and could do
        something in a command, is not hidden.
        """
        data = plain(text)
        words = [one for one in self._shaped_in(text, data) if not _DOES.search(text, *one)]
        ranges = [*self._known_in(text, data), *words]
        return hide(text, 0, len(text), ranges, -1) if ranges else text

    def _known_in(self, text: str, data: bytes) -> Ranges:
        return self.known.scan(text, 0, final=True)[0] if self.known.stands_in(data) else []

    def _shaped_in(self, text: str, data: bytes) -> Ranges:
        found = (shape.scan(text, data, 0, final=True).ranges for shape in self.shapes_in(data))
        return [one for ranges in found for one in ranges]


def hide(text: str, begin: int, end: int, ranges: Ranges, masked_to: int) -> str:
    """``text[begin:end]`` without ``ranges``; one that begins at ``masked_to`` belongs to the
    mask before it.
    """
    parts: list[str] = []
    at = begin
    for start, stop in sorted(ranges):
        if start > masked_to:
            parts += (text[at:start], MASK)
        masked_to = max(masked_to, stop)
        at = max(at, min(masked_to, end))
    return "".join((*parts, text[at:end]))


class MaskedStream:
    """Holds back only what may be the beginning of a secret. ``hid``: something was hidden."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._alarming = rule.trigger.search
        self.hid = False
        self._restart()

    def _restart(self) -> None:
        self._seen = ""  # the end of what was given out, as it was before it was masked
        self._since: list[str] = []  # what was given out since then, as it came
        self._held = ""
        self._busy = False
        self._given = 0  # all offsets below count from the first character ever fed
        self._ends = [0] * len(SHAPES)
        self._known_end = 0
        self._masked_to = -1
        self._ranges: Ranges = []

    def passes(self, text: str) -> bool:
        """Feed it if it can be given out as it is, as nearly all can; almost for nothing."""
        if self._busy or self._alarming(text) is not None:
            return False
        self._since.append(text)
        if len(self._since) > _MANY:
            self._gather()
        return True

    def feed(self, text: str) -> str:
        """What of the text so far can be given out."""
        if self.passes(text):
            return text
        self._gather()
        given = self._go_on(text, final=False)
        return given + self.end() if len(self._held) > self._rule.longest else given

    def end(self) -> str:
        """What is still held back; what is fed next is another text."""
        rest = self._go_on("", final=True) if self._held else ""
        self._restart()
        return rest

    def _gather(self) -> None:
        since = "".join(self._since)
        self._since.clear()
        self._seen = (self._seen + since)[-CONTEXT:]
        self._given += len(since)

    def _go_on(self, text: str, *, final: bool) -> str:
        buffer = self._seen + self._held + text
        begin = len(self._seen)
        base = self._given - begin
        edge = max(begin, self._scan(buffer, base, begin, final=final))
        due = [(a - base, min(b - base, edge)) for a, b in self._ranges if a - base < edge]
        out = hide(buffer, begin, edge, due, self._masked_to - base)
        if due:
            self.hid = True
            self._masked_to = max(self._masked_to, base + max(stop for _, stop in due))
        self._given = base + edge
        self._ranges = [(max(a, self._given), b) for a, b in self._ranges if b > self._given]
        self._seen, self._held = buffer[max(0, edge - CONTEXT) : edge], buffer[edge:]
        return out

    def _scan(self, buffer: str, base: int, begin: int, *, final: bool) -> int:
        """Find what is to be hidden; the place up to which that is certain."""
        known = self._rule.known
        found, begun = known.scan(buffer, max(begin, self._known_end - base), final=final)
        opened = [begun] if begun >= 0 else []
        if found:
            self._known_end = base + found[-1][1]
        first = 2 if base else 0  # what stands before them is not known
        data = plain(buffer)
        for number, shape in enumerate(self._rule.shapes_in(data)):
            at = max(first, self._ends[number] - base)
            scan = shape.scan(buffer, data, at, final=final)
            self._ends[number] = base + scan.at
            found += scan.ranges
            if scan.open >= 0:
                opened.append(scan.open)
        self._ranges += ((base + start, base + stop) for start, stop in found)
        self._busy = bool(opened)
        return min(opened, default=len(buffer))
