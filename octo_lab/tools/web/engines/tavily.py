"""Tavily (docs.tavily.com)."""

from __future__ import annotations

from collections.abc import Iterable

from octo_lab.security.net.ports import WebRequest
from octo_lab.tools.web.engine import Engine, Hit, Search, hit, post_json, rows


def ask(search: Search) -> WebRequest:
    body = {"query": search.query, "max_results": search.count}
    return post_json(f"{search.base}/search", body, {"authorization": f"Bearer {search.key}"})


def read(body: bytes) -> Iterable[Hit]:
    return [
        hit(row.get("title"), row.get("url"), row.get("content")) for row in rows(body, "results")
    ]


ENGINE = Engine(
    name="tavily", base="https://api.tavily.com", ask=ask, read=read, keys=("TAVILY_API_KEY",)
)
