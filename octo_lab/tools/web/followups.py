"""What to search for next, from what was read: words that the pages share and nobody asked for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from octo_lab.tools.web.reading import Reading

_HEADING = re.compile(r"^#{1,4}\s+(.{3,120})$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_WORD = re.compile(r"[^\W\d_][\w'-]{2,30}")
_SCANNED = 200_000
_COMMON = frozenset(
    {"about", "above", "after", "also", "and", "any", "are", "because", "been"}
    | {"before", "being", "between", "both", "but", "can", "cannot", "com", "contact"}
    | {"content", "contents", "could", "does", "down", "each", "for", "from", "further"}
    | {"get", "had", "has", "have", "here", "history", "home", "how", "into"}
    | {"its", "itself", "just", "know", "language", "learn", "like", "links", "list"}
    | {"login", "main", "make", "menu", "more", "most", "navigation", "new", "next"}
    | {"not", "now", "off", "only", "other", "our", "out", "over", "page"}
    | {"pages", "part", "previous", "privacy", "read", "references", "related", "same", "search"}
    | {"see", "share", "should", "sign", "site", "skip", "some", "such", "table"}
    | {"than", "that", "the", "their", "them", "then", "there", "these", "they"}
    | {"this", "those", "through", "top", "under", "use", "used", "using", "was"}
    | {"were", "what", "when", "where", "which", "while", "who", "why", "will"}
    | {"with", "you", "your"}
)


def followups(query: str, readings: Sequence[Reading], count: int) -> list[str]:
    """At most ``count`` queries: the first one with a word that headings of several pages add."""
    asked = set(_words(query))
    pages: Counter[str] = Counter()
    for reading in readings:
        pages.update(set(_words(_headings(reading))) - asked)
    wanted = [word for word, _ in sorted(pages.items(), key=lambda item: (-item[1], item[0]))]
    return [f"{query} {word}"[:400] for word in wanted[:count]]


def cited(query: str, readings: Sequence[Reading]) -> list[str]:
    """Addresses that the pages name under words of the query, those named by most first."""
    asked = set(_words(query))
    votes: Counter[str] = Counter()
    for reading in readings:
        votes.update(link.url for link in reading.links if asked & set(_words(link.words)))
    return [url for url, _ in sorted(votes.items(), key=lambda item: -item[1])]


def _headings(reading: Reading) -> str:
    found = _HEADING.findall(reading.text[:_SCANNED])
    return "\n".join([reading.title, *(_LINK.sub(r"\1", one) for one in found)])


def _words(text: str) -> Iterable[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in _COMMON]
