from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_lab.testing.http_server import Asked, HttpServer, Reply, Route, always, json_reply
from octo_lab.tools.builtin.deep_search import DeepSearchArgs, hosts, tool
from octo_lab.tools.policy import ChannelTools, why_not
from octo_lab.tools.tool import Tool, ToolContext
from octo_lab.tools.web.followups import followups
from octo_lab.tools.web.reading import Reading
from octo_lab.tools.web.saved import Saved, slug, written
from tests.tools.web.conftest import MakePowers

pytestmark = pytest.mark.anyio

LONG = "Ducks live on lakes and rivers. " * 20


def article(title: str, more: str = "") -> Route:
    body = f"<title>{title}</title><h1>{title}</h1><p>{LONG}</p>{more}"
    return always(Reply(body=body.encode(), headers={"content-type": "text/html"}))


class Web(HttpServer):
    """A search engine and the pages it finds; ``results`` are by words of a query."""

    def __init__(self, pages: dict[str, Route], results: dict[str, list[str]]) -> None:
        super().__init__(pages)
        self.pages = pages
        self.results = results
        self.queries: list[str] = []

    async def __aenter__(self) -> Web:
        await super().__aenter__()
        return self

    def answer(self, asked: Asked) -> Reply:
        if not asked.path.startswith("/search?"):
            return super().answer(asked)
        query = asked.path.removeprefix("/search?q=").partition("&")[0].replace("+", " ")
        self.queries.append(query)
        found = [
            path
            for words, paths in self.results.items()
            if words in query.lower()
            for path in paths
        ]
        rows = [{"title": f"About {path}", "url": f"{self.root}{path}"} for path in found]
        return json_reply({"results": rows})

    @property
    def read(self) -> list[str]:
        return sorted(asked.path for asked in self.asked)


Make = Callable[[Web], Tool]


@pytest.fixture
def made(powers: MakePowers) -> Make:
    def make(web: Web) -> Tool:
        options = {"engines": ["searxng"], "urls": {"searxng": web.root}}
        return tool(powers("127.0.0.1", web_search=options))

    return make


async def run(made: Tool, ctx: ToolContext, **args: object) -> str:
    return str(await made.run(ctx, made.parse(args)))


PAGES = {
    "/one": article("Ducks and mallards", "<h2>Mallards</h2><a href='/cited'>more ducks</a>"),
    "/two": article("Mallards at home", "<a href='/cited'>the ducks</a><a href='/other'>x</a>"),
    "/three": article("Mallards again"),
    "/cited": article("What everybody cites"),
    "/mallard": article("The mallard itself"),
}
RESULTS = {"ducks": ["/one", "/two", "/gone"], "mallards": ["/three", "/mallard"]}


async def test_rounds_search_further_and_every_page_is_saved(
    made: Make, ctx: ToolContext, tmp_path: Path
) -> None:
    async with Web(PAGES, RESULTS) as web:
        said = await run(made(web), ctx, query="ducks")
        said = said.replace(web.root, "ROOT")
    assert web.queries[:2] == ["ducks", "ducks mallards"]
    assert web.read == ["/cited", "/gone", "/mallard", "/one", "/three", "/two"]
    folder = tmp_path / "research" / slug("ducks")
    names = sorted(path.name for path in folder.iterdir())
    assert names == [*(f"0{n}_127.0.0.1.md" for n in range(1, 6)), "_search_results.md"]
    assert said.startswith(f"5 pages on 'ducks' in research/{slug('ducks')}/.\n\nSearches and")
    assert "ROOT/gone: 127.0.0.1 answered 404" in said
    first = (folder / "01_127.0.0.1.md").read_text()
    assert "Ducks live on lakes" in first
    assert "written by strangers" in first
    results = (folder / "_search_results.md").read_text()
    assert "## ducks mallards (searxng)" in results
    changed = {change.path for change in ctx.changes.files}
    assert changed == {f"research/{slug('ducks')}/{name}" for name in names}


async def test_depth_one_is_one_round(made: Make, ctx: ToolContext) -> None:
    async with Web(PAGES, RESULTS) as web:
        await run(made(web), ctx, query="ducks", depth=1)
    assert web.queries == ["ducks"]
    assert web.read == ["/gone", "/one", "/two"]


