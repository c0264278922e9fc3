"""One running browser with one page: opened, bounded in time and size, and ended, by its owner."""

from __future__ import annotations

import importlib
import shutil
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from octo_lab.core.errors import ToolFailed
from octo_lab.security.env import clean_environ
from octo_lab.security.net.proxy import ForwardProxy
from octo_lab.tools.browser.found import Found
from octo_lab.tools.browser.switches import SWITCHES
from octo_lab.tools.browser.walls import starter

if TYPE_CHECKING:
    from playwright.async_api import Dialog, Page, Playwright

VIEW = {"width": 1280, "height": 800}
START_SECONDS = 45.0
END_SECONDS = 5.0
_PASSED = ("PATH", "LANG", "LC_ALL", "TZ", "FONTCONFIG_PATH", "FONTCONFIG_FILE")
_NOTES = 20


@dataclass(slots=True, kw_only=True)
class Running:
    """A browser that is open. ``notes`` are what pages wanted and did not get, since last asked."""

    page: Page
    seconds: float
    notes: list[str] = field(default_factory=list)

    def note(self, line: str) -> None:
        if len(self.notes) < _NOTES:
            self.notes.append(line[:300])

    def taken_notes(self) -> list[str]:
        taken, self.notes = self.notes, []
        return taken


@asynccontextmanager
async def open_browser(
    found: Found, proxy: ForwardProxy, environ: Mapping[str, str], seconds: float
) -> AsyncGenerator[Running]:
    """A fresh profile, gone afterwards, and one blank page; ``seconds`` bound each action.

    To be entered and left by one task. Raises ToolFailed when it does not start.
    """
    async with AsyncExitStack() as stack:
        folder = Path(await anyio.to_thread.run_sync(tempfile.mkdtemp, "", "octo-browser-"))
        stack.push_async_callback(_shielded, partial(_remove, folder))
        playwright = await _started(stack)
        try:
            with anyio.fail_after(START_SECONDS):
                page = await _launched(stack, playwright, found, proxy, environ, folder)
        except TimeoutError:
            raise ToolFailed(f"The browser did not start within {START_SECONDS:g} s") from None
        except _errors() as exc:
            raise ToolFailed(f"The browser could not be started: {_first(exc)}") from exc
        running = Running(page=page, seconds=seconds)
        _listen(running)
        yield running


async def _started(stack: AsyncExitStack) -> Playwright:
    library = await anyio.to_thread.run_sync(importlib.import_module, "playwright.async_api")
    manager = library.async_playwright()
    # Also where it is cancelled half-way, its driver ends.
    stack.push_async_callback(_shielded, manager.__aexit__)
    playwright: Playwright = await manager.start()
    return playwright


async def _launched(
    stack: AsyncExitStack,
    playwright: Playwright,
    found: Found,
    proxy: ForwardProxy,
    environ: Mapping[str, str],
    folder: Path,
) -> Page:
    profile = folder / "profile"
    await anyio.to_thread.run_sync(profile.mkdir)
    make = partial(starter, folder, found.program, walls=found.walls, profile=profile)
    program = await anyio.to_thread.run_sync(make)
    context = await playwright.chromium.launch_persistent_context(
        profile,
        executable_path=program,
        headless=True,
        args=list(SWITCHES),
        chromium_sandbox=bool(found.walls) or not found.root,
        env=browser_environ(environ, profile),
        proxy={
            "server": proxy.server,
            "username": proxy.user,
            "password": proxy.password,
            "bypass": "<-loopback>",
        },
        accept_downloads=False,
        service_workers="block",
        viewport=VIEW,  # type: ignore[arg-type]
        handle_sigint=False,
        handle_sigterm=False,
        handle_sighup=False,
        timeout=START_SECONDS * 1000,
    )
    stack.push_async_callback(_shielded, context.close)
    return context.pages[0] if context.pages else await context.new_page()


def browser_environ(environ: Mapping[str, str], home: Path) -> dict[str, Any]:
    """The few variables it needs; nothing of the owner's, and a home that is its own."""
    kept = clean_environ({name: environ[name] for name in _PASSED if name in environ})
    kept.setdefault("PATH", "/usr/local/bin:/usr/bin:/bin")
    return {**kept, "HOME": str(home), "TMPDIR": "/tmp", "DBUS_SESSION_BUS_ADDRESS": "disabled:"}


def _listen(running: Running) -> None:
    """What a page may not do is undone at once, and noted."""
    page, context = running.page, running.page.context

    async def dialog(one: Dialog) -> None:
        running.note(f"a dialog was dismissed: {one.message}")
        with suppress(_errors()):
            await one.dismiss()

    async def opened(one: Page) -> None:
        if one is not page:
            running.note(f"a new window was closed: {one.url}")
            with suppress(_errors()):
                await one.close()

    page.on("dialog", dialog)
    page.on("download", lambda one: running.note(f"a download was refused: {one.url}"))
    context.on("page", opened)


def _errors() -> type[Exception]:
    kind: type[Exception] = importlib.import_module("playwright.async_api").Error
    return kind


def _first(exc: Exception) -> str:
    return (str(exc).strip().splitlines() or [type(exc).__name__])[0][:200]


def _remove(folder: Path) -> Any:
    return anyio.to_thread.run_sync(partial(shutil.rmtree, folder, ignore_errors=True))


async def _shielded(close: Any) -> None:
    """Close even while being cancelled, for a few seconds."""
    with anyio.move_on_after(END_SECONDS, shield=True), suppress(Exception):
        await close()
