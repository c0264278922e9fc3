"""Marks what stands for itself in a request: paths, quotes, names, code, sums, numbers."""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass
from typing import Literal

from octo_lab.llm.offline.arithmetic import Arithmetic, is_expression

Kind = Literal["code", "name", "quote", "path", "glob", "item", "math", "number"]

_EXTENSIONS = (
    "py|ipynb|md|rst|txt|csv|tsv|json|jsonl|toml|yaml|yml|ini|cfg|conf|log|html|css|js|ts|tsx|xml"
    "|sql|sh|r|c|h|cpp|java|go|rs|tex|pdf|png|jpe?g|svg|gif|xlsx?|parquet|lock|env|bak|docx?|zip"
)
_BARE = "README|LICENSE|Makefile|Dockerfile|CHANGELOG|Procfile"
_OWN = re.compile(
    r"[@%]*(?:ol\.|octo)|\.octo|OPENAI|/(?:new|clear|stop|sessions|switch|help|model|status)\b",
    re.I,
)
_QUOTED = re.compile(
    r"\"([^\"\n]{1,300})\"|“([^”\n]{1,300})”|„([^“”\n]{1,300})[“”]|«\s?([^»\n]{1,300}?)\s?»"
    r"|「([^」\n]{1,300})」|‘([^’\n]{1,300})’|(?<!\w)'([^'\n]{1,300})'(?!\w)"
)
_TICKED = re.compile(r"`{1,3}([^`]{1,2000})`{1,3}")
_CALL = re.compile(r"(?<![\w@%.])[A-Za-z_][\w.]*\([^\n]{0,300}\)")
_ITEM = re.compile(
    r"(?<![\w./])([A-Za-z_]\w*)(?:\.([A-Za-z_]\w*)|\[\s*[\"']([^\"'\n]+)[\"']\s*\])(?![\w/(.])"
)
_AT_NAME = re.compile(r"(?<!\w)@([A-Za-z_]\w*)")
_GLOB = re.compile(r"(?<![\w)])(?:[\w.-]+/)*\*+[\w./*-]*\.\w+")
_ASCII_PATH = re.compile(
    rf"(?<![A-Za-z0-9_./-])(?:(?:~|\.{{1,2}})?(?:[A-Za-z0-9_.-]*/)+[A-Za-z0-9_.-]*"
    rf"|[A-Za-z0-9_.-]+\.(?:{_EXTENSIONS})|(?:{_BARE})(?:\.[a-z]+)?)(?![A-Za-z0-9_/-])",
)
_ANY_PATH = re.compile(rf"[\w./-]+\.(?:{_EXTENSIONS})(?![A-Za-z0-9_])", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.]*[A-Za-z_])|(?<=[^\x00-\x7f])\d+")
FOLDER = "somefolder/"
STANDS_FOR: dict[Kind, str] = {
    "code": "`run()`",
    "name": "`variable`",
    "quote": '"quoted"',
    "path": "somefile.txt",
    "glob": "*.ext",
    "item": "`variable`",
    "math": "1+2",
    "number": "9",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One marked piece; for an item ``value`` is the frame and ``column`` its column."""

    kind: Kind
    start: int
    end: int
    value: str
    column: str = ""


class Marker:
    """Finds marks; an earlier kind of find wins over a later one at the same place."""

    def __init__(self, arithmetic: Arithmetic) -> None:
        self._arithmetic = arithmetic

    def find(self, text: str) -> tuple[Mark, ...]:
        """The marks of ``text`` from left to right, none overlapping."""
        if whole := _whole_code(text):
            return (whole,)
        marks: list[Mark] = []
        for found in (_ticked, _quoted, _named, _calls, _globs, _paths, _items):
            _add(marks, found(text))
        if not any(mark.kind in ("path", "code") for mark in marks):
            _add(marks, self._sums(text))
        _add(marks, [_mark("number", match, match[0]) for match in _NUMBER.finditer(text)])
        return tuple(sorted(marks, key=lambda mark: mark.start))

    def _sums(self, text: str) -> list[Mark]:
        found = self._arithmetic.find(text)
        if found is None:
            return []
        return [Mark(kind="math", start=found.start, end=found.end, value=found.code)]


def masked(text: str, marks: tuple[Mark, ...]) -> str:
    """The text with every mark replaced by one word for its kind."""
    parts: list[str] = []
    at = 0
    for mark in marks:
        parts += [text[at : mark.start], f" {_placeholder(mark)} "]
        at = mark.end
    return "".join([*parts, text[at:]])


def _placeholder(mark: Mark) -> str:
    is_folder = mark.kind == "path" and not re.search(r"\.\w+$|^[A-Z]\w+$", mark.value)
    return FOLDER if is_folder else STANDS_FOR[mark.kind]


def _add(marks: list[Mark], found: list[Mark]) -> None:
    for mark in found:
        if not any(mark.start < other.end and other.start < mark.end for other in marks):
            marks.append(mark)


def _mark(kind: Kind, match: re.Match[str], value: str, column: str = "") -> Mark:
    return Mark(kind=kind, start=match.start(), end=match.end(), value=value, column=column)


def _foreign(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """The matches that are not octo_lab's own names, which the documentation explains."""
    return [match for match in pattern.finditer(text) if not _OWN.match(match[0])]


def _ticked(text: str) -> list[Mark]:
    return [_read_ticked(match) for match in _TICKED.finditer(text) if not _OWN.match(match[1])]


def _read_ticked(match: re.Match[str]) -> Mark:
    value = match[1].strip()
    if value.isidentifier():
        return _mark("name", match, value)
    if (item := _ITEM.fullmatch(value)) and not _ANY_PATH.fullmatch(value):
        return _mark("item", match, item[1], item[2] or item[3])
    if _ANY_PATH.fullmatch(value) or _ASCII_PATH.fullmatch(value):
        return _mark("path", match, value)
    return _mark("code" if _parses(value) else "quote", match, value)


def _quoted(text: str) -> list[Mark]:
    found = []
    for match in _QUOTED.finditer(text):
        value = next(group for group in match.groups() if group is not None)
        # ``df["price"]`` is an item, not a quotation
        if text[: match.start()].endswith("["):
            continue
        is_path = _ANY_PATH.fullmatch(value.replace(" ", "_"))
        found.append(_mark("path" if is_path else "quote", match, value))
    return found


def _named(text: str) -> list[Mark]:
    return [_mark("name", match, match[1]) for match in _foreign(_AT_NAME, text)]


def _calls(text: str) -> list[Mark]:
    return [_mark("code", match, match[0]) for match in _foreign(_CALL, text) if _parses(match[0])]


def _globs(text: str) -> list[Mark]:
    return [_mark("glob", match, match[0]) for match in _GLOB.finditer(text)]


def _paths(text: str) -> list[Mark]:
    ascii_only = [m for m in _foreign(_ASCII_PATH, text) if re.search(r"[A-Za-z]", m[0])]
    found = [_mark("path", m, m[0].rstrip(".")) for m in ascii_only]
    _add(found, [_mark("path", m, m[0]) for m in _foreign(_ANY_PATH, text)])
    return found


def _items(text: str) -> list[Mark]:
    return [_mark("item", match, match[1], match[2] or match[3]) for match in _foreign(_ITEM, text)]


def _parses(code: str) -> bool:
    return isinstance(_tree(code), ast.AST)


def _tree(code: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _whole_code(text: str) -> Mark | None:
    """The whole request, when it is Python that plainly computes or assigns something."""
    code = text.strip()
    if not code or len(code) > 2000 or _ASCII_PATH.fullmatch(code) or _OWN.match(code):
        return None
    tree = _tree(code)
    if tree is None or not _computes(tree, code):
        return None
    start = text.index(code)
    kind: Kind = "math" if is_expression(code) and not re.search(r"[A-Za-z_]", code) else "code"
    value = code.replace("^", "**") if kind == "math" else code
    return Mark(kind=kind, start=start, end=start + len(code), value=value)


def _computes(tree: ast.Module, code: str) -> bool:
    if any(isinstance(node, ast.Assign | ast.Import | ast.ImportFrom) for node in tree.body):
        return True
    nodes = list(ast.walk(tree))
    # "what is f(x)" and "banana in report(s)" are sentences that happen to be Python
    if any(isinstance(node, ast.Is | ast.IsNot | ast.In | ast.NotIn) for node in nodes):
        return False
    called = re.search(r"\w\(", code) and any(isinstance(node, ast.Call) for node in nodes)
    numbers = any(isinstance(n, ast.Constant) and isinstance(n.value, int | float) for n in nodes)
    works = any(isinstance(node, ast.BinOp | ast.Subscript | ast.Compare) for node in nodes)
    return bool(called) or (numbers and works)
