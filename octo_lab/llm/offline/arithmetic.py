"""Finds arithmetic in a sentence and writes it as Python."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_NUMBER = r"\d+(?:[.,]\d+)*"
_SIGNS = {"^": "**", "×": "*", "·": "*", "÷": "/", "−": "-", "–": "-"}
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}")
_ROLES = {"plus": "+", "minus": "-", "times": "*", "divided": "/", "power": "**"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An expression and where it stands in the text."""

    start: int
    end: int
    code: str


class Arithmetic:
    """Knows the operator words of all languages at once."""

    def __init__(self, words: Iterable[Mapping[str, tuple[str, ...]]]) -> None:
        tables = list(words)
        self._signs = {
            word: sign for table in tables for role, sign in _ROLES.items() for word in table[role]
        }
        root, after, percent = (
            _either(word for table in tables for word in table[role])
            for role in ("root", "root_after", "percent")
        )
        sign = rf"\*\*|[-+*/^×·÷−–]|{_either(self._signs)}"
        term = rf"\(*\s*-?{_NUMBER}\s*\)*"
        self._sign = re.compile(sign, re.IGNORECASE)
        self._chain = re.compile(rf"{term}(?:\s*(?:{sign})\s*{term})+", re.IGNORECASE)
        self._percent = re.compile(rf"({_NUMBER})\s*(?:{percent})\s*({_NUMBER})", re.IGNORECASE)
        self._root = re.compile(rf"(?:{root}|sqrt)\s*\(?\s*({_NUMBER})\)?", re.IGNORECASE)
        self._root_after = re.compile(rf"({_NUMBER})\s*(?:{after})")

    def find(self, text: str) -> Found | None:
        """The first expression in ``text``; a date or a range of lines is none."""
        if match := self._percent.search(text):
            return _found(match, f"{_number(match[1])} / 100 * {_number(match[2])}")
        if match := self._root.search(text) or self._root_after.search(text):
            return _found(match, f"{_number(match[1])} ** 0.5")
        return next(filter(None, map(self._read, self._chain.finditer(text))), None)

    def _read(self, match: re.Match[str]) -> Found | None:
        if _DATE.fullmatch(match[0].strip()):
            return None
        code = _balanced(self._sign.sub(self._python_sign, match[0]).strip())
        code = re.sub(_NUMBER, lambda number: _number(number[0]), code)
        return _found(match, re.sub(r"\s+", " ", code)) if is_expression(code) else None

    def _python_sign(self, match: re.Match[str]) -> str:
        word = match[0].lower()
        return f" {self._signs.get(word, _SIGNS.get(word, word))} "


def _either(words: Iterable[str]) -> str:
    longest_first = sorted(set(words), key=lambda word: (-len(word), word))
    return "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in longest_first)


def _found(match: re.Match[str], code: str) -> Found:
    return Found(start=match.start(), end=match.end(), code=code)


def _number(text: str) -> str:
    """1,234 is a thousand and more, 3,5 is three and a half; leading zeros go."""
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", text):
        text = text.replace(",", "")
    whole, dot, rest = text.replace(",", ".").partition(".")
    return f"{whole.lstrip('0') or '0'}{dot}{rest}"


def _balanced(code: str) -> str:
    """Without the brackets at either end that have no partner."""
    while code.count("(") > code.count(")") and code.startswith("("):
        code = code[1:]
    while code.count(")") > code.count("(") and code.endswith(")"):
        code = code[:-1]
    return code.strip()


def is_expression(code: str) -> bool:
    """Whether ``code`` is a Python expression."""
    try:
        ast.parse(code, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
