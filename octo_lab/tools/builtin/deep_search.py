"""The tool ``deep_search``: searches in rounds, and saves what was found in the workspace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field

from octo_lab.core.errors import ToolFailed
from octo_lab.tools.builtin.web_search import engine_hosts, engines_of
from octo_lab.tools.model_tool import model_tool
from octo_lab.tools.policy import OWNED
from octo_lab.tools.powers import Powers
from octo_lab.tools.tool import Tool, ToolContext
from octo_lab.tools.web.reading import Reading
from octo_lab.tools.web.research import Research, Researcher, ResearchPlan
from octo_lab.tools.web.saved import Saved, slug

FOLDER = "research"
_SECONDS = 240.0
_OUTPUT = 40_000
_PREVIEW = 800
_NOTES = 8
_DESCRIPTION = (
    "Research a question on the web: several searches, the pages they find are read and saved as "
    "files below research/. Gives a digest; read_file shows a page as a whole. The same query "
    "again goes on with what is saved. The queries go to a search engine: nothing private belongs "
    "in them."
)


class DeepSearchArgs(BaseModel):
    model_config = ConfigDict(extra="forbid")

    query: str = Field(min_length=1, max_length=300, description="Key words.")
    depth: int = Field(
        default=2, ge=1, le=3, description="1: one round, 10 pages; 2: 3 and 30; 3: 5 and 50."
    )
    max_results: int = Field(default=8, ge=1, le=10, description="Results of each search.")
    engine: str = Field(default="", max_length=40, description="Ask only this search engine.")


async def deep_search(powers: Powers, ctx: ToolContext, args: DeepSearchArgs) -> str:
    query = " ".join(args.query.split())
    if not query:
        raise ToolFailed("The query is empty", hint="give some key words")
    engines = engines_of(powers, args.engine)
    saved = Saved(ctx=ctx, folder=f"{FOLDER}/{slug(query)}")
    known = await anyio.to_thread.run_sync(saved.load)
    if known:
        ctx.report(f"{len(known)} pages were saved before")

    async def keep(page: Reading) -> None:
        await anyio.to_thread.run_sync(saved.keep, page)

    plan = ResearchPlan(query=query, depth=args.depth, results=args.max_results, seconds=_SECONDS)
    work = Researcher(
        web=powers.web,
        engines=engines,
        plan=plan,
        keep=keep,
        report=ctx.report,
        done=Research(pages=list(known)),
    )
    done = await work.run()
    await anyio.to_thread.run_sync(saved.results, query, done.searches)
    return shown(query, done, saved, len(known))


def shown(query: str, done: Research, saved: Saved, known: int) -> str:
    """Each page with its file and the beginning of its text, as many as there is room for."""
    late = " Time ran out: the same query goes on from here." if done.late else ""
    before = f", {known} of them from before" if known else ""
    searched = "; ".join(f"{asked!r} ({len(hits)})" for asked, _, hits in done.searches)
    parts = [
        f"{len(done.pages)} pages on {query!r} in {saved.folder}/{before}.{late}",
        f"Searches and their results: {searched or 'none'}",
        *(f"[{note}]" for note in done.notes[:_NOTES]),
    ]
    if len(done.notes) > _NOTES:
        parts.append(f"[{len(done.notes) - _NOTES} more pages or searches failed]")
    left = _OUTPUT - sum(map(len, parts))
    for number, page in enumerate(done.pages):
        part = _part(page, saved)
        left -= len(part) + 2
        if left < 0:
            parts.append(f"[{len(done.pages) - number} more pages are in the folder]")
            break
        parts.append(part)
    return "\n\n".join(parts)


def _part(page: Reading, saved: Saved) -> str:
    text = " ".join(page.text[: 2 * _PREVIEW].split())[:_PREVIEW]
    name = saved.names.get(page.url, "")
    return f"## {page.title or page.url}\n{saved.folder}/{name}\n{page.url}\n{text}"


def hosts(powers: Powers, args: DeepSearchArgs) -> Sequence[str]:
    """Those of the engines; which pages will be read nobody knows before."""
    return engine_hosts(powers, args.engine)


def tool(powers: Powers) -> Tool:
    made = model_tool(
        partial(deep_search, powers),
        DeepSearchArgs,
        name="deep_search",
        group="web",
        source="outside",
        risk="network",
        # It writes files, which only the owner's own channels may do.
        channels=OWNED,
        detail=lambda args: args.query,
        hosts=partial(hosts, powers),
        timeout=_SECONDS + 30.0,
        output=_OUTPUT + 5_000,
    )
    return replace(made, description=_DESCRIPTION)
