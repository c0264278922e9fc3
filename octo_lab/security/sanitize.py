"""What a tool said, without secrets and without long data that no model can read."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from octo_lab.security.redact import redact
from octo_lab.security.shapes import Hint, plain

_INLINE = re.compile(r"(data:[\w/+.;=-]{0,100};base64,)([A-Za-z0-9+/_=-]{64,})")
_HEX = re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]{64,}(?![0-9A-Za-z])")
_MANY_DIGITS = Hint("[0-9a-fA-F]{64}")
_DIGESTS = (64, 96, 128)
_ABOUT_DIGESTS = re.compile(
    r"(?i)sha|hash|digest|checksum|integrity|blake|commit|fingerprint|etag|\boid\b|\.lock\b"
)
_FILE = re.compile(r"[\w-]+\.[A-Za-z0-9]{1,8}\b|[\w.-]*/[\w./-]+")
_NEAR = 200


@dataclass(frozen=True, slots=True)
class Sanitized:
    """``secret``: something that looks like a key, or is one of the owner's, was in it."""

    text: str
    secret: bool = False


def sanitize(
    text: str,
    *,
    mask: Callable[[str], str] = redact,
    about: str = "",
    digests: bool = False,
) -> Sanitized:
    """Mask secrets by ``mask``; say how long inline data and long hexadecimal numbers were.

    A checksum stays: one of the usual length beside a file name or a word about checksums, or
    when the call was ``about`` them. ``digests``: whatever has that length is one.
    """
    named = digests or _ABOUT_DIGESTS.search(about) is not None

    def shortened(match: re.Match[str]) -> str:
        size = len(match[0])
        if size in _DIGESTS and (named or _beside_a_name(match)):
            return match[0]
        return f"[{size} hexadecimal digits left out]"

    masked = mask(text)
    short = _INLINE.sub(lambda m: f"{m[1]}[{len(m[2])} characters left out]", masked)
    if _MANY_DIGITS.stands_in(plain(short)):
        short = _HEX.sub(shortened, short)
    return Sanitized(short, secret=masked != text)


def _beside_a_name(match: re.Match[str]) -> bool:
    text = match.string
    before = text[max(0, match.start() - _NEAR) : match.start()].rpartition("\n")[2]
    after = text[match.end() : match.end() + _NEAR].partition("\n")[0]
    line = f"{before} {after}"
    return bool(_ABOUT_DIGESTS.search(line) or _FILE.search(line))
