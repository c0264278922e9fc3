from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_lab.testing.http_server import HttpServer, Reply, Route, always
from octo_lab.tools.builtin.site_crawl import tool
from octo_lab.tools.web.links import links_of
from octo_lab.tools.web.robots import parse_robots
from tests.tools.conftest import Use
from tests.tools.web.conftest import MakePowers

pytestmark = pytest.mark.anyio


def html(body: str, status: int = 200) -> Route:
    return always(Reply(status=status, body=body.encode(), headers={"content-type": "text/html"}))


def page(title: str, *links: str) -> Route:
    anchors = "".join(f"<a href='{link}'>to {link}</a>" for link in links)
    return html(f"<title>{title}</title><p>Text of {title}. {anchors}")


SITE = {
    "/": page("Home", "/docs/a", "/docs/b", "http://other.example/", "/picture.png", "#top"),
    "/docs/a": page("A", "/docs/c", "/", "/docs/a#part"),
    "/docs/b": page("B", "/docs/c", "/secret/plan", "/gone"),
    "/docs/c": page("C", "/docs/d"),
    "/docs/d": page("D"),
    "/robots.txt": always(Reply(body=b"User-agent: *\nDisallow: /secret/")),
}


async def crawled(powers: MakePowers, use: Use, routes: dict[str, Route], **args: object) -> str:
    async with HttpServer(routes) as server:
        said = await use(tool(powers("127.0.0.1")), **{"url": f"{server.root}/", **args})
        asked = [one.path for one in server.asked]
        assert len(asked) == len(set(asked)), "a page was read twice"
        return said.replace(server.root, "ROOT")


async def test_a_site_is_read_level_by_level(powers: MakePowers, use: Use) -> None:
    said = await crawled(powers, use, SITE)
    assert said.startswith(
        "5 pages read.\n1 are left out: robots.txt forbids them.\n"
        "[not read: ROOT/gone: 127.0.0.1 answered 404]\n\n1. Home\n2. A\n3. B\n4. C\n5. D\n\n"
        "## 1. Home\nROOT/ (depth 0)\n\nText of Home."
    )
    assert "## 5. D\nROOT/docs/d (depth 3)\n\nText of D." in said


async def test_depth_pages_and_prefix_bound_it(powers: MakePowers, use: Use) -> None:
    assert "\n\n1. Home\n2. A\n3. B\n\n" in await crawled(powers, use, SITE, max_depth=1)
    few = await crawled(powers, use, SITE, max_pages=2)
    assert few.startswith("2 pages read.\n2 more were found and not read: see max_pages.")
    assert "\n\n1. Home\n2. A\n\n" in await crawled(powers, use, SITE, path_prefix="/docs/a")


async def test_a_forbidden_or_missing_start_is_a_failure(powers: MakePowers, use: Use) -> None:
    closed = {**SITE, "/robots.txt": always(Reply(body=b"User-agent: octo_lab\nDisallow: /"))}
    assert "its robots.txt forbids it" in await crawled(powers, use, closed)
    troubled = {**SITE, "/robots.txt": always(Reply(status=503))}
    assert "its robots.txt forbids it" in await crawled(powers, use, troubled)
    assert await crawled(powers, use, {}) == (
        "failed: 'ROOT/' could not be read: 127.0.0.1 answered 404"
    )


async def test_the_output_is_bounded(powers: MakePowers, use: Use) -> None:
    names = [f"/p{number}" for number in range(40)]
    routes = {"/": page("Home", *names)}
    routes |= {name: html(f"<title>{name}</title>{'word ' * 2000}") for name in names}
    async with HttpServer(routes) as server:
        made = tool(powers("127.0.0.1", deep_crawl={"max_output_chars": 10_000}))
        said = await use(made, url=f"{server.root}/")
    assert len(said) < 10_200
    assert said.startswith("41 pages read.")
    assert said.endswith("pages are only listed: see max_output_chars]")


async def test_no_link_and_no_redirect_leads_to_another_place(
    powers: MakePowers, use: Use, canary: HttpServer
) -> None:
    there = always(Reply(status=302, headers={"location": f"{canary.root}/x"}))
    routes = {"/": page("Home", f"{canary.root}/y", "/there"), "/there": there}
    async with HttpServer(routes) as server:
        said = await use(tool(powers(f"127.0.0.1:{server.port}")), url=f"{server.root}/")
    assert said.startswith("1 pages read.\n[not read: ")
    assert "may not be reached" in said


@pytest.mark.parametrize(
    ("rules", "path", "allowed"),
    [
        ("", "/", True),
        ("User-agent: *\nDisallow:", "/a", True),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/c", False),
        ("User-agent: *\nDisallow: /*.gif$", "/x/y.gif", False),
        ("User-agent: *\nDisallow: /*.gif$", "/x/y.gif?z", True),
        ("User-agent: *\nDisallow: /a*b*c", "/a1b2c3", False),
        ("User-agent: *\nDisallow: /a$", "/ab", True),
        ("User-agent: *\nAllow: /a\nDisallow: /a", "/a", True),
        ("User-agent: *\nDisallow: /\n\nUser-agent: Octo_Lab/1.0\nDisallow: /x", "/a", True),
        ("User-agent: other\nUser-agent: octo_lab # us\nDisallow: /x", "/x", False),
        ("User-agent: other\nDisallow: /", "/x", True),
        ("User-agent: *\nDisallow: /%7Ejoe", "/~joe/", False),
        ("\ufeffuser-agent:*\r\ndisallow:/a\r\n", "/a", False),
    ],
)
def test_the_wishes_of_a_site_are_understood(rules: str, path: str, allowed: bool) -> None:
    assert parse_robots(rules).allows(path) is allowed


@given(st.text(), st.text())
def test_odd_rules_break_nothing(rules: str, path: str) -> None:
    assert parse_robots(f"User-agent: *\nDisallow: {rules}").allows(f"/{path}") in (True, False)


def test_links_are_absolute_and_named_once() -> None:
    page = (
        "<base href='/deep/'><a href='x?a=1&amp;b=2#f'>The <b>one</b></a><a href='x?a=1&b=2'>again"
        "<a href=javascript:1>no<a href=mailto:a@b.c>no</a><area href=//HOST.example:80/y>"
        "<script><a href=/hidden></script>"
    )
    found = [(link.url, link.words) for link in links_of(page, "http://a.example/p")]
    assert found == [
        ("http://a.example/deep/x?a=1&b=2", "The one"),
        ("http://host.example/y", ""),
    ]


@given(st.text(alphabet="<>ahref='\"/ .:#?b"))
def test_odd_pages_break_nothing(page: str) -> None:
    assert all(link.url.startswith("http") for link in links_of(page, "http://a.example/"))
