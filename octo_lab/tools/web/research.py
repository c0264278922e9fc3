"""Searches in rounds and reads what was found, until there are enough pages or no more."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import anyio

from octo_lab.core.errors import ToolFailed
from octo_lab.security.net.ports import Fetcher
from octo_lab.tools.web.engine import Hit
from octo_lab.tools.web.followups import cited, followups
from octo_lab.tools.web.reading import Reading, read_url
from octo_lab.tools.web.search import Ready, search

AT_ONCE = 8
ROUNDS: Mapping[int, tuple[int, int]] = {1: (1, 10), 2: (3, 30), 3: (5, 50)}
"""Rounds of searching, and most pages, by depth."""
_QUERIES = 2
_SHORTEST = 200

Keep = Callable[[Reading], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchPlan:
    """``results`` are those of each search, ``seconds`` for the whole."""

    query: str
    depth: int = 2
    results: int = 8
    seconds: float = 240.0


@dataclass(slots=True, kw_only=True)
class Research:
    """``searches`` are queries with what they found, ``notes`` say what went wrong."""

    searches: list[tuple[str, str, Sequence[Hit]]] = field(default_factory=list)
    pages: list[Reading] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    late: bool = False


@dataclass(slots=True, kw_only=True)
class Researcher:
    """``keep`` is awaited with each new page, one at a time; ``done`` begins with known ones."""

    web: Fetcher
    engines: Sequence[Ready]
    plan: ResearchPlan
    keep: Keep
    report: Callable[[str], None]
    done: Research = field(default_factory=Research)
    _seen: set[str] = field(default_factory=set)
    _keeping: anyio.Lock = field(default_factory=anyio.Lock)

    async def run(self) -> Research:
        """Raises ToolFailed when no engine could be asked and nothing is known."""
        self._seen.update(url for page in self.done.pages for url in (page.asked, page.url))
        with anyio.move_on_after(self.plan.seconds) as scope:
            await self._rounds()
        self.done.late = scope.cancelled_caught
        return self.done

    async def _rounds(self) -> None:
        rounds, most = ROUNDS[self.plan.depth]
        queries = [self.plan.query]
        asked: set[str] = set()
        for number in range(1, rounds + 1):
            self.report(f"Round {number} of {rounds}: {'; '.join(queries)}"[:200])
            found = await self._found(queries)
            asked.update(queries)
            await self._read_all(found, most)
            if len(self.done.pages) >= most or number == rounds:
                return
            await self._read_all(cited(self.plan.query, self.done.pages)[: self.plan.results], most)
            more = followups(self.plan.query, self.done.pages, _QUERIES + len(asked))
            queries = [query for query in more if query not in asked][:_QUERIES]
            if not queries or len(self.done.pages) >= most:
                return

    async def _found(self, queries: Iterable[str]) -> list[str]:
        urls: list[str] = []
        for query in queries:
            try:
                found = await search(self.web, self.engines, query, self.plan.results)
            except ToolFailed as exc:
                if not self.done.searches and not self.done.pages:
                    raise
                self.done.notes.append(str(exc)[:500])
                continue
            self.done.searches.append((query, found.engine, found.hits))
            urls += [hit.url for hit in found.hits]
        return urls

    async def _read_all(self, urls: Iterable[str], most: int) -> None:
        new = [url for url in dict.fromkeys(urls) if url not in self._seen]
        new = new[: max(0, most - len(self.done.pages))]
        self._seen.update(new)
        room = anyio.CapacityLimiter(AT_ONCE)
        async with anyio.create_task_group() as tasks:
            for url in new:
                tasks.start_soon(self._read, url, room, most)

    async def _read(self, url: str, room: anyio.CapacityLimiter, most: int) -> None:
        async with room:
            try:
                reading = await read_url(self.web, url)
            except ToolFailed as exc:
                self.done.notes.append(f"{url[:300]}: {exc.message[:200]}")
                return
        if len(reading.text) < _SHORTEST or (reading.url != url and reading.url in self._seen):
            return
        self._seen.add(reading.url)
        async with self._keeping:
            await self.keep(reading)
            self.done.pages.append(reading)
        self.report(f"{len(self.done.pages)} of at most {most} pages: {reading.url}"[:200])
