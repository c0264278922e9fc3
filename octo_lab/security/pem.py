"""A private key in a file, as files, diffs, listings and JSON show it, line by line."""

from __future__ import annotations

import re

BEGIN = r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----"
_DIGIT = "[A-Za-z0-9+/=]"
_EDGE = r"[ \t\"',+\\]{0,8}?"
# A line ends, also in JSON, or a blank stands for that, as in a variable of one line.
_BREAK = (
    r"(?:\r?\n|(?:\\{1,2}r)?\\{1,2}n"
    rf"| (?={_DIGIT}{{40}})| (?={_DIGIT}{{1,76}}(?![A-Za-z0-9+/=]) ?(?:-----END|\Z)))"
)
# What stands before a line: where a search found it; its number, the mark of a diff, a quote.
_FOUND = r"(?:(?!-----)[A-Za-z0-9_./-]){1,200}?[:|-]\d{1,6}[:|-]"
_MARGIN = rf"(?:{_FOUND}|(?:(?!-----)[ \t\d|:>+\-#\"',.]){{0,16}})"
# It ends with its line, with a string of JSON, or where the text does.
_ENDS = rf"(?={_EDGE}(?:{_BREAK}|-----|`|\Z)|\"[,}}\]])"
_HEADER = r"[A-Za-z][A-Za-z-]{1,30}: (?:(?!-----)[A-Za-z0-9,.: -]){1,120}"
_TEXT = rf"(?:{_HEADER}|{_DIGIT}{{0,200}}+){_ENDS}"
_FIRST = rf"{_DIGIT}{{4,20000}}+{_ENDS}"
_LINE = rf"(?:{_EDGE}{_BREAK}{_MARGIN}{_TEXT})"
_INSIDE = r"(?!-----END)[A-Za-z0-9_+/=\s|:>#\"',.\\-]"

# No words of a sentence or a command are taken for one: nothing could be hidden behind it.
WHOLE = re.compile(rf"{BEGIN}(?P<secret>(?:{_FIRST}){_LINE}{{0,2000}}|{_LINE}{{1,2000}})")
GROWING = re.compile(rf"{BEGIN}(?P<secret>(?:{_INSIDE}){{0,20000}})\Z")
