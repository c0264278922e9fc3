"""Text made safe and short."""

from __future__ import annotations

import re
from collections.abc import Iterable

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff"
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0e\uffa0"
    "\U0001d173-\U0001d17a]"
)


def clean(text: str) -> str:
    """Replace lone surrogates by U+FFFD, so that the text always encodes as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def visible(text: str) -> str:
    """With what steers a screen, turns the reading order round or is not seen at all written as
    escapes: what a person agrees to is what is there.
    """
    return _UNSEEN.sub(_escaped, clean(text))


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


def truncate_utf8(text: str, limit: int, suffix: str = "…") -> str:
    """Cut at a character boundary so that at most ``limit`` bytes remain, then add ``suffix``.

    The suffix comes on top of the limit; a text that fits is returned unchanged.
    """
    data = clean(text).encode()
    if len(data) <= limit:
        return text
    return data[:limit].decode(errors="ignore") + suffix


def head_and_tail(text: str, limit: int) -> str:
    """Keep the first two thirds and the last third of ``limit`` characters, and say what went."""
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    tail = limit - head
    return f"{text[:head]}\n[… {len(text) - limit} characters omitted …]\n{text[-tail:]}"


def between_commas(texts: Iterable[str]) -> tuple[str, ...]:
    """The parts of each text between its commas, without blanks around them; no empty ones."""
    parts = (part.strip() for text in texts for part in text.split(","))
    return tuple(part for part in parts if part)


def first_line(text: str, limit: int = 80) -> str:
    """The first non-blank line, cut to ``limit`` characters."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= limit else line[: limit - 1] + "…"
