"""What can be done in a browser, each within its seconds, and only with pages of the web."""

from __future__ import annotations

import importlib
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import anyio

from octo_lab.core.errors import ToolDenied, ToolFailed
from octo_lab.core.messages import Media
from octo_lab.core.text import clean
from octo_lab.security.net.urls import parse_url
from octo_lab.tools.browser.browsers import Browsers, Owned
from octo_lab.tools.browser.running import Running
from octo_lab.tools.tool import ToolResult

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page, Response

TEXT_CHARS = 50_000
_GLANCE = 4_000
_RESULT = 20_000
_HIGHEST = 8_000
_PAGE_CHARS = 2_000_000
_BLANK = "about:blank"
_CUT = "\n[cut here: {kept:,} of {all:,} characters]"
# The bound is set where the text is, so that no page can send more than this.
_TEXT = "(e, n) => [(e.innerText ?? e.textContent ?? '').slice(0, n), (e.innerText ?? '').length]"
_HTML = "(e, n) => [e.outerHTML.slice(0, n), e.outerHTML.length]"
_EVALUATE = """async ([source, most]) => {
  const given = await (0, eval)(source);
  const value = typeof given === 'function' ? await given() : given;
  const text = typeof value === 'string' ? value : JSON.stringify(value) ?? String(value);
  return [text.slice(0, most), text.length];
}"""


async def navigate(browsers: Browsers, session: str, url: str) -> ToolResult:
    """Open a page; the address is checked first, so that a refusal says why."""
    target = parse_url(url)
    await browsers.dialer.guard.addresses(target.host, target.port)
    async with acting(browsers, session) as running:
        response = await _gone_to(running, target.url)
        status = f"Status: {response.status}\n" if response else ""
        text = await _read(running, "", _TEXT, _GLANCE)
        return ToolResult(text=f"{await _head(running)}{status}\n{text}{_notes(running)}")


async def get_text(browsers: Browsers, session: str, selector: str) -> ToolResult:
    async with looking(browsers, session) as running:
        text = await _read(running, selector, _TEXT, TEXT_CHARS)
        return ToolResult(text=f"{await _head(running)}\n{text}{_notes(running)}")


async def get_html(browsers: Browsers, session: str, selector: str) -> ToolResult:
    async with looking(browsers, session) as running:
        text = await _read(running, selector or "html", _HTML, TEXT_CHARS)
        return ToolResult(text=f"{await _head(running)}\n{text}{_notes(running)}")


async def click(browsers: Browsers, session: str, selector: str) -> ToolResult:
    async with looking(browsers, session) as running:
        await _one(running, selector).click(timeout=running.seconds * 1000)
        await _settled(running)
        return ToolResult(text=f"Clicked.\n{await _head(running)}{_notes(running)}")


async def type_text(
    browsers: Browsers, session: str, selector: str, text: str, *, enter: bool
) -> ToolResult:
    async with looking(browsers, session) as running:
        field = _one(running, selector)
        await field.fill(text, timeout=running.seconds * 1000)
        if enter:
            await field.press("Enter", timeout=running.seconds * 1000)
            await _settled(running)
        return ToolResult(text=f"Typed.\n{await _head(running)}{_notes(running)}")


async def screenshot(browsers: Browsers, session: str, *, full: bool) -> ToolResult:
    async with looking(browsers, session) as running:
        page = running.page
        clip: Any = None
        if full:
            high = await page.evaluate("document.documentElement.scrollHeight")
            high = max(1, min(int(high), _HIGHEST))
            clip = {"x": 0, "y": 0, "width": 1280, "height": high}
        data = await page.screenshot(
            type="jpeg", quality=80, full_page=full, clip=clip, timeout=running.seconds * 1000
        )
        picture = Media(mime="image/jpeg", data=data, name="page.jpg")
        return ToolResult(text=f"{await _head(running)}{_notes(running)}", media=(picture,))


async def evaluate(browsers: Browsers, session: str, script: str) -> ToolResult:
    async with looking(browsers, session) as running:
        with anyio.fail_after(running.seconds):
            text, length = await running.page.evaluate(_EVALUATE, [script, _RESULT])
        return ToolResult(text=f"{_cut(text, length, _RESULT)}{_notes(running)}")


