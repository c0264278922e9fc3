"""What looks like a key: where one may begin, what a whole one is, what may still become one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import re2

from octo_lab.security import pem

_SHOWN = 4
_LINE = r"(?<=\\[nrt])"  # a line begins in JSON, too
_START = rf"(?:(?<![A-Za-z0-9])|{_LINE})"
_NAMES = (
    r"(?:password|passwd|passphrase|secret|api[_-]?key|apikey|(?:access|auth|refresh|bot|session)"
    r"[_-]?token|secret[_-]?access[_-]?key|private[_-]?key|encryption[_-]?key)"
)
# What a key of a vendor begins with, and how it goes on; "sk-learn-contrib-examples" is a name.
_VENDORS = {
    r"sk-": r"(?=[A-Za-z_-]{0,60}\d)[A-Za-z0-9_-]{16,}",
    r"(?:AKIA|ASIA)": r"[0-9A-Z]{16}(?![0-9A-Za-z])",
    r"gh[opsru]_": r"[A-Za-z0-9]{20,}",
    r"github_pat_": r"[A-Za-z0-9_]{20,}",
    r"glpat-": r"[A-Za-z0-9_-]{16,}",
    r"xox[abeoprs]-": r"[A-Za-z0-9-]{10,}",
    r"AIz": r"a[A-Za-z0-9_-]{35}",
    r"(?:hf|gsk|xai|pplx|r8)[_-]": r"(?=[A-Za-z]{0,60}\d)[A-Za-z0-9]{20,}",
    r"eyJ": r"(?<![_-]eyJ)[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    r"(?:bot)?[0-9]{8,10}:": r"[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])",
    r"nvapi-": r"[A-Za-z0-9_-]{20,}",
    r"pypi-": r"A[A-Za-z0-9_-]{40,}",
    r"[rs]k_live_": r"[A-Za-z0-9]{16,}",
    r"npm_": r"(?=[A-Za-z]{0,60}\d)[A-Za-z0-9]{30,}",
    r"tvly-": r"(?=[A-Za-z_-]{0,60}\d)[A-Za-z0-9_-]{20,}",
    r"ya29\.": r"[A-Za-z0-9_-]{20,}",
}
_BEGUN = "|".join(_VENDORS)
_BEGINNING = re.compile(_BEGUN)
_VARIABLE = (
    rf"(?:(?<![A-Za-z0-9_])|{_LINE})"
    r"(?:[A-Z][A-Z0-9]{0,40}_){1,8}"
    r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|PAT|CREDENTIALS?)=[\"']?"
)
_PLACE = r"://[^\s/:@\"']{0,64}"
# What stands for a value in a program: settings.api_key, SecretStr, os.environ[, ${VAR}
_CODE = re.compile(
    r"\$.*|[A-Za-z]*[._:|\[-][A-Za-z_.:|\[\]-]*|[A-Za-z_.]{1,60}\[[\w:.-]{0,40}(?:\][\w.]*)?|"
    r"[A-Z]?[a-z]+(?:[A-Z][a-z]*)+|[A-Z][a-z]+|\*+"
)
_SAMPLE = frozenset(
    {"password", "passwd", "pass", "pwd", "secret", "token", "xxx", "your-password"}
)
CONTEXT = 400
"""How many characters before what it hides a shape may begin."""

TRIGGER = (
    r"[=:]|[-_](?<![^abefikmoprstuxy8-][-_])|\.(?<![^9]\.)"
    r"|A(?<![^I]A)|z(?<![^I]z)|J(?<![^y]J)|[rR](?:\s|\Z)"
)
"""Found in a piece of text with which what a shape hides may begin, whatever stands before it:
the last of the characters by which each shape is told.
"""


def _of_key(match: re.Match[str]) -> int:
    """What every key of the kind begins with is shown, and four characters at least."""
    begun = _BEGINNING.match(match.string, match.start())
    assert begun is not None
    return max(begun.start() + _SHOWN, begun.end())


def _of_secret(match: re.Match[str]) -> int:
    return -1 if match["secret"].lower() in _SAMPLE else match.start("secret")


def _of_value(match: re.Match[str]) -> int:
    """A value in quotes is one; without them it may be a name in a program."""
    named = not match["quote"] and _CODE.fullmatch(match["secret"])
    return -1 if named else _of_secret(match)


def _growing_secret(match: re.Match[str]) -> int:
    at = match.start("secret")
    return at if at >= 0 else match.end()


@dataclass(slots=True)
class Scan:
    """How far one text is read for one shape: ``at`` is the end of the last whole one."""

    at: int = 0
    open: int = -1
    ranges: list[tuple[int, int]] = field(default_factory=list)


def plain(text: str) -> bytes:
    """A byte for each character, as hints are looked for: none tells letters beyond ASCII."""
    return text.encode("ascii", "replace")


class Hint:
    """Finds in a plain text where something may begin; re2 does it ten times as fast as ``re``."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._compiled = re2.compile(pattern.encode())

    def places(self, data: bytes) -> Iterator[int]:
        return (found.start() for found in self._compiled.finditer(data))

    def stands_in(self, data: bytes) -> bool:
        return self._compiled.search(data) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One form of key. ``hint`` finds where one may begin; ``whole`` matches one from there,
    ``growing`` one that more text may complete. ``sign`` stands in every text that has one.

    ``hidden`` and ``held`` say from where on a match of each is hidden; -1: it is no key.
    """

    hint: Hint
    whole: re.Pattern[str]
    growing: re.Pattern[str]
    sign: str = ""
    hidden: Callable[[re.Match[str]], int] = _of_secret
    held: Callable[[re.Match[str]], int] = _growing_secret

    def scan(self, text: str, data: bytes, at: int, *, final: bool) -> Scan:
        """The parts of ``text``, which is ``data`` when plain, to hide from ``at`` on; unless it
        is ``final``, up to where one is ``open``: what follows decides what is hidden from there.
        """
        scan = Scan(at=at)
        if self.sign not in text:
            return scan
        for begin in self.hint.places(data):
            if begin < scan.at:
                continue
            if not final and (growing := self.growing.match(text, begin)):
                scan.open = min(self.held(growing), len(text))
                break
            self._take(scan, self.whole.match(text, begin))
        return scan

    def _take(self, scan: Scan, match: re.Match[str] | None) -> None:
        if match is None:
            return
        scan.at = match.end()
        hidden = self.hidden(match)
        if hidden >= 0:
            scan.ranges.append((hidden, match.end()))


# One character of a value; a backslash before what JSON escapes is none.
_ESCAPED = r"\\(?![\"nrt])"
_UNQUOTED = rf"(?:[^\s\"'`,;&<>{{}}()\\]|{_ESCAPED})"
_SET = rf"(?:[^\s\"'`,;&<>{{}}()$\\]|{_ESCAPED})"
_ASSIGNED = r"{}[\"']?\s{{0,4}}".format("(?i)" + _NAMES)

_RARE = (
    Shape(
        hint=Hint(pem.BEGIN),
        whole=pem.WHOLE,
        growing=pem.GROWING,
        sign="PRIVATE KEY-----",
    ),
    Shape(
        hint=Hint(_BEGUN),
        whole=re.compile(f"{_START}(?:{'|'.join(map(''.join, _VENDORS.items()))})"),
        growing=re.compile(rf"{_START}(?:{_BEGUN})[A-Za-z0-9_.-]*\Z"),
        hidden=_of_key,
        held=_of_key,
    ),
    Shape(
        hint=Hint(
            r"(?:[A-Z][A-Z0-9]*_)+(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|PAT|CREDENTIALS?)="
        ),
        whole=re.compile(rf"{_VARIABLE}(?P<secret>{_SET}{{6,}})"),
        growing=re.compile(rf"{_VARIABLE}(?P<secret>{_SET}*)\Z"),
        sign="=",
    ),
    Shape(
        hint=Hint(r"(?i:bearer)"),
        whole=re.compile(
            rf"(?i)(?:\b|{_LINE})bearer\s{{1,4}}(?P<secret>[A-Za-z0-9._~+/=-]{{20,}})"
        ),
        growing=re.compile(
            rf"(?i)(?:\b|{_LINE})bearer(?:\s{{1,4}}(?P<secret>[A-Za-z0-9._~+/=-]*))?\Z"
        ),
    ),
)
_COMMON = (
    Shape(
        hint=Hint(f"(?i:{_NAMES})"),
        whole=re.compile(
            rf"{_ASSIGNED}[=:]\s{{0,4}}(?P<quote>[\"']?)(?P<secret>{_UNQUOTED}{{8,}}+)(?!\()"
        ),
        growing=re.compile(rf"{_ASSIGNED}(?:[=:]\s{{0,4}}[\"']?(?P<secret>{_UNQUOTED}*))?\Z"),
        hidden=_of_value,
    ),
    Shape(
        hint=Hint("://"),
        whole=re.compile(rf"{_PLACE}:(?P<secret>[^\s/@\"'{{}}<>$]{{1,256}})(?=@)"),
        growing=re.compile(rf"{_PLACE}(?::(?P<secret>[^\s/@\"'{{}}<>$]{{0,256}}))?\Z"),
        sign="://",
    ),
)

SHAPES = (*_COMMON, *_RARE)
_ANY, _ANY_RARE = (Hint("|".join(s.hint.pattern for s in them)) for them in (SHAPES, _RARE))


def shapes_in(data: bytes) -> tuple[Shape, ...]:
    """The first of ``SHAPES``, as many as may be in a plain text."""
    if not _ANY.stands_in(data):
        return ()
    return SHAPES if _ANY_RARE.stands_in(data) else _COMMON
