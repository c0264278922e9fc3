"""Wikipedia's search of titles and texts (api.wikimedia.org), in English."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from octo_lab.security.net.ports import WebRequest
from octo_lab.tools.web.engine import Engine, Hit, Search, get, hit, rows

BASE = "https://en.wikipedia.org"


def ask(search: Search) -> WebRequest:
    query = {"q": search.query, "limit": search.count}
    return get(f"{search.base}/w/rest.php/v1/search/page", query, {"accept": "application/json"})


def read(body: bytes) -> Iterable[Hit]:
    return [
        hit(row.get("title"), f"{BASE}/wiki/{quote(str(row.get('key')))}", row.get("excerpt"))
        for row in rows(body, "pages")
    ]


ENGINE = Engine(name="wikipedia", base=BASE, ask=ask, read=read)
