"""Asks one search engine after the other until one has results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from octo_lab.core.errors import ToolFailed
from octo_lab.security.net.ports import Fetcher, WebResponse
from octo_lab.tools.web.engine import Engine, Hit, Search, tidied
from octo_lab.tools.web.engines import (
    brave,
    duckduckgo,
    exa,
    perplexity,
    searxng,
    tavily,
    wikipedia,
    you,
)

ENGINES: tuple[Engine, ...] = (
    searxng.ENGINE,
    tavily.ENGINE,
    duckduckgo.ENGINE,
    exa.ENGINE,
    brave.ENGINE,
    you.ENGINE,
    perplexity.ENGINE,
    wikipedia.ENGINE,
)
"""In the order in which they are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """An engine that can be asked."""

    engine: Engine
    base: str
    key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """``engine`` is who answered, ``failures`` say in a line each who did not."""

    engine: str = ""
    hits: Sequence[Hit] = ()
    failures: Sequence[str] = ()


def ready_engines(
    environ: Mapping[str, str], *, names: Sequence[str] = (), urls: Mapping[str, str] = {}
) -> list[Ready]:
    """Those that have the key or the address they need, in the order of ``names`` if given.

    Raises ToolFailed for a name that no engine has.
    """
    known = {engine.name: engine for engine in ENGINES}
    unknown = [name for name in (*names, *urls) if name not in known]
    if unknown:
        raise ToolFailed(
            f"The settings of web_search name {unknown[0]!r}, which is no engine",
            hint=f"known: {', '.join(known)}",
        )
    wanted = [known[name] for name in names] if names else ENGINES
    return [one for engine in wanted if (one := _ready(engine, environ, urls)) is not None]


async def search(web: Fetcher, engines: Iterable[Ready], query: str, count: int) -> Found:
    """The first results there are. Raises ToolFailed when no engine could be asked at all."""
    failures: list[str] = []
    nothing = ""
    for one in engines:
        try:
            hits = await _asked(web, one, query, count)
        except ToolFailed as exc:
            failures.append(f"{one.engine.name}: {exc}")
            continue
        if hits:
            return Found(engine=one.engine.name, hits=hits, failures=failures)
        nothing = nothing or one.engine.name
    if not nothing:
        raise ToolFailed(
            "No search engine could be asked: " + ("; ".join(failures) or "none is set up"),
            hint="the owner can set TAVILY_API_KEY, BRAVE_API_KEY, EXA_API_KEY or SEARXNG_URL",
        )
    return Found(engine=nothing, failures=failures)


def _ready(engine: Engine, environ: Mapping[str, str], urls: Mapping[str, str]) -> Ready | None:
    key = next((environ[name].strip() for name in engine.keys if environ.get(name)), "")
    base = urls.get(engine.name) or environ.get(engine.address, "") or engine.base
    if not base or (engine.keys and not key):
        return None
    return Ready(engine=engine, base=base.rstrip("/"), key=key)


async def _asked(web: Fetcher, one: Ready, query: str, count: int) -> list[Hit]:
    asked = Search(query=query, count=count, base=one.base, key=one.key)
    response = await web.fetch(one.engine.ask(asked))
    if response.status != 200:
        raise ToolFailed(_refusal(response))
    try:
        return tidied(one.engine.read(response.body), count)
    except (ValueError, RecursionError) as exc:
        raise ToolFailed("it gave an answer that cannot be read") from exc


def _refusal(response: WebResponse) -> str:
    match response.status:
        case 401 | 403:
            return f"it refused the key or the asker ({response.status})"
        case 402 | 429:
            return f"it was asked too often or has no credit left ({response.status})"
        case status:
            return f"it answered {status}"