async def test_the_same_query_goes_on_with_what_is_saved(
    made: Make, ctx: ToolContext, tmp_path: Path
) -> None:
    async with Web(PAGES, RESULTS) as web:
        await run(made(web), ctx, query="ducks", depth=1)
        read = len(web.asked)
        said = await run(made(web), ctx, query="  Ducks ", depth=1)
        assert [asked.path for asked in web.asked[read:]] == ["/gone"]
    assert ", 2 of them from before." in said
    assert len(list((tmp_path / "research" / slug("ducks")).iterdir())) == 3


async def test_pages_are_bounded_by_the_depth(made: Make, ctx: ToolContext) -> None:
    many = {f"/p{number}": article(f"Page {number}") for number in range(30)}
    links = "".join(f"<a href='{path}'>ducks</a>" for path in many)
    pages = {"/all": article("All", links), **many}
    lines: list[str] = []
    heard = replace(ctx, report=lines.append)
    async with Web(pages, {"ducks": ["/all", *list(many)[:9]]}) as web:
        said = await run(made(web), heard, query="ducks", depth=1, max_results=10)
    assert said.startswith("10 pages on 'ducks'")
    assert lines[0] == "Round 1 of 1: ducks"
    assert "10 of at most 10 pages" in lines[-1]


async def test_what_was_saved_stays_when_the_call_is_cancelled(
    made: Make, ctx: ToolContext, tmp_path: Path
) -> None:
    slow = {"/one": PAGES["/one"], "/two": always(Reply(body=b"late", wait=20.0))}
    read = anyio.Event()
    heard = replace(ctx, report=lambda line: read.set() if line.startswith("1 of") else None)
    async with Web(slow, RESULTS) as web, anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: run(made(web), heard, query="ducks"))
        with anyio.fail_after(10):
            await read.wait()
        tasks.cancel_scope.cancel()
    saved = Saved(ctx=ctx, folder=f"research/{slug('ducks')}")
    loaded = await anyio.to_thread.run_sync(saved.load)
    assert [page.title for page in loaded] == ["Ducks and mallards"]


async def test_no_result_leads_to_another_place_than_the_web(
    made: Make, ctx: ToolContext, powers: MakePowers, canary: HttpServer
) -> None:
    async with Web({}, {}) as web:
        rows = {"results": [{"title": "x", "url": f"{canary.root}/x"}]}
        web.pages["/search"] = always(json_reply(rows))
        web.answer = lambda asked: json_reply(rows)  # type: ignore[method-assign]
        options = {"engines": ["searxng"], "urls": {"searxng": web.root}}
        limited = tool(powers(f"127.0.0.1:{web.port}", web_search=options))
        said = await run(limited, ctx, query="ducks", depth=1)
    assert said.startswith("0 pages on 'ducks'")
    assert "may not be reached" in said


def test_it_is_offered_only_where_the_owner_speaks(made: Make, powers: MakePowers) -> None:
    offered = tool(powers())
    here = ChannelTools(origin="known", allow=("*",))
    said = why_not(offered, channel="telegram", allow=("*",), deny=(), here=here)
    assert said == "it is never offered in 'telegram'"


def test_the_hosts_are_those_of_the_engines(powers: MakePowers) -> None:
    args = DeepSearchArgs(query="x", engine="wikipedia")
    assert hosts(powers(), args) == ("en.wikipedia.org",)
    assert hosts(powers(), DeepSearchArgs(query="x", engine="nonsense")) == ()


@given(st.text(min_size=1))
def test_every_query_has_a_folder_of_its_own(query: str) -> None:
    name = slug(query)
    assert name
    assert "/" not in name
    assert not name.startswith(".")
    assert slug(f"  {query} ") == name
    assert len(name.encode()) < 250


def test_a_saved_page_is_read_back_as_it_was() -> None:
    page = Reading(asked="http://a.example/x", url="http://a.example/y", title="T", text="a\n\nb")
    assert "URL: http://a.example/y\nAsked: http://a.example/x\n" in written(page)


def test_followups_are_words_that_several_headings_add() -> None:
    def page(title: str, text: str) -> Reading:
        return Reading(asked="a", url="b", title=title, text=text)

    pages = [page("Ducks and geese", "# Geese"), page("x", "## About the [geese](x) and swans")]
    assert followups("ducks", pages, 2) == ["ducks geese", "ducks swans"]
