"""Answers questions about a DataFrame from what the variable tools showed of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from octo_lab.llm.offline.answers import block
from octo_lab.llm.offline.slots import Request
from octo_lab.llm.offline.steps import Reply, phrase, say

_SIZE = re.compile(r"^DataFrame, (\d+) rows x (\d+) columns$", re.MULTILINE)
_COLUMNS = re.compile(r"^columns and dtypes:\n(.*?)\nmissing values: ([^\n]*)", re.DOTALL | re.M)
_COLUMN = re.compile(r"^  (.+): (\S.*)$", re.MULTILINE)
_HEAD = re.compile(r"^first (\d+) rows:\n(.*)", re.DOTALL | re.MULTILINE)
_LISTED = re.compile(r"^(\w+): DataFrame \((\d+), (\d+)\)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What is known of a DataFrame. ``whole``: all of its columns were shown."""

    name: str
    rows: int
    width: int
    columns: tuple[tuple[str, str], ...] = ()
    missing: str = ""
    head: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        return len(self.columns) == self.width


def seen_frame(name: str, shown: str) -> Seen | None:
    """What ``inspect`` showed, if it was a DataFrame."""
    size, columns, head = (one.search(shown) for one in (_SIZE, _COLUMNS, _HEAD))
    if not size:
        return None
    return Seen(
        name=name,
        rows=int(size[1]),
        width=int(size[2]),
        columns=tuple((match[1], match[2]) for match in _COLUMN.finditer(columns[1]))
        if columns
        else (),
        missing=columns[2] if columns else "",
        head=tuple(head[2].splitlines()) if head else (),
    )


def listed_frames(listed: str) -> dict[str, Seen]:
    """The DataFrames in what ``list_variables`` showed."""
    return {
        match[1]: Seen(name=match[1], rows=int(match[2]), width=int(match[3]))
        for match in _LISTED.finditer(listed)
    }


def told(request: Request, seen: Seen, columns: Sequence[str], count: int) -> Reply | None:
    """The answer, if what was seen holds it; ``columns`` are the ones asked about."""
    operation = request.intent.partition(".")[2]
    if operation in ("shape", "rows"):
        return say(request, operation, name=seen.name, rows=seen.rows, columns=seen.width)
    if not seen.whole or not seen.columns:
        return None
    if operation == "columns":
        names = ", ".join(f"`{name}`" for name, _ in seen.columns)
        return say(request, "columns", name=seen.name, columns=names)
    if operation == "dtypes":
        kinds = "\n".join(f"{name}: {kind}" for name, kind in seen.columns)
        return _shown(request, "dtypes", kinds, name=seen.name)
    if operation == "missing":
        return _missing(request, seen, columns)
    return _head(request, seen, count) if operation == "head" else None


def which_column(request: Request, seen: Seen) -> Reply:
    """Ask for one of the columns there are."""
    names = ", ".join(f"`{name}`" for name, _ in seen.columns)
    return say(request, "which_column", frame=seen.name, columns=names)


def _missing(request: Request, seen: Seen, columns: Sequence[str]) -> Reply:
    counts = seen.missing
    for column in columns[:1]:
        found = re.search(rf"(?:^|, ){re.escape(column)} (\d+)(?=, |$)", seen.missing)
        counts = f"{column} {found[1] if found else 0}"
    if counts == "none":
        return say(request, "no_missing", name=seen.name)
    return say(request, "missing", name=seen.name, counts=counts)


def _head(request: Request, seen: Seen, count: int) -> Reply | None:
    """The first rows, if as many were shown; one line of column names stands above them."""
    shown = len(seen.head) - 1
    wanted = min(count, seen.rows)
    if wanted < 1 or wanted > shown or shown > seen.rows:
        return None
    lines = "\n".join(seen.head[: wanted + 1])
    return _shown(request, "head", lines, name=seen.name, count=wanted)


def _shown(request: Request, what: str, text: str, **facts: object) -> Reply:
    return Reply(text=f"{phrase(request, what, **facts)}\n\n{block(request, text)}")