async def rendered(
    browsers: Browsers, session: str, url: str, settle: float
) -> tuple[str, int, str]:
    """Where a page is, its status and its HTML after its scripts had ``settle`` seconds."""
    target = parse_url(url)
    await browsers.dialer.guard.addresses(target.host, target.port)
    async with acting(browsers, session) as running:
        response = await _gone_to(running, target.url)
        await running.page.wait_for_timeout(settle * 1000)
        await _leave_what_is_no_web(running)
        wanted = running.page.locator("html").first
        html, _ = await wanted.evaluate(_HTML, _PAGE_CHARS, timeout=running.seconds * 1000)
        return running.page.url, response.status if response else 200, str(html)[:_PAGE_CHARS]


async def _gone_to(running: Running, url: str) -> Response | None:
    """A page that does not come in time is left, so that it is not in the way of the next."""
    errors = importlib.import_module("playwright.async_api")
    page, most = running.page, running.seconds * 1000
    try:
        return await page.goto(url, wait_until="domcontentloaded", timeout=most)
    except errors.TimeoutError:
        with suppress(errors.Error):
            await page.goto(_BLANK, timeout=2000)
        raise


@asynccontextmanager
async def looking(browsers: Browsers, session: str) -> AsyncGenerator[Running]:
    """As ``acting``, with a page that was opened before."""
    if browsers.open(session) is None:
        raise ToolFailed("No page is open", hint="navigate to one first")
    async with acting(browsers, session) as running:
        if running.page.url == _BLANK:
            raise ToolFailed("No page is open", hint="navigate to one first")
        yield running


@asynccontextmanager
async def acting(browsers: Browsers, session: str) -> AsyncGenerator[Running]:
    """One action at a time. What is cancelled or hangs ends the browser; raises ToolFailed."""
    owned = await browsers.get(session)
    errors = importlib.import_module("playwright.async_api")
    async with owned.turn:
        running = _open(owned)
        await _leave_what_is_no_web(running)
        try:
            yield running
            await _leave_what_is_no_web(running)
        except anyio.get_cancelled_exc_class():
            owned.scope.cancel()
            raise
        except (errors.TimeoutError, TimeoutError):
            await _hang_ends(owned, running)
            raise ToolFailed(
                f"The browser was not done within {running.seconds:g} s",
                hint="the page may be slow, or nothing fits the selector",
            ) from None
        except errors.Error as exc:
            raise ToolFailed(f"The browser said: {_said(exc)}") from exc


def _open(owned: Owned) -> Running:
    if owned.running is None:
        raise ToolFailed("The browser was closed meanwhile", hint="navigate again")
    return owned.running


async def _hang_ends(owned: Owned, running: Running) -> None:
    """A page whose scripts never let go cannot be worked with: the browser ends."""
    with anyio.move_on_after(2.0) as scope:
        await running.page.evaluate("1")
    if scope.cancelled_caught:
        owned.scope.cancel()


async def _leave_what_is_no_web(running: Running) -> None:
    page = running.page
    if page.url == _BLANK or page.url.partition(":")[0] in ("http", "https"):
        return
    if page.url.startswith("chrome-error:"):
        return
    scheme = page.url.partition(":")[0][:20]
    await page.goto(_BLANK, timeout=running.seconds * 1000)
    raise ToolDenied(f"{scheme}: pages may not be looked at", hint="only http and https may")


def _one(running: Running, selector: str) -> Locator:
    return running.page.locator(selector).first


async def _read(running: Running, selector: str, script: str, most: int) -> str:
    page: Page = running.page
    wanted = page.locator(selector or "body").first
    text, length = await wanted.evaluate(script, most, timeout=running.seconds * 1000)
    return _cut(text, length, most)


async def _settled(running: Running) -> None:
    """A click may lead to another page."""
    await running.page.wait_for_timeout(100)
    await running.page.wait_for_load_state("domcontentloaded", timeout=running.seconds * 1000)


async def _head(running: Running) -> str:
    title = " ".join((await running.page.title()).split())[:300]
    url = running.page.url[:2000]
    return f"Title: {title}\nURL: {url}\n" if title else f"URL: {url}\n"


def _cut(text: Any, length: Any, most: int) -> str:
    """What a page gave, which may lie about it."""
    kept = clean(str(text)[:most])
    whole = length if isinstance(length, int) else len(kept)
    return kept + _CUT.format(kept=len(kept), all=whole) if whole > len(kept) else kept


def _notes(running: Running) -> str:
    return "".join(f"\n[{note}]" for note in running.taken_notes())


def _said(exc: Exception) -> str:
    line = (str(exc).strip().splitlines() or [type(exc).__name__])[0]
    return json.dumps(line[:300], ensure_ascii=False).strip('"')
