"""One command as the rules for its program see it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from octo_lab.tools.command_policy.place import Place, Spot, spot
from octo_lab.tools.command_policy.syntax import HERE, HOME, UNKNOWN, Redirect, Simple, Word
from octo_lab.tools.verdict import Verdict

HARMLESS = Verdict("allow", "nothing in it is known to do harm")
_SHOWN = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """``run`` judges a text that a shell would read, ``again`` other words in this one's place."""

    name: str
    args: tuple[Word, ...]
    simple: Simple
    place: Place
    run: Callable[[str], Verdict]
    again: Callable[[Sequence[Word]], Verdict]

    @property
    def redirects(self) -> tuple[Redirect, ...]:
        return self.simple.redirects

    def spot(self, word: Word) -> Spot:
        return spot(word, self.place)

    def ask(self, why: str) -> Verdict:
        return Verdict("ask", f"{self.shown()} {why}")

    def as_script(self, why: str) -> Verdict:
        """A program given on the line is judged as a script of the workspace is: inside walls that
        hold it can do nothing that such a script could not, without walls it is asked about.
        """
        return HARMLESS if self.place.walls else self.ask(why)

    def deny(self, why: str) -> Verdict:
        return Verdict("deny", f"{self.shown()} {why}")

    def shown(self) -> str:
        return shown((Word(self.name), *self.args))


Rule = Callable[[Case], Verdict]


def shown(words: Iterable[Word]) -> str:
    """Words as a person may read them, short."""
    text = " ".join(word.text for word in words)
    for mark, plain in ((UNKNOWN, "…"), (HOME, "~"), (HERE, "."), ("\n", " ")):
        text = text.replace(mark, plain)
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")


def source(word: Word) -> str:
    """A word's text as a shell may read it again: what is not known stays an expansion."""
    return word.text.replace(HOME, "${HOME}").replace(HERE, "${PWD}").replace(UNKNOWN, "${_}")
