"""Files that may be meant where there is none of the name."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice

from octo_lab.core.errors import ToolFailed
from octo_lab.security.paths import Enclosure
from octo_lab.tools.gitignore import walk_unignored

_SEARCHED = 20_000
_NAMED = 3


@contextmanager
def naming_near(files: Enclosure, path: str) -> Iterator[None]:
    """A ToolFailed that says that ``path`` does not exist says what is near it, too."""
    try:
        yield
    except ToolFailed as exc:
        if not isinstance(exc.__cause__, FileNotFoundError) or exc.hint:
            raise
        raise ToolFailed(exc.message, hint=near_hint(files, path)) from exc.__cause__


def near_hint(files: Enclosure, path: str) -> str:
    """A question that names what may be meant; '' where nothing is near."""
    try:
        near = nearby(files, path)
    except ToolFailed:
        return ""
    return f"did you mean {' or '.join(map(repr, near))}?" if near else ""


def nearby(files: Enclosure, path: str) -> list[str]:
    """What has nearly this path, else what has the same name elsewhere, at most three.

    Raises ToolFailed for a path outside.
    """
    spelled = _spelled(files, files.name(path))
    return [spelled] if spelled else _elsewhere(files, path.rstrip("/").rpartition("/")[2])


def _spelled(files: Enclosure, path: str) -> str:
    """The path with each part that is not there replaced by the one most like it."""
    if path.startswith("/"):
        return ""
    found = ""
    for part in path.split("/"):
        names = [entry.name for entry in files.list_dir(found or ".")]
        nearest = part if part in names else _nearest(part, names)
        if not nearest:
            return ""
        found = f"{found}/{nearest}".lstrip("/")
    return found


def _nearest(name: str, names: list[str]) -> str:
    plain = {other.casefold(): other for other in names}
    near = difflib.get_close_matches(name.casefold(), plain, n=1, cutoff=0.6)
    return plain[near[0]] if near else ""


def _elsewhere(files: Enclosure, name: str) -> list[str]:
    entries = islice(walk_unignored(files), _SEARCHED)
    same = (entry.path for entry in entries if entry.name.casefold() == name.casefold())
    return list(islice(same, _NAMED))
