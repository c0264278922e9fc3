"""Walks a folder as git sees it: what .gitignore names, and what nobody reads, is left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from octo_lab.core.errors import ToolFailed
from octo_lab.security.paths import Enclosure, Entry
from octo_lab.tools.gitpatterns import GitPatterns
from octo_lab.tools.workspace import decode, read_bytes

ALWAYS_SKIPPED = frozenset(
    {".git", ".hg", ".svn", ".venv", "__pycache__", "node_modules", ".ipynb_checkpoints"}
)
_DEEPEST = 64


@dataclass(frozen=True, slots=True)
class _Rules:
    """The .gitignore of ``folder`` ("" or "a/b/"); the last of a chain of these decides first."""

    folder: str
    patterns: GitPatterns


def walk_unignored(files: Enclosure, path: str = ".") -> Iterator[Entry]:
    """The files below ``path``, by name, a folder's own before those deeper.

    A folder asked for by name is walked even if it is ignored itself. Raises ToolFailed when
    ``path`` is no folder inside the workspace.
    """
    start = "" if (name := files.name(path)) == "." else name
    rules = _rules_above(files, start)
    waiting = [(start, rules)]
    first = files.list_dir(start or ".")
    while waiting:
        folder, rules = waiting.pop()
        entries = first if folder == start else _listed(files, folder)
        rules = (*rules, *_rules_in(files, folder, entries))
        kept = [entry for entry in entries if not _skipped(entry, rules)]
        yield from (entry for entry in kept if entry.kind == "file")
        inner = [entry.path for entry in kept if entry.kind == "folder"]
        waiting += [(path, rules) for path in reversed(inner) if path.count("/") < _DEEPEST]


def _listed(files: Enclosure, folder: str) -> list[Entry]:
    try:
        return files.list_dir(folder)
    except ToolFailed:  # it vanished, or may not be read
        return []


def _rules_above(files: Enclosure, start: str) -> tuple[_Rules, ...]:
    """Rules of the folders above ``start``; none when they ignore it, as it was asked for."""
    if start.startswith("/"):  # no git repository is known there
        return ()
    parts = start.split("/") if start else []
    rules: tuple[_Rules, ...] = ()
    for depth in range(len(parts)):
        folder = "/".join(parts[:depth])
        rules = (*rules, *_rules_in(files, folder, _listed(files, folder or ".")))
    return () if start and _ignored(start, rules, folder=True) else rules


def _rules_in(files: Enclosure, folder: str, entries: list[Entry]) -> list[_Rules]:
    found = [entry for entry in entries if entry.name == ".gitignore" and entry.kind == "file"]
    if not found:
        return []
    try:
        lines = (decode(read_bytes(files, found[0].path)) or "").splitlines()
    except ToolFailed:  # it vanished, or may not be read
        return []
    return [_Rules(folder and f"{folder.rstrip('/')}/", GitPatterns(lines))]


def _skipped(entry: Entry, rules: tuple[_Rules, ...]) -> bool:
    if entry.kind != "folder":
        return _ignored(entry.path, rules)
    return entry.name in ALWAYS_SKIPPED or _ignored(entry.path, rules, folder=True)


def _ignored(path: str, rules: tuple[_Rules, ...], *, folder: bool = False) -> bool:
    for rule in reversed(rules):
        decided = rule.patterns.ignored(path[len(rule.folder) :], folder=folder)
        if decided is not None:
            return decided
    return False
