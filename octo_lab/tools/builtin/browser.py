"""The tool ``browser``: a real browser with scripts, for pages that ``web_fetch`` cannot read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from octo_lab.core.errors import ToolFailed
from octo_lab.core.text import head_and_tail
from octo_lab.tools.browser import actions
from octo_lab.tools.browser.browsers import Browsers
from octo_lab.tools.browser.running import START_SECONDS
from octo_lab.tools.model_tool import model_tool
from octo_lab.tools.powers import Powers
from octo_lab.tools.tool import Tool, ToolContext, ToolResult
from octo_lab.tools.verdict import Verdict
from octo_lab.tools.web.hosts import host_of

Action = Literal[
    "navigate", "get_text", "get_html", "click", "type", "screenshot", "evaluate", "close"
]
_LONGEST = 60.0
_DESCRIPTION = (
    "Use a real browser, for pages that need scripts; web_fetch is faster for others. One page is "
    "open at a time: navigate to a url first, then get_text, get_html, click, type, screenshot or "
    "evaluate (JavaScript in the page). A selector is CSS, or text=Words. close ends the browser, "
    "which also ends when it is not used."
)
_NEEDED = {"navigate": "url", "click": "selector", "type": "selector", "evaluate": "script"}


class BrowserArgs(BaseModel):
    model_config = ConfigDict(extra="forbid")

    action: Action
    url: str = Field(default="", max_length=8192, description="For navigate: https://…")
    selector: str = Field(
        default="", max_length=2000, description="For click and type; for get_text and get_html a "
        "part of the page."
    )  # fmt: skip
    text: str = Field(default="", max_length=20_000, description="For type; it replaces.")
    enter: bool = Field(default=False, description="For type: press Enter afterwards.")
    script: str = Field(default="", max_length=20_000, description="For evaluate.")
    full_page: bool = Field(default=False, description="For screenshot.")


async def browser(browsers: Browsers | None, ctx: ToolContext, args: BrowserArgs) -> ToolResult:
    if browsers is None:
        raise ToolFailed("There is no browser here")
    needed = _NEEDED.get(args.action, "")
    if needed and not getattr(args, needed):
        raise ToolFailed(f"{args.action} needs {needed!r}", hint="call it again with it")
    session = ctx.session or ctx.chat_id
    if args.action == "close":
        closed = await browsers.close(session)
        return ToolResult(text="The browser is closed." if closed else "None was open.")
    return await _act(browsers, session, args)


async def _act(browsers: Browsers, session: str, args: BrowserArgs) -> ToolResult:
    match args.action:
        case "navigate":
            return await actions.navigate(browsers, session, args.url)
        case "get_text":
            return await actions.get_text(browsers, session, args.selector)
        case "get_html":
            return await actions.get_html(browsers, session, args.selector)
        case "click":
            return await actions.click(browsers, session, args.selector)
        case "type":
            return await actions.type_text(
                browsers, session, args.selector, args.text, enter=args.enter
            )
        case "screenshot":
            return await actions.screenshot(browsers, session, full=args.full_page)
    return await actions.evaluate(browsers, session, args.script)


def judge(args: BrowserArgs, workspace: Path) -> Verdict | None:
    """Scripts of ours in a stranger's page are asked about; what a visitor does is not."""
    if args.action == "evaluate":
        return Verdict("ask", "it runs a script in a page")
    return Verdict("allow", "it only visits pages")


def detail(args: BrowserArgs) -> str:
    given = (args.url, args.selector, args.text, args.script)
    return head_and_tail(" ".join([args.action, *filter(None, given)]), 4000)


def sends(args: BrowserArgs) -> bool:
    """Looking at the page that is open tells nobody anything."""
    return args.action not in ("get_text", "get_html", "screenshot", "close")


def hosts(args: BrowserArgs) -> Sequence[str]:
    host = host_of(args.url)
    return (host,) if host else ()


def scopes(args: BrowserArgs, workspace: Path) -> Sequence[str]:
    return ("evaluate",) if args.action == "evaluate" else ()


def tool(powers: Powers) -> Tool:
    made = model_tool(
        partial(browser, powers.browsers),
        BrowserArgs,
        name="browser",
        group="web",
        source="outside",
        risk="network",
        asks=True,
        detail=detail,
        hosts=hosts,
        sends=sends,
        judge=judge,
        scopes=scopes,
        timeout=START_SECONDS + 2 * _LONGEST,
        output=actions.TEXT_CHARS + 10_000,
        missing=powers.browsers.found.missing if powers.browsers else "no browser can run here",
    )
    return replace(made, description=_DESCRIPTION)
