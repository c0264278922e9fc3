"""A command line as the shell reads it: words, redirections, simple commands."""

from __future__ import annotations

from dataclasses import dataclass, replace

UNKNOWN, HOME, HERE = "\0", "\1", "\2"
"""Stand in a word's text for what is known only when the command runs, for the owner's home and
for the current folder. No command line that is read holds these characters itself."""


class Unreadable(Exception):
    """The line is not read to its end; the argument says why."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word with its quotes taken off. ``bare``: nothing of it was quoted.

    ``globs``: the shell replaces it by file names, or by several words. ``splits``: something
    unknown in it stands outside quotes, so that blanks in it part the word.
    """

    text: str
    bare: bool = True
    globs: bool = False
    splits: bool = False

    @property
    def literal(self) -> str | None:
        """The text, when it is known to the last character."""
        return None if self.globs or set(self.text) & {UNKNOWN, HOME, HERE} else self.text

    def parts(self) -> tuple[Word, ...]:
        """The words that it becomes where every unknown in it is a blank."""
        if not self.splits:
            return (self,)
        return tuple(replace(self, text=text) for text in self.text.split(UNKNOWN) if text)


@dataclass(frozen=True, slots=True)
class Redirect:
    """``body`` is the text of a here-document."""

    operator: str
    target: Word
    body: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Simple:
    """One simple command. ``fed`` by a pipe; ``feeder`` is the simple command at its other end.

    ``inside`` are the functions in whose bodies it stands, ``forks``: it runs beside others.
    """

    words: tuple[Word, ...] = ()
    assigns: tuple[tuple[str, Word], ...] = ()
    redirects: tuple[Redirect, ...] = ()
    fed: bool = False
    feeder: Simple | None = None
    forks: bool = False
    inside: tuple[str, ...] = ()
