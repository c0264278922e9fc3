"""Splits a program's words into options and operands, as getopt does."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from octo_lab.tools.command_policy.syntax import Word


@dataclass(slots=True)
class Options:
    """``short`` are letters, ``long`` names as typed, ``values`` by letter or name."""

    short: set[str] = field(default_factory=set)
    long: list[str] = field(default_factory=list)
    values: dict[str, Word] = field(default_factory=dict)
    operands: list[Word] = field(default_factory=list)

    def has(self, *names: str) -> bool:
        """Whether one is given; a long name may be typed in part."""
        return any(
            name in self.short if len(name) == 1 else any(name.startswith(x) for x in self.long)
            for name in names
        )


def read_options(
    words: Sequence[Word],
    *,
    valued: Collection[str] = (),
    stop: bool = False,
) -> Options:
    """``valued`` are the letters and long names that take a value; ``stop`` at an operand."""
    found = Options()
    left = list(reversed(words))
    while left:
        word = left.pop()
        text = word.text
        if text == "--":
            found.operands += reversed(left)
            break
        if text.startswith("--"):
            _long(found, text[2:], left, valued)
        elif text.startswith("-") and len(text) > 1:
            _short(found, text[1:], left, valued)
        else:
            found.operands.append(word)
            if stop:
                found.operands += reversed(left)
                break
    return found


def _long(found: Options, text: str, left: list[Word], valued: Collection[str]) -> None:
    name, equals, value = text.partition("=")
    found.long.append(name)
    if equals:
        found.values[name] = Word(value, bare=False)
    elif name in valued and left:
        found.values[name] = left.pop()


def _short(found: Options, letters: str, left: list[Word], valued: Collection[str]) -> None:
    for index, letter in enumerate(letters):
        found.short.add(letter)
        if letter in valued:
            rest = letters[index + 1 :]
            if rest:
                found.values[letter] = Word(rest, bare=False)
            elif left:
                found.values[letter] = left.pop()
            return
