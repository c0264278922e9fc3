"""Perplexity's search (docs.perplexity.ai)."""

from __future__ import annotations

from collections.abc import Iterable

from octo_lab.security.net.ports import WebRequest
from octo_lab.tools.web.engine import Engine, Hit, Search, hit, post_json, rows


def ask(search: Search) -> WebRequest:
    body = {"query": search.query, "max_results": search.count}
    return post_json(f"{search.base}/search", body, {"authorization": f"Bearer {search.key}"})


def read(body: bytes) -> Iterable[Hit]:
    return [
        hit(row.get("title"), row.get("url"), row.get("snippet")) for row in rows(body, "results")
    ]


ENGINE = Engine(
    name="perplexity",
    base="https://api.perplexity.ai",
    ask=ask,
    read=read,
    keys=("PERPLEXITY_API_KEY",),
)
