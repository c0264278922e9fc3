"""Where a path of a command line leads: into the workspace, out of it, to what must stay."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from octo_lab.tools.command_policy.names import names
from octo_lab.tools.command_policy.syntax import HERE, HOME, UNKNOWN, Word

Spot = Literal[
    "inside", "workspace", "guarded", "temporary", "above", "root", "home", "system", "device",
    "outside", "unknown",
]  # fmt: skip

_SYSTEM = names(
    "bin boot dev etc lib lib32 lib64 libx32 proc root sbin sys usr Applications Library System "
    "Users home media mnt opt run srv var private Volumes"
)
_DEEP = names("bin boot etc lib lib32 lib64 proc sbin sys usr System")
_HARMLESS = names("null zero full random urandom stdin stdout stderr tty fd")
_TEMPORARY = ("/tmp", "/var/tmp", "/private/tmp", "/dev/shm")
_GUARDED = frozenset({".git", ".octo"})
_OWN = re.compile(r"\.octo(?![\w-])")
_NOTES = frozenset({"agents.md", "claude.md", ".env"})  # read by octo_lab, at the workspace's top
_SUFFIXES = re.compile(r"(?:[^/{\0]+/)*[^/{\0]*\w[^/{\0]*\{(?:[\w,-]|\.(?=\w))*\}")
_GLOB = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """``workspace`` and ``home`` are absolute; ``folder`` is the current one, None: not known.

    ``walls``: what runs is held by a sandbox.
    """

    workspace: str
    home: str
    folder: str | None = None
    walls: bool = True


def spot(word: Word, place: Place) -> Spot:
    """Where ``word`` leads as a path; a pattern counts as the strictest of what it may fit."""
    text = word.text.replace(HOME, place.home)
    if HERE in text:
        text = text.replace(HERE, place.folder or UNKNOWN)
    if UNKNOWN in text or (word.globs and "{" in text):
        known = re.split(rf"[{UNKNOWN}{{]", text)[0]
        return _of(f"{known}any", place) if _SUFFIXES.fullmatch(text) else _partly(known)
    if word.globs and (found := _GLOB.search(text)):
        return _pattern(text, found.start(), place)
    return _of(text, place)


def may_be_own(word: Word, place: Place) -> bool:
    """Whether ``word``, as a path or as part of an option, may lead into octo_lab's own folder."""
    text = f"{place.folder or ''}/{word.text}".casefold()
    dotted = (part for part in text.split("/") if part.startswith(".") and word.globs)
    return bool(_OWN.search(text)) or any(fnmatchcase(".octo", part) for part in dotted)


def resolved(word: Word, place: Place) -> str | None:
    """The path as the next current folder; None when it is not known."""
    text = word.text.replace(HOME, place.home).replace(HERE, place.folder or UNKNOWN)
    if word.globs or UNKNOWN in text or (not text.startswith("/") and place.folder is None):
        return None
    return _plain(posixpath.join(place.folder or "/", text))


def _partly(known: str) -> Spot:
    """An empty expansion leaves what stands before it, so ``/$x`` may be ``/``."""
    return "root" if known and _plain(known) == "/" else "unknown"


def _pattern(text: str, at: int, place: Place) -> Spot:
    folder, _, name = text[:at].rpartition("/")
    folder = folder or ("/" if text.startswith("/") else ".")
    if ".." in text[at:].split("/"):
        return "unknown"
    whole = not name.strip(".") and not re.search(r"[^*?.\[\]/]", text[at:])
    where = _of(folder, place) if whole else _of(posixpath.join(folder, "any"), place)
    dotted = (part for part in text.split("/") if part.startswith("."))
    fits = any(fnmatchcase(name, part) for part in dotted for name in _GUARDED)
    return "guarded" if fits and where == "inside" else where


def _of(text: str, place: Place) -> Spot:
    if not text.startswith("/"):
        if place.folder is None:
            return "unknown"
        text = posixpath.join(place.folder, text)
    return _absolute(_plain(text), place)


def _plain(path: str) -> str:
    return "/" + posixpath.normpath(path).lstrip("/")


def _absolute(path: str, place: Place) -> Spot:
    if path == "/":
        return "root"
    if path == place.home:
        return "home"
    if path == place.workspace:
        return "workspace"
    if _under(place.workspace, path) or _under(place.home, path):
        return "above"
    if _under(path, place.workspace):
        below = path[len(place.workspace) + 1 :].casefold().split("/")
        guarded = _GUARDED & set(below) or (len(below) == 1 and below[0] in _NOTES)
        guarded = guarded or _of_home(path, place)
        return "guarded" if guarded else "inside"
    return _far(path)


def _of_home(path: str, place: Place) -> bool:
    """Hidden in the home folder, which lies in the workspace: it steers programs that start."""
    if not _under(path, place.home):
        return False
    first = path[len(place.home.rstrip("/")) + 1 :].partition("/")[0]
    return first.startswith(".") and not _under(f"{place.workspace}/", f"{place.home}/{first}")


def _far(path: str) -> Spot:
    parts = path.split("/")[1:]
    if any(_under(path, folder) for folder in _TEMPORARY):
        return "temporary"
    if parts[0] == "dev":
        return "inside" if len(parts) > 1 and parts[1] in _HARMLESS else "device"
    if parts[0] in _SYSTEM and (len(parts) == 1 or parts[0] in _DEEP):
        return "system"
    return "outside"


def _under(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")
