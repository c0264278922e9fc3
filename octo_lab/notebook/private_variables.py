"""Knows which variables are private, under whatever name code would reach their values."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from types import CodeType
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from octo_lab.core.errors import UsageError
from octo_lab.core.mail import Attachment
from octo_lab.notebook.interpolate import pieces

SCOPE = "private variables"
_PATTERN = re.compile(r"[\w*?]+")
_NAME = re.compile(r"[^\W\d]\w*")
# What reaches every variable without naming it.
_REACHES_ALL = frozenset(
    {
        *("globals", "locals", "vars", "user_ns", "__main__", "exec", "eval", "gc"),
        *("who", "whos", "store", "Out", "_oh"),
    }
)
_SHARED = (bool, int, float, complex, type(None))  # equal ones are often one object
_MOST = 500  # functions that are looked through


class PrivateVariables:
    """The names that a person marked, as patterns. May be asked from any thread.

    ``more`` are patterns that are private besides.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._marked: dict[str, None] = {}

    @property
    def marked(self) -> tuple[str, ...]:
        return tuple(self._marked)

    def mark(self, names: Iterable[str]) -> None:
        """From now on these are private; a name may be a pattern. Raises UsageError."""
        wanted = tuple(names)
        for name in wanted:
            if not _PATTERN.fullmatch(str(name)):
                raise UsageError(
                    f"{name!r} names no variable", hint='give names: ol.private("df", "key_*")'
                )
        self._marked.update(dict.fromkeys(wanted))

    def is_private(self, name: str, more: Iterable[str] = ()) -> bool:
        return any(fnmatchcase(name.lower(), one.lower()) for one in (*self._marked, *more))

    def names(self, more: Iterable[str] = ()) -> frozenset[str]:
        """The private names there are now, and the other names of the same values."""
        more = tuple(more)
        if not self._marked and not more:
            return frozenset()
        variables: list[tuple[str, Any]] = list(self._shell.user_ns.items())
        named = {name: value for name, value in variables if self.is_private(name, more)}
        values = {id(value) for value in named.values() if not _is_shared(value)}
        return frozenset(named) | {name for name, value in variables if id(value) in values}

    def in_code(self, code: str, more: Iterable[str] = ()) -> str:
        """The first private variable that code names or may reach, or ''."""
        more = tuple(more)
        private = self.names(more)
        words: dict[str, None] = dict.fromkeys(_NAME.findall(code))
        reached = (*words, *self._in_functions(words))
        for word in reached:
            if word in private or self.is_private(word, more):
                return word
        return min(private) if private and not _REACHES_ALL.isdisjoint(reached) else ""

    def brought(self, prompt: str, attached: Iterable[Attachment]) -> tuple[str, ...]:
        """Which private variables a prompt shows to the model, as reasons of a taint."""
        codes = [piece.text for piece in pieces(prompt) if piece.expression is not None]
        codes += [one.text if one.name.startswith("last ") else one.name for one in attached]
        found = dict.fromkeys(filter(None, map(self.in_code, codes)))
        return tuple(f"{name!r} was given to the model" for name in found)

    def _in_functions(self, words: Iterable[str]) -> Iterator[str]:
        """What the notebook's functions that the words name, and those that they use, name."""
        waiting, seen = list(words), set(words)
        for _ in range(_MOST):
            if not waiting:
                return
            for code in _codes(self._shell.user_ns.get(waiting.pop())):
                found = set(_names(code)) - seen
                seen |= found
                waiting += found
                yield from found


def _is_shared(value: object) -> bool:
    return type(value) in _SHARED or _is_tiny(value)


def _is_tiny(value: object) -> bool:
    return isinstance(value, str | bytes | tuple) and len(value) < 4


def _codes(value: Any) -> list[CodeType]:
    """The code of a function or of a class's methods; of anything else none."""
    if inspect.isfunction(value):
        return [value.__code__]
    if isinstance(value, type):
        return [one.__code__ for one in list(vars(value).values()) if inspect.isfunction(one)]
    return []


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
