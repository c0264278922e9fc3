"""DuckDuckGo's page for browsers without scripts."""

from __future__ import annotations

from collections.abc import Iterable
from html import unescape
from urllib.parse import parse_qs, urlsplit

from octo_lab.security.net.ports import WebRequest
from octo_lab.tools.web.engine import Engine, Hit, Search, get, hit
from octo_lab.tools.web.html_tokens import Close, Open, Text, tokens

_BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def ask(search: Search) -> WebRequest:
    headers = {"accept": "text/html", "accept-language": "en", "user-agent": _BROWSER}
    return get(f"{search.base}/html/", {"q": search.query}, headers)


def read(body: bytes) -> Iterable[Hit]:
    """Links of the class ``result__a`` and the texts of ``result__snippet`` after each.

    Raises ValueError for a page that is none of results, as that which asks for a person is.
    """
    page = body.decode("utf-8", "replace")
    if "result__a" not in page and "no-results" not in page:
        raise ValueError("no page of results")
    found: list[list[str]] = []
    part = ""
    for token in tokens(page):
        match token:
            case Open(name="a" | "div" as name, attributes=given):
                classes = given.get("class", "").split()
                if name == "a" and "result__a" in classes:
                    found.append([_target(given.get("href", "")), "", ""])
                    part = "title"
                elif "result__snippet" in classes and found:
                    part = "snippet"
            case Close(name="a" | "div"):
                part = ""
            case Text(text=text) if part:
                found[-1][1 if part == "title" else 2] += text
    return [hit(title, url, snippet) for url, title, snippet in found if url]


def _target(href: str) -> str:
    """Where a link leads past DuckDuckGo's own redirect; empty for an advertisement."""
    try:
        parts = urlsplit(unescape(href))
    except ValueError:
        return ""
    if (parts.hostname or "").endswith("duckduckgo.com"):
        return parse_qs(parts.query).get("uddg", [""])[0] if parts.path == "/l/" else ""
    return unescape(href)


ENGINE = Engine(name="duckduckgo", base="https://html.duckduckgo.com", ask=ask, read=read)
