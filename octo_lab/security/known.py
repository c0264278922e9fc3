"""Finds secrets that are known, in the spellings in which they turn up."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable

from octo_lab.security.shapes import Hint, plain
from octo_lab.security.spellings import spellings

_SHORTEST = 6
# What is set where a server of one's own asks for some key: words, not secrets.
_STAND_INS = frozenset(
    {"ollama", "lm-studio", "llama.cpp", "not-needed", "no-key", "no-key-required", "unused"}
    | {"sk-no-key-required", "dummy-key", "anything", "changeme", "password", "secret", "api-key"}
)
_TOLD = 4  # characters by which a secret is told from other text
_LOOKED_FOR = 32  # characters of one that are looked for first
_NOTHING = r"[^\s\S]"
_CUT = re.compile(r"\n\[…|…|\.{3}")  # what stands where a text was cut
_CUTTING = re.compile(r"(?:\.{1,2}|\n\[?)\Z")


class Known:
    """The given secrets in all their spellings; what cannot be told from words is left out."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        told = (s for s in secrets if len(s) >= _SHORTEST and s.lower() not in _STAND_INS)
        forms = {form for secret in told for form in spellings(secret)}
        longest_first = sorted(forms, key=len, reverse=True)
        self._sorted = sorted(forms)
        self._whole = re.compile("|".join(map(re.escape, longest_first))) if forms else None
        self._hint = _hint(forms)
        self._first = re.compile(_any_of(form[0] for form in forms))
        self.longest = len(longest_first[0]) if forms else 0
        self.trigger = "|".join(_begins(first, forms) for first in {form[0] for form in forms})
        """Found wherever one begins, be it at the end of the text by its first character."""

    def __contains__(self, text: str) -> bool:
        return self._whole is not None and self._whole.search(text) is not None

    def stands_in(self, data: bytes) -> bool:
        """Whether one may stand in a plain text: many are as quick to look for as one."""
        return self._whole is not None and self._hint.stands_in(data)

    def scan(self, text: str, at: int, *, final: bool) -> tuple[list[tuple[int, int]], int]:
        """The parts of ``text`` to hide from ``at`` on, and, unless it is ``final``, where one
        begins that more text may complete; else -1.
        """
        ranges = self._cut_off(text, at)
        while self._whole is not None:
            begun = -1 if final else self._open(text, at)
            match = self._whole.search(text, at)
            if match is None or 0 <= begun <= match.start():
                return ranges, begun
            ranges.append(match.span())
            at = match.end()
        return ranges, -1

    def _cut_off(self, text: str, at: int) -> list[tuple[int, int]]:
        """The beginnings of secrets that whoever made the text cut short."""
        ends = [cut.start() for cut in _CUT.finditer(text, at)]
        begun = ((self._begun(text, at, end), end) for end in ends)
        return [(start, end) for start, end in begun if 0 <= start <= end - _TOLD]

    def _open(self, text: str, at: int) -> int:
        """Where the end of the text is the beginning of a secret, or of one that is cut."""
        begun = self._begun(text, at, len(text))
        cutting = _CUTTING.search(text, max(at, len(text) - 2)) if begun < 0 else None
        return self._begun(text, at, cutting.start()) if cutting else begun

    def _begun(self, text: str, at: int, end: int) -> int:
        """Where what ends there is the beginning of a secret."""
        for first in self._first.finditer(text, max(at, end - self.longest + 1), end):
            if self._goes_on(text[first.start() : end]):
                return first.start()
        return -1

    def _goes_on(self, tail: str) -> bool:
        place = bisect_left(self._sorted, tail)
        if place < len(self._sorted) and self._sorted[place] == tail:
            place += 1
        return place < len(self._sorted) and self._sorted[place].startswith(tail)


def _hint(forms: Iterable[str]) -> Hint:
    """Finds the beginnings of secrets, of those that are cut by a few characters."""
    whole = {re.escape(_begun(form)) for form in forms} or {_NOTHING}
    cut = {re.escape(_begun(form[:_TOLD])) for form in forms} or {_NOTHING}
    return Hint(rf"{'|'.join(whole)}|(?:{'|'.join(cut)}).*(?:\?|\.{{3}}|\n\[)")


def _begun(form: str) -> str:
    return plain(form[:_LOOKED_FOR]).decode()


def _begins(first: str, forms: Iterable[str]) -> str:
    """A pattern for how those that start with a character begin, or the end of the text does."""
    rests = {form[1:_TOLD] for form in forms if form[0] == first}
    ends = {rf"{re.escape(rest[:n])}\Z" for rest in rests for n in range(len(rest))}
    return f"{re.escape(first)}(?:{'|'.join([*map(re.escape, rests), *ends])})"


def _any_of(characters: Iterable[str]) -> str:
    """A pattern for one of them, of none when there are none."""
    found = "".join(map(re.escape, sorted(set(characters))))
    return f"[{found}]" if found else r"(?!)"
