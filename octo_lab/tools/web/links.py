"""Where the links of a page lead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from urllib.parse import urldefrag, urljoin

from octo_lab.core.errors import ToolFailed
from octo_lab.security.net.urls import parse_url
from octo_lab.tools.web.html_tokens import Close, Open, Text, tokens

MOST = 2_000
_LONGEST = 2_000
_WORDS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """``url`` is absolute and canonical, without a fragment; ``words`` are what it stands under."""

    url: str
    words: str = ""


def links_of(html: str, base: str) -> list[Link]:
    """Each address once, in the order of the page; only those of the web. Raises nothing."""
    found: dict[str, Link] = {}
    for href, words in _anchors(html):
        if len(found) >= MOST:
            break
        if href.startswith("\0"):
            base = _joined(base, href[1:]) or base
            continue
        url = _joined(base, href)
        if url and url not in found:
            found[url] = Link(url=url, words=" ".join(unescape(words).split())[:_WORDS])
    return list(found.values())


def _anchors(html: str) -> Iterator[tuple[str, str]]:
    """Each link's address and words; the address of a ``base`` begins with a NUL."""
    href, words = "", ""
    for token in tokens(html):
        match token:
            case Open(name="base", attributes=given) if given.get("href"):
                yield f"\0{given['href']}", ""
            case Open(name="a" | "area", attributes=given):
                if href:
                    yield href, words
                href, words = given.get("href", "").replace("\0", ""), ""
            case Text(text=text, raw="") if href and len(words) < 4 * _WORDS:
                words += text
            case Close(name="a") if href:
                yield href, words
                href, words = "", ""
    if href:
        yield href, words


def _joined(base: str, href: str) -> str:
    href = unescape(href).strip()
    if not href or len(href) > _LONGEST or href.startswith("#"):
        return ""
    try:
        url = urldefrag(urljoin(base, href.replace(" ", "%20"))).url
        return parse_url(url).url
    except (ToolFailed, ValueError):
        return ""
