"""A SearXNG of one's own (docs.searxng.org); it must offer the format json."""

from __future__ import annotations

from collections.abc import Iterable

from octo_lab.security.net.ports import WebRequest
from octo_lab.tools.web.engine import Engine, Hit, Search, get, hit, rows


def ask(search: Search) -> WebRequest:
    query = {"q": search.query, "format": "json"}
    return get(f"{search.base}/search", query, {"accept": "application/json"})


def read(body: bytes) -> Iterable[Hit]:
    return [
        hit(row.get("title"), row.get("url"), row.get("content")) for row in rows(body, "results")
    ]


ENGINE = Engine(name="searxng", base="", ask=ask, read=read, address="SEARXNG_URL")
