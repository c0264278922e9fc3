"""The tool ``web_search``: results of a search engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from pydantic import BaseModel, ConfigDict, Field

from octo_lab.core.errors import ToolFailed
from octo_lab.tools.model_tool import model_tool
from octo_lab.tools.powers import Powers
from octo_lab.tools.tool import Tool, ToolContext
from octo_lab.tools.web.engine import SECONDS
from octo_lab.tools.web.hosts import host_of
from octo_lab.tools.web.search import ENGINES, Found, Ready, ready_engines, search

_DESCRIPTION = (
    "Search the web. Gives titles, URLs and short texts; web_fetch reads a page. The query goes "
    "to a search engine: nothing private belongs in it."
)


class WebSearchArgs(BaseModel):
    model_config = ConfigDict(extra="forbid")

    query: str = Field(min_length=1, max_length=400, description="Key words.")
    count: int | None = Field(default=None, ge=1, le=10, description="Results; 5 by default.")


async def web_search(powers: Powers, ctx: ToolContext, args: WebSearchArgs) -> str:
    query = " ".join(args.query.split())
    if not query:
        raise ToolFailed("The query is empty", hint="give some key words")
    count = args.count or powers.options.get("web_search", {}).get("count", 5)
    return shown(query, await search(powers.web, engines_of(powers), query, count))


def shown(query: str, found: Found) -> str:
    failed = [f"[not used: {line}]" for line in found.failures]
    if not found.hits:
        return "\n".join([f"No results for {query!r} ({found.engine}).", *failed])
    lines = [f"Results for {query!r} ({found.engine}):"]
    for place, hit in enumerate(found.hits, 1):
        lines += ["", f"{place}. {hit.title or hit.url}", f"   {hit.url}"]
        lines += [f"   {hit.snippet}"] if hit.snippet else []
    return "\n".join([*lines, *(["", *failed] if failed else [])])


def engines_of(powers: Powers, only: str = "") -> list[Ready]:
    """Those that can be asked, as the owner set them, or the one that is named.

    Raises ToolFailed for a name that no engine has.
    """
    known = [engine.name for engine in ENGINES]
    if only and only not in known:
        raise ToolFailed(f"{only!r} is no search engine", hint=f"known: {', '.join(known)}")
    options = powers.options.get("web_search", {})
    names = (only,) if only else options.get("engines", ())
    return ready_engines(powers.environ, names=names, urls=options.get("urls", {}))


def engine_hosts(powers: Powers, only: str = "") -> Sequence[str]:
    """Those of every engine that a query may go to."""
    try:
        ready = engines_of(powers, only)
    except ToolFailed:
        return ()
    return tuple(dict.fromkeys(host for one in ready if (host := host_of(one.base))))


def hosts(powers: Powers, args: WebSearchArgs) -> Sequence[str]:
    return engine_hosts(powers)


def tool(powers: Powers) -> Tool:
    made = model_tool(
        partial(web_search, powers),
        WebSearchArgs,
        name="web_search",
        group="web",
        source="outside",
        risk="network",
        detail=lambda args: args.query,
        hosts=partial(hosts, powers),
        timeout=SECONDS * len(ENGINES) + 10.0,
    )
    return replace(made, description=_DESCRIPTION)
