"""What a request most likely calls its DataFrame and columns, when nothing can be looked up."""

from __future__ import annotations

import re

from octo_lab.llm.offline.features import plain
from octo_lab.llm.offline.slots import Request, aligned, unmarked

_WORD = r"[`\"'@]?([A-Za-z_]\w*)"


def guessed_frame(request: Request) -> str | None:
    """A marked name, else the word in the place of one, else the last unusual word."""
    marked = [mark.value for mark in request.marked("name")]
    attached = [name for name in request.attached if name.isidentifier()]
    unusual = _unusual(request)
    placed = [word for word in aligned(request, "frame") if word in unusual]
    return next(iter([*marked[-1:], *attached, *placed, *unusual[-1:]]), None)


def guessed_columns(request: Request, frame: str) -> list[str]:
    """Quoted text, other marked names, then unusual words; the one in a column's place leads."""
    quoted = [mark.value for mark in request.marked("quote", "name")]
    unusual = _unusual(request)
    placed = [word for word in aligned(request, "column") if word in unusual]
    found = dict.fromkeys([*quoted, *placed, *unusual])
    return [name for name in found if plain(name) != plain(frame)]


def _unusual(request: Request) -> list[str]:
    """The words that no example has; one that is only like one may well be a name."""
    words = re.findall(r"(?a:[A-Za-z_]\w*)", unmarked(request))
    return [word for word in words if plain(word) not in request.ordinary]


def guessed_group(request: Request, frame: str) -> str | None:
    """The word after one like "per"."""
    for word in sorted(request.words("group"), key=len, reverse=True):
        match = re.search(rf"(?<!\w){re.escape(word)}\s+{_WORD}", request.text, re.IGNORECASE)
        if match and match[1] != frame:
            return match[1]
    return None
