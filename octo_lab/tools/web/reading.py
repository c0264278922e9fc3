"""One page of the web: fetched, made readable, its links told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import anyio.to_thread

from octo_lab.core.errors import ToolFailed
from octo_lab.security.net.ports import Fetcher, WebRequest, WebResponse
from octo_lab.tools.web.decode import decode
from octo_lab.tools.web.hosts import host_of
from octo_lab.tools.web.links import Link, links_of
from octo_lab.tools.web.page import kind_of, read_page

ACCEPT = "text/html,application/xhtml+xml,text/*;q=0.9,application/json;q=0.9,*/*;q=0.5"
LIMIT = 2_000_000
SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """``url`` is where it came from, after redirects; ``asked`` is what was fetched.

    ``html``: it is a page, not other text.
    """

    asked: str
    url: str
    title: str
    text: str
    links: Sequence[Link] = ()
    html: bool = False


async def read_url(web: Fetcher, url: str, *, seconds: float = SECONDS) -> Reading:
    """As Markdown; raises ToolFailed, also for what is no text."""
    request = WebRequest(url=url, headers={"accept": ACCEPT}, timeout=seconds, limit=LIMIT)
    response = await web.fetch(request)
    if response.status >= 400:
        raise ToolFailed(f"{host_of(response.url)} answered {response.status}")
    if kind_of(response) == "binary":
        raise ToolFailed("it is no text")
    return await anyio.to_thread.run_sync(_reading, url, response)


async def read_html(asked: str, url: str, status: int, html: str) -> Reading:
    """A page that a browser made; raises ToolFailed."""
    if status >= 400:
        raise ToolFailed(f"{host_of(url)} answered {status}")
    headers = {"content-type": "text/html; charset=utf-8"}
    body = html.encode("utf-8", "replace")
    response = WebResponse(url=url, status=status, headers=headers, body=body)
    return await anyio.to_thread.run_sync(_reading, asked, response)


def _reading(asked: str, response: WebResponse) -> Reading:
    page = read_page(response, "markdown")
    html = kind_of(response) == "html"
    links = links_of(decode(response), response.url) if html else []
    title = " ".join(page.title.split())
    return Reading(
        asked=asked, url=response.url, title=title, text=page.text, links=links, html=html
    )
