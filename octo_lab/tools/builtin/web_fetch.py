"""The tool ``web_fetch``: a page of the web, made readable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field

from octo_lab.core.errors import ToolFailed
from octo_lab.security.net.ports import WebRequest, WebResponse
from octo_lab.tools.model_tool import model_tool
from octo_lab.tools.powers import Powers
from octo_lab.tools.tool import Tool, ToolContext
from octo_lab.tools.web.hosts import host_of
from octo_lab.tools.web.markdown import Mode, Readable
from octo_lab.tools.web.page import read_page

MAX_CHARS = 1_000_000
SECONDS = 30.0
_ACCEPT = "text/html,application/xhtml+xml,text/*;q=0.9,application/json;q=0.9,*/*;q=0.5"
_DESCRIPTION = (
    "Fetch a web page by its URL (http or https) and read it as Markdown or plain text; JSON and "
    "other text come as they are. Scripts do not run."
)


class WebFetchArgs(BaseModel):
    model_config = ConfigDict(extra="forbid")

    url: str = Field(min_length=1, max_length=8192, description="https://…")
    extract_mode: Mode | None = Field(default=None, description="By default markdown.")
    max_chars: int | None = Field(
        default=None, ge=100, le=MAX_CHARS, description="How much of it is shown; default 50000."
    )


async def web_fetch(powers: Powers, ctx: ToolContext, args: WebFetchArgs) -> str:
    set_by_owner = powers.options.get("web_fetch", {})
    mode: Mode = args.extract_mode or set_by_owner.get("extract_mode", "markdown")
    limit = args.max_chars or set_by_owner.get("max_chars", 50_000)
    request = WebRequest(url=args.url, headers={"accept": _ACCEPT}, timeout=SECONDS)
    response = await powers.web.fetch(request)
    if response.status >= 400:
        raise ToolFailed(
            f"{host_of(response.url)} answered {response.status} for this page",
            hint="check the URL, or look for another page",
        )
    page = await anyio.to_thread.run_sync(read_page, response, mode)
    return shown(page, response, limit)


def shown(page: Readable, response: WebResponse, limit: int) -> str:
    """The page under its title and where it came from."""
    head = [f"Title: {page.title}"] if page.title else []
    head.append(f"URL: {response.url}")
    text = page.text[:limit] or "[The page has no text; it may need scripts to show any]"
    return "\n".join([*head, "", text, *_cut(page, response, limit)])


def _cut(page: Readable, response: WebResponse, limit: int) -> list[str]:
    if len(page.text) > limit:
        return ["", f"[cut here: {limit:,} of {len(page.text):,} characters; see max_chars]"]
    if page.cut or response.cut:
        return ["", "[cut here: the page is longer than what is fetched of any]"]
    return []


def hosts(args: WebFetchArgs) -> Sequence[str]:
    host = host_of(args.url)
    return (host,) if host else ()


def tool(powers: Powers) -> Tool:
    made = model_tool(
        partial(web_fetch, powers),
        WebFetchArgs,
        name="web_fetch",
        group="web",
        source="outside",
        risk="network",
        detail=lambda args: args.url,
        hosts=hosts,
        timeout=SECONDS * 2,
        output=MAX_CHARS + 20_000,
    )
    return replace(made, description=_DESCRIPTION)
