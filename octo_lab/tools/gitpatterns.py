"""Patterns as in a .gitignore: the last one that fits a path decides."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

import re2

_TOKENS = re.compile(
    rb"""(?P<above>\A\*\*/) | (?P<inside>/\*\*\Z) | (?P<between>/\*\*/(?:\*\*/)*)
    | (?P<stars>\*+) | (?P<one>\?) | (?P<escaped>\\.)
    | \[(?P<negated>[!^])?(?P<set>\]?(?:\\.|\[:[a-z]+:\]|[^\]\\])*)\]
    | (?P<plain>.)""",
    re.VERBOSE | re.DOTALL,
)
_REGEX = {
    "above": b"(?:.*/)?",
    "inside": b"/.+",
    "between": b"/(?:.*/)?",
    "stars": rb"[^/\x00]*",
    "one": rb"[^/\x00]",
}
_FOLDER = b"\0"  # behind the path of a folder, where no pattern takes it for a part of the name

_NEVER = rb"\x00\x00"  # a bracket that is not closed fits nothing


class GitPatterns:
    """A list of patterns, compiled into one automaton: the cost does not grow with their number.

    Lines that are no pattern are passed over, as git does.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._negated: list[bool] = []
        self._set = re2.Set.FullMatchSet(_options())
        for line in lines:
            self._add(os.fsencode(line))
        if self._negated:
            self._set.Compile()

    def ignored(self, path: str, *, folder: bool = False) -> bool | None:
        """Whether ``path`` itself is ignored, or None when no pattern fits it.

        The path is relative to the folder that the patterns are of.
        """
        if not self._negated:
            return None
        name = os.fsencode(path) + (_FOLDER if folder else b"")
        fitting = cast("list[int] | None", self._set.Match(name))
        return None if fitting is None else not self._negated[max(fitting)]

    def _add(self, line: bytes) -> None:
        pattern = _parsed(line)
        if pattern is None:
            return
        try:
            self._set.Add(pattern.regex)
        except re2.error:
            return
        self._negated.append(pattern.negated)


@dataclass(frozen=True, slots=True)
class _Pattern:
    regex: bytes
    negated: bool


def _options() -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    options.dot_nl = True
    options.encoding = re2.Options.Encoding.LATIN1  # type: ignore[attr-defined]  # file names are bytes
    return options


def _parsed(line: bytes) -> _Pattern | None:
    line = re.sub(rb"(?<!\\)[ \t\r]+\Z", b"", line)
    if not line or line.startswith(b"#"):
        return None
    negated = line.startswith(b"!")
    line = line[negated:]
    folders_only = line.endswith(b"/")
    line = line.removesuffix(b"/")
    anywhere = b"/" not in line
    line = line.removeprefix(b"/")
    if not line:
        return None
    start = b"(?:.*/)?" if anywhere else b""
    return _Pattern(start + _translated(line) + (rb"\x00" if folders_only else rb"\x00?"), negated)


def _translated(glob: bytes) -> bytes:
    return b"".join(_token(match) for match in _TOKENS.finditer(glob))


def _token(match: re.Match[bytes]) -> bytes:
    kind = match.lastgroup or ""
    if kind in _REGEX:
        return _REGEX[kind]
    match kind:
        case "escaped":
            return re.escape(match["escaped"][1:])
        case "set":
            return _class(match["set"], bool(match["negated"]))
    return _NEVER if match[0] == b"[" else re.escape(match[0])


def _class(inner: bytes, negated: bool) -> bytes:
    """A bracket expression; it never fits "/"."""
    safe = re.sub(rb"\\(.)|([\[^&~|])(?!:)", lambda m: re.escape(m[1] or m[2]), inner)
    safe = rb"\]" + safe[1:] if safe.startswith(b"]") else safe
    return rb"[^/\x00" + safe + b"]" if negated else b"[" + safe + b"]"
