"""You.com (docs.you.com)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from octo_lab.security.net.ports import WebRequest
from octo_lab.tools.web.engine import Engine, Hit, Search, get, hit, rows


def ask(search: Search) -> WebRequest:
    query = {"query": search.query, "count": search.count}
    return get(f"{search.base}/v1/search", query, {"x-api-key": search.key})


def read(body: bytes) -> Iterable[Hit]:
    return [
        hit(row.get("title"), row.get("url"), _snippet(row)) for row in rows(body, "results", "web")
    ]


def _snippet(row: Mapping[str, Any]) -> object:
    pieces = row.get("snippets")
    return pieces[0] if isinstance(pieces, list) and pieces else row.get("description")


ENGINE = Engine(
    name="you",
    base="https://ydc-index.io",
    ask=ask,
    read=read,
    keys=("YDC_API_KEY", "YOU_API_KEY", "YOUCOM_API_KEY"),
)
