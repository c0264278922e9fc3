"""Brave Search (api-dashboard.search.brave.com)."""

from __future__ import annotations

from collections.abc import Iterable

from octo_lab.security.net.ports import WebRequest
from octo_lab.tools.web.engine import Engine, Hit, Search, get, hit, rows


def ask(search: Search) -> WebRequest:
    headers = {"accept": "application/json", "x-subscription-token": search.key}
    query = {"q": search.query, "count": search.count}
    return get(f"{search.base}/res/v1/web/search", query, headers)


def read(body: bytes) -> Iterable[Hit]:
    found = rows(body, "web", "results")
    return [hit(row.get("title"), row.get("url"), row.get("description")) for row in found]


ENGINE = Engine(
    name="brave",
    base="https://api.search.brave.com",
    ask=ask,
    read=read,
    keys=("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"),
)
