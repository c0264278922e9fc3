"""``@name`` in a prompt: how it is read, and what to say of one that names nothing."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

MENTION = re.compile(r"""(?<![\w@./`-])@(?:"([^"\n]+)"|'([^'\n]+)'|([A-Za-z_.~/][\w./~-]*))""")
CODE = re.compile(
    r"""
    ^[ ]{0,3}(?P<fence>```+|~~~+) [\s\S]*? (?:^[ ]{0,3}(?P=fence)|\Z)  # a fenced block
    | (?P<ticks>`+) (?:(?!\n[ ]*\n)[\s\S]){1,2000}? (?P=ticks)        # code in a sentence
    | \{\{ [\s\S]{0,300}? \}\}                                        # an expression
    | ^[ \t]*@.*\n (?:[ \t]*@.*\n){0,50} (?=[ \t]*(?:async[ ]+def|def|class)\b)  # decorators
    """,
    re.MULTILINE | re.VERBOSE,
)
FILES = 1000  # of a folder, to find one of a similar name
SHOWN = 5
IPYTHONS = {"In", "Out", "exit", "quit", "open", "get_ipython"}


def readings(match: re.Match[str]) -> Iterator[str]:
    """The name, then without the punctuation that may follow it in a sentence."""
    name = match[1] or match[2] or match[3]
    yield name
    shorter = name.rstrip("./-")
    if shorter != name:
        yield shorter
    if "." in shorter:
        yield shorter.partition(".")[0]


def nothing_attached(
    text: str, unknown: Sequence[re.Match[str]], namespace: Mapping[str, Any]
) -> str:
    """One line on the mentions that named nothing, except those that are no mistake."""
    code = [found.span() for found in CODE.finditer(text)] if unknown else []
    names = dict.fromkeys(
        _shown(match)
        for match in unknown
        if not any(start <= match.start() < end for start, end in code) and not _is_scope(match)
    )
    if not names:
        return ""
    near = dict.fromkeys(found for name in names for found in _similar(name, namespace))
    hint = f" (did you mean {_listed(near)}?)" if near else ""
    missing = f"Nothing attached for {_listed(names)}"
    return f"{missing}: no variable, cell or file of that name{hint}"


def _shown(match: re.Match[str]) -> str:
    return match[1] or match[2] or match[3].rstrip("./-") or match[3]


def _is_scope(match: re.Match[str]) -> bool:
    """``@types/node``: a package of JavaScript, unless a folder is called so."""
    scope, _, package = (match[3] or "").rstrip(".-").partition("/")
    if not scope or not package or set(package) & set("/."):
        return False
    return not Path(scope).expanduser().is_dir()


def _similar(name: str, namespace: Mapping[str, Any]) -> list[str]:
    known = (
        key
        for key, value in list(namespace.items())
        if not (key.startswith("_") or key in IPYTHONS or isinstance(value, ModuleType))
    )
    if near := difflib.get_close_matches(name, [*known, *_files_beside(Path(name))], n=1):
        return near
    first = name.partition(".")[0]
    return _similar(first, namespace) if first not in ("", name) else []


def _files_beside(path: Path) -> list[str]:
    folder = path.parent
    try:
        with os.scandir(folder.expanduser()) as entries:
            return [str(folder / entry.name) for entry in islice(entries, FILES)]
    except OSError:
        return []


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(f"@{name}" for name in names[:SHOWN]) + more
