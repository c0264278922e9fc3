"""The tool ``site_crawl``: the pages of one site, each with the beginning of its text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

import anyio
from pydantic import BaseModel, ConfigDict, Field

from octo_lab.security.net.urls import parse_url
from octo_lab.tools.browser.actions import rendered
from octo_lab.tools.browser.browsers import Browsers
from octo_lab.tools.model_tool import model_tool
from octo_lab.tools.powers import Powers
from octo_lab.tools.tool import Tool, ToolContext
from octo_lab.tools.web.crawl import Crawled, CrawlPlan, crawl
from octo_lab.tools.web.hosts import host_of
from octo_lab.tools.web.reading import Reading, read_html

PREVIEW = 2_000
_SECONDS = 240.0
_FAILURES = 10
_DESCRIPTION = (
    "Read the pages of one site, following its links from a URL: breadth first, only on the same "
    "host, as its robots.txt allows. Gives title, URL and the beginning of each page; web_fetch "
    "reads one as a whole."
)


class SiteCrawlArgs(BaseModel):
    model_config = ConfigDict(extra="forbid")

    url: str = Field(min_length=1, max_length=8192, description="Where to begin: https://…")
    max_depth: int = Field(default=3, ge=1, le=10, description="Links away from the first page.")
    max_pages: int = Field(default=50, ge=1, le=200)
    path_prefix: str = Field(
        default="", max_length=500, description="Only pages whose path begins so, as /docs/."
    )


async def site_crawl(powers: Powers, ctx: ToolContext, args: SiteCrawlArgs) -> str:
    options = powers.options.get("deep_crawl", {})
    shown_in = f"{ctx.session or ctx.chat_id} site_crawl"
    plan = CrawlPlan(
        start=parse_url(args.url),
        depth=args.max_depth,
        pages=args.max_pages,
        prefix=args.path_prefix,
        seconds=_SECONDS,
        render=_renderer(powers.browsers, shown_in, options.get("page_settle_ms", 3000) / 1000),
    )
    limit = options.get("max_output_chars", 50_000)
    try:
        return shown(await crawl(powers.web, plan, ctx.report), limit)
    finally:
        await _closed(powers.browsers, shown_in)


def _renderer(
    browsers: Browsers | None, session: str, settle: float
) -> Callable[[str], Awaitable[Reading]] | None:
    """Reads a page in a browser of the crawl's own, if there is one here."""
    if browsers is None or browsers.found.missing:
        return None

    async def render(url: str) -> Reading:
        return await read_html(url, *await rendered(browsers, session, url, settle))

    return render


async def _closed(browsers: Browsers | None, session: str) -> None:
    if browsers is not None:
        with anyio.CancelScope(shield=True):
            await browsers.close(session)


def shown(done: Crawled, limit: int) -> str:
    """The list of all pages first, then of each as much as there is room for."""
    pages = done.pages
    lines = [f"{len(pages)} pages read{'; time ran out' if done.late else ''}."]
    lines += [f"{done.left} more were found and not read: see max_pages."] if done.left else []
    lines += [f"{done.refused} are left out: robots.txt forbids them."] if done.refused else []
    lines += [f"[not read: {url}: {why}]" for url, why in done.failed[:_FAILURES]]
    more = len(done.failed) - _FAILURES
    lines += [f"[{more} more could not be read]"] if more > 0 else []
    head = "\n".join(lines)
    titles = "\n".join(f"{n}. {page.title or page.url}" for n, (_, page) in enumerate(pages, 1))
    parts = [head, titles[: limit // 4]]
    left = limit - sum(map(len, parts))
    for number, (depth, page) in enumerate(pages, 1):
        text = page.text[:PREVIEW] + ("…" if len(page.text) > PREVIEW else "")
        part = f"## {number}. {page.title or page.url}\n{page.url} (depth {depth})\n\n{text}"
        left -= len(part) + 2
        if left < 0:
            parts.append(f"[{len(pages) - number + 1} pages are only listed: see max_output_chars]")
            break
        parts.append(part)
    return "\n\n".join(parts)


def hosts(args: SiteCrawlArgs) -> Sequence[str]:
    host = host_of(args.url)
    return (host,) if host else ()


def tool(powers: Powers) -> Tool:
    made = model_tool(
        partial(site_crawl, powers),
        SiteCrawlArgs,
        name="site_crawl",
        group="web",
        source="outside",
        risk="network",
        detail=lambda args: args.url,
        hosts=hosts,
        timeout=_SECONDS + 30.0,
        output=250_000,
    )
    return replace(made, description=_DESCRIPTION)
