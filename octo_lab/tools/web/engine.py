"""A search engine as a value: what it is asked, and how its answer is read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import urlencode

from octo_lab.core.text import clean
from octo_lab.security.net.ports import WebRequest
from octo_lab.tools.web.hosts import host_of

SECONDS = 15.0
_TITLE = 200
_SNIPPET = 500
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """``base`` is the engine's address without a last slash, ``key`` the owner's for it."""

    query: str
    count: int
    base: str
    key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One result."""

    title: str
    url: str
    snippet: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """``keys`` are variables that may hold the key, none for an engine that needs none.

    ``read`` makes hits of the body; it may raise ValueError for what it does not understand.
    ``address`` is a variable that may hold the base URL of an engine that has no usual one.
    """

    name: str
    base: str
    ask: Callable[[Search], WebRequest]
    read: Callable[[bytes], Iterable[Hit]]
    keys: tuple[str, ...] = ()
    address: str = ""


def post_json(url: str, body: object, headers: Mapping[str, str]) -> WebRequest:
    """A request that follows no redirect: a key stays with whom it is for."""
    return WebRequest(
        url=url,
        method="POST",
        headers={"content-type": "application/json", "accept": "application/json", **headers},
        body=json.dumps(body).encode(),
        timeout=SECONDS,
        redirects=0,
    )


def get(url: str, query: Mapping[str, object], headers: Mapping[str, str]) -> WebRequest:
    return WebRequest(
        url=f"{url}?{urlencode(query)}", headers=headers, timeout=SECONDS, redirects=0
    )


def rows(body: bytes, *path: str) -> Iterator[Mapping[str, Any]]:
    """The objects in the list at ``path`` of a JSON answer; raises ValueError without one."""
    found: Any = json.loads(body)
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    if not isinstance(found, list):
        raise ValueError(f"no list at {'.'.join(path)}")
    return (row for row in found if isinstance(row, dict))


def hit(title: object, url: object, snippet: object = "") -> Hit:
    return Hit(
        title=_plain(title, _TITLE), url=str(url or "").strip(), snippet=_plain(snippet, _SNIPPET)
    )


def tidied(hits: Iterable[Hit], count: int) -> list[Hit]:
    """At most ``count``, each page once, none that leads nowhere."""
    kept: dict[str, Hit] = {}
    for one in hits:
        if len(kept) < count and host_of(one.url) and len(one.url) <= 2000:
            kept.setdefault(one.url, one)
    return list(kept.values())


def _plain(text: object, limit: int) -> str:
    """On one line and without markup, which engines put round the words that fit."""
    if not isinstance(text, str):
        return ""
    line = " ".join(unescape(_TAG.sub("", clean(text[: 4 * limit]))).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
