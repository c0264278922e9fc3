"""Reads the pages of one site, level by level, as far as its robots.txt lets us."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import anyio

from octo_lab.core.errors import ToolFailed
from octo_lab.security.net.ports import Fetcher, WebRequest
from octo_lab.security.net.urls import Target, parse_url
from octo_lab.tools.web.decode import decode
from octo_lab.tools.web.reading import Reading, read_url
from octo_lab.tools.web.robots import MAX_BYTES, NOTHING, Robots, parse_robots

AT_ONCE = 4
_BARE = 80  # characters of text
_NO_PAGES = (
    *(".7z", ".avi", ".bin", ".bmp", ".bz2", ".css", ".dmg", ".doc", ".docx", ".exe", ".gif"),
    *(".gz", ".ico", ".iso", ".jar", ".jpeg", ".jpg", ".js", ".mov", ".mp3", ".mp4", ".pdf"),
    *(".png", ".ppt", ".pptx", ".rar", ".rpm", ".svg", ".tar", ".tgz", ".webm", ".webp", ".whl"),
    *(".woff", ".woff2", ".xls", ".xlsx", ".xz", ".zip"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlPlan:
    """``prefix`` is what paths must begin with; ``seconds`` are for the whole. ``render`` reads a
    page that shows nothing without its scripts, None: no such can be read.
    """

    start: Target
    depth: int = 3
    pages: int = 50
    prefix: str = ""
    seconds: float = 240.0
    render: Callable[[str], Awaitable[Reading]] | None = None


@dataclass(slots=True, kw_only=True)
class Crawled:
    """What was read, with its depth, in the order of the site; why other pages were not."""

    pages: list[tuple[int, Reading]] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)
    refused: int = 0
    left: int = 0
    late: bool = False


async def crawl(web: Fetcher, plan: CrawlPlan, report: Callable[[str], None]) -> Crawled:
    """Breadth first, on the origin that the first page has. Raises ToolFailed when it cannot be
    read.
    """
    run = _Run(web=web, plan=plan, report=report)
    with anyio.move_on_after(plan.seconds) as scope:
        await run.all()
    run.done.late = scope.cancelled_caught
    if not run.done.pages:
        why = run.done.failed[0][1] if run.done.failed else "it took too long"
        why = "its robots.txt forbids it" if run.done.refused else why
        raise ToolFailed(f"{plan.start.url!r} could not be read: {why}")
    return run.done


@dataclass(slots=True, kw_only=True)
class _Run:
    web: Fetcher
    plan: CrawlPlan
    report: Callable[[str], None]
    done: Crawled = field(default_factory=Crawled)
    robots: Robots = field(default_factory=Robots)
    origin: str = ""
    seen: set[str] = field(default_factory=set)

    async def all(self) -> None:
        self.origin = self.plan.start.origin
        self.robots = await robots_of(self.web, self.origin)
        level = [self.plan.start.url]
        self.seen.update(level)
        for depth in range(self.plan.depth + 1):
            room = self.plan.pages - len(self.done.pages)
            wanted = [url for url in level if self._allowed(url)]
            self.done.left += max(0, len(wanted) - room)
            if not wanted or room <= 0:
                return
            level = await self._level(depth, wanted[:room])

    async def _level(self, depth: int, urls: Sequence[str]) -> list[str]:
        """Read these pages, a few at once; gives the addresses that they name first."""
        read: dict[int, Reading] = {}
        room = anyio.CapacityLimiter(AT_ONCE)
        try:
            async with anyio.create_task_group() as tasks:
                for place, url in enumerate(urls):
                    tasks.start_soon(self._read, place, url, room, read)
        finally:
            self.done.pages += [(depth, read[place]) for place in sorted(read)]
        links = [link.url for place in sorted(read) for link in read[place].links]
        new = [url for url in dict.fromkeys(links) if url not in self.seen and self._here(url)]
        self.seen.update(new)
        return new

    async def _read(
        self, place: int, url: str, room: anyio.CapacityLimiter, read: dict[int, Reading]
    ) -> None:
        async with room:
            try:
                reading = await self._reading(url)
            except ToolFailed as exc:
                self.done.failed.append((url, exc.message))
                return
        if not self.done.pages and not read and url == self.plan.start.url:
            await self._move(reading.url)
        if not self._same(reading.url):
            self.done.failed.append((url, "it leads to another site"))
            return
        self.seen.add(reading.url)
        read[place] = reading
        self.report(f"{len(self.done.pages) + len(read)} pages: {reading.url}"[:200])

    async def _reading(self, url: str) -> Reading:
        reading = await read_url(self.web, url)
        bare = len(reading.text) < _BARE and reading.html
        if not bare or self.plan.render is None or not self._same(reading.url):
            return reading
        try:
            return await self.plan.render(reading.url)
        except ToolFailed:
            return reading

    async def _move(self, url: str) -> None:
        """The first page may lead to the origin where the site really is."""
        moved = parse_url(url)
        if moved.origin != self.origin:
            self.origin = moved.origin
            self.robots = await robots_of(self.web, self.origin)

    def _allowed(self, url: str) -> bool:
        target = parse_url(url)
        allowed = target.origin != self.origin or self.robots.allows(target.path)
        self.done.refused += not allowed
        return allowed

    def _same(self, url: str) -> bool:
        target = parse_url(url)
        return target.origin == self.origin and self.robots.allows(target.path)

    def _here(self, url: str) -> bool:
        target = parse_url(url)
        path = urlsplit(target.path).path
        return (
            target.origin == self.origin
            and path.startswith(self.plan.prefix)
            and not path.lower().endswith(_NO_PAGES)
        )


async def robots_of(web: Fetcher, origin: str) -> Robots:
    """A site that has none forbids nothing; one that cannot tell is left alone."""
    request = WebRequest(url=f"{origin}/robots.txt", timeout=10.0, limit=MAX_BYTES)
    try:
        response = await web.fetch(request)
    except ToolFailed:
        return Robots()  # then its pages cannot be fetched either
    if response.status >= 500:
        return NOTHING
    return parse_robots(decode(response)) if response.status < 300 else Robots()
