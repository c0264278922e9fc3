"""Exa (docs.exa.ai)."""

from __future__ import annotations

from collections.abc import Iterable

from octo_lab.security.net.ports import WebRequest
from octo_lab.tools.web.engine import Engine, Hit, Search, hit, post_json, rows


def ask(search: Search) -> WebRequest:
    body = {
        "query": search.query,
        "numResults": search.count,
        "contents": {"text": {"maxCharacters": 500}},
    }
    return post_json(f"{search.base}/search", body, {"x-api-key": search.key})


def read(body: bytes) -> Iterable[Hit]:
    return [hit(row.get("title"), row.get("url"), row.get("text")) for row in rows(body, "results")]


ENGINE = Engine(name="exa", base="https://api.exa.ai", ask=ask, read=read, keys=("EXA_API_KEY",))
