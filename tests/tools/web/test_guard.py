"""No tool that fetches reaches this machine, by whatever way: each is found in the registry and
called as an agent calls it, with a server beside it that must never be asked.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio.to_thread
import pytest

from octo_lab.bus.stage import stage
from octo_lab.core.messages import ToolCall
from octo_lab.core.registry import Registry
from octo_lab.security.net.allowed import read_allowed
from octo_lab.security.net.client import GuardedClient
from octo_lab.security.net.dial import Dialer
from octo_lab.security.net.guard import Guard, Resolver
from octo_lab.testing.http_server import Asked, HttpServer, Reply, json_reply
from octo_lab.testing.providers import ScriptedApprover
from octo_lab.testing.resolvers import FlippingResolver, ScriptedResolver
from octo_lab.testing.wild_server import Visit, wild_server
from octo_lab.tools.browser.browsers import Browsers
from octo_lab.tools.browser.found import Found, find_browser
from octo_lab.tools.call import CallBounds, Outcome, run_call
from octo_lab.tools.powers import Powers
from octo_lab.tools.registry import builtin_tools
from octo_lab.tools.tool import Tool, ToolContext
from tests.security.net.spellings import HOSTILE, NAMES
from tests.tools.web.conftest import NoPrograms

pytestmark = pytest.mark.anyio

CLIENTS = ("web_fetch", "http_request", "site_crawl", "web_search", "deep_search")
BROWSER = pytest.param("browser", marks=pytest.mark.browser)
REDIRECTS = (301, 302, 303, 307, 308)
PLACES = (
    "http://127.0.0.1:{port}/x",
    "http://2130706433:{port}/x",
    "http://[::ffff:127.0.0.1]:{port}/x",
    "http://localtest.example:{port}/x",
    "//127.0.0.1:{port}/x",
    "http://169.254.169.254/latest/meta-data/",
    "http://user@127.0.0.1:{port}/x",
    "file:///etc/passwd",
    "gopher://127.0.0.1:{port}/x",
    "ftp://127.0.0.1:{port}/x",
    "data:text/html,root:",
    "javascript:1",
)


class Site(HttpServer):
    """A server that may be reached: a search engine that finds ``aim``, and redirects.

    ``/go/302/2/0`` leads by two more redirects to the first of ``places``; ``/loop`` and ``/on/1``
    lead on without end.
    """

    aim = ""
    places: tuple[str, ...] = ()

    def answer(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        parts = asked.path.partition("?")[0].split("/")[1:]
        match parts:
            case ["engine", "search"]:
                return json_reply({"results": [{"title": "Ducks", "url": self.aim}]})
            case ["go", status, "0", place, *_]:
                return _to(self.places[int(place)], int(status))
            case ["go", status, hops, place, *_]:
                return _to(f"/go/{status}/{int(hops) - 1}/{place}", int(status))
            case ["loop", *_]:
                return _to("/loop")
            case ["on", number, *_]:
                return _to(f"/on/{int(number) + 1}")
        return Reply(status=404)


def _to(location: str, status: int = 302) -> Reply:
    return Reply(status=status, headers={"location": location})


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetchers:
    """The tools of a registry, and how each is led to an address."""

    tools: Registry[Tool]
    ctx: ToolContext
    site: Site
    engines: dict[str, str]

    async def lead(self, name: str, url: str) -> Outcome:
        """Call a tool so that it wants this address; a person says yes to all that is asked."""
        self.engines["searxng"] = url if name == "web_search" else f"{self.site.root}/engine"
        self.site.aim = url
        call = ToolCall(id="1", name=name, arguments=json.dumps(_arguments(name, url)))
        return await run_call(
            self.tools[name],
            call,
            self.ctx,
            approver=ScriptedApprover("once"),
            bounds=CallBounds(),
            started=lambda: None,
        )


def _arguments(name: str, url: str) -> dict[str, Any]:
    match name:
        case "web_search":
            return {"query": "ducks"}
        case "deep_search":
            return {"query": f"ducks {url}"[:300].strip(), "depth": 1}
        case "browser":
            return {"action": "navigate", "url": url}
    return {"url": url}


@asynccontextmanager
async def fetchers(
    ctx: ToolContext, site: Site, *allow: str, resolve: Resolver | None = None, browser: bool
) -> AsyncIterator[Fetchers]:
    """Behind a guard that lets in the site and what is named by ``allow``."""
    allowed = read_allowed((f"127.0.0.1:{site.port}", *allow))
    guard = Guard(allowed=allowed, resolve=resolve or ScriptedResolver(names=NAMES))
    dialer = Dialer(guard=guard, patience=5.0)
    found = await anyio.to_thread.run_sync(find_browser) if browser else Found(missing="not used")
    engines: dict[str, str] = {}
    async with stage() as tasks:
        powers = Powers(
            exec=NoPrograms(),
            web=GuardedClient(dialer),
            browsers=Browsers(found, dialer, tasks, environ={}, seconds=10.0),
            options={"web_search": {"engines": ("searxng",), "urls": engines}},
        )
        tools = Registry("tool", builtin_tools(powers))
        yield Fetchers(tools=tools, ctx=ctx, site=site, engines=engines)


def kept_out(name: str, outcome: Outcome) -> None:
    """Nothing of the canary or of a file came back, and, but for the pages that a browser makes
    up of a failure, the tool says that it failed.
    """
    assert "secret" not in outcome.text
    assert "root:" not in outcome.text
    if name == "deep_search":
        assert (outcome.state, "0 pages on " in outcome.text) == ("ok", True), outcome
    elif name != "browser":
        assert outcome.state in ("denied", "error"), outcome


@pytest.mark.parametrize("name", CLIENTS)
async def test_no_spelling_of_this_machine_is_reached(
    ctx: ToolContext, canary: HttpServer, name: str
) -> None:
    site = Site({})
    async with site, fetchers(ctx, site, browser=False) as these:
        for spelling in filter(None, HOSTILE):
            url = spelling.replace("{port}", str(canary.port))
            kept_out(name, await these.lead(name, url))


@pytest.mark.parametrize("name", [*CLIENTS, BROWSER])
async def test_no_chain_of_redirects_reaches_this_machine_or_another_scheme(
    ctx: ToolContext, canary: HttpServer, name: str
) -> None:
    site = Site({})
    site.places = tuple(place.replace("{port}", str(canary.port)) for place in PLACES)
    async with site, fetchers(ctx, site, browser=name == "browser") as these:
        for status in REDIRECTS:
            for place, _ in enumerate(site.places):
                for hops in (2,) if name == "browser" else (0, 2):
                    way = f"/go/{status}/{hops}/{place}"
                    kept_out(name, await these.lead(name, f"{site.root}{way}"))
                    assert [one for one in site.asked if one.path.startswith(way)]


@pytest.mark.parametrize("name", [*CLIENTS, BROWSER])
@pytest.mark.parametrize("start", ["/loop", "/on/1"])
async def test_redirects_without_end_are_left(ctx: ToolContext, name: str, start: str) -> None:
    site = Site({})
    async with site, fetchers(ctx, site, browser=name == "browser") as these:
        kept_out(name, await these.lead(name, f"{site.root}{start}"))
    assert 1 <= len(site.asked) <= 30


@pytest.mark.parametrize("name", [*CLIENTS, BROWSER])
async def test_a_name_that_turns_to_this_machine_is_not_followed_there(
    ctx: ToolContext, canary: HttpServer, name: str
) -> None:
    """127.0.0.2 stands for a public address: it is allowed, and the canary has the same port."""
    names = FlippingResolver(["127.0.0.2"], ["127.0.0.1"])
    url = f"http://rebind.example:{canary.port}/again"
    site = Site({})

    async def again(visit: Visit) -> None:
        await visit.say(f"HTTP/1.1 302 Found\r\nLocation: {url}\r\n\r\n".encode())

    async with (
        site,
        wild_server(again, host="127.0.0.2", port=canary.port),
        fetchers(ctx, site, "127.0.0.2", resolve=names, browser=name == "browser") as these,
    ):
        for _ in range(2):
            kept_out(name, await these.lead(name, url))
    assert names.asked.count("rebind.example") >= 2


async def test_a_site_whose_rules_lead_to_this_machine_is_not_followed_there(
    ctx: ToolContext, canary: HttpServer
) -> None:
    class Trap(Site):
        def answer(self, asked: Asked) -> Reply:
            if asked.path == "/robots.txt":
                return _to(f"{canary.root}/robots.txt")
            return Reply(body=b"<p>ducks", headers={"content-type": "text/html"})

    site = Trap({})
    async with site, fetchers(ctx, site, browser=False) as these:
        outcome = await these.lead("site_crawl", f"{site.root}/")
    assert "secret" not in outcome.text


async def test_the_same_ways_lead_to_a_place_that_is_allowed(ctx: ToolContext) -> None:
    """Else the tests above would prove nothing."""
    page = b"<title>Ducks</title><p>" + b"The ducks live on the lake. " * 20
    answer = Reply(body=page, headers={"content-type": "text/html"})
    async with HttpServer({}, other=answer) as other:
        site = Site({})
        site.places = (f"{other.root}/x",)
        async with (
            site,
            fetchers(ctx, site, f"127.0.0.1:{other.port}", browser=False) as these,
        ):
            for name in ("web_fetch", "http_request", "deep_search"):
                for status in REDIRECTS:
                    outcome = await these.lead(name, f"{site.root}/go/{status}/2/0")
                    assert (outcome.state, "The ducks live" in outcome.text) == ("ok", True)
