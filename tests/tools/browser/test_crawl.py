from __future__ import annotations

import pytest

from octo_lab.security.net.client import GuardedClient
from octo_lab.testing.http_server import HttpServer, Reply, Route, always
from octo_lab.tools.browser.found import Found
from octo_lab.tools.builtin.site_crawl import tool
from octo_lab.tools.powers import Powers
from tests.tools.browser.canaries import Canary
from tests.tools.browser.conftest import Open
from tests.tools.conftest import Use
from tests.tools.web.conftest import NoPrograms

pytestmark = [pytest.mark.anyio, pytest.mark.browser]


def html(body: str) -> Route:
    return always(Reply(body=body.encode(), headers={"content-type": "text/html"}))


def site(canary: Canary) -> HttpServer:
    """Pages that say nothing and lead nowhere until their scripts have run."""
    home = f"""<title>Home</title><div id=app></div><script>
      fetch("http://127.0.0.1:{canary.port}/x").catch(() => 0);
      setTimeout(() => {{ document.getElementById("app").innerHTML =
        "<h1>Made by a script</h1><a href='/next'>next</a>"; }}, 200);</script>"""
    away = f"<title>x</title><script>location = 'http://127.0.0.1:{canary.port}/y'</script>"
    secret = html("<p>secret")
    robots = always(Reply(body=b"User-agent: *\nDisallow: /secret"))
    pages = {"/": html(home), "/next": html(f"{away}<a href=/secret>s</a>"), "/secret": secret}
    return HttpServer({**pages, "/robots.txt": robots})


async def test_pages_that_need_scripts_are_read_in_a_browser(browsers: Open, use: Use) -> None:
    with Canary() as canary:
        async with site(canary) as server, browsers(f"127.0.0.1:{server.port}") as own:
            web = GuardedClient(own.dialer)
            options = {"deep_crawl": {"page_settle_ms": 1500}}
            powers = Powers(exec=NoPrograms(), web=web, browsers=own, options=options)
            said = await use(tool(powers), url=f"{server.root}/")
            assert own.open("s site_crawl") is None
            asked = {one.path for one in server.asked}
    assert "# Made by a script" in said
    assert "/next" in asked
    assert "/secret" not in asked
    assert (canary.connections, canary.datagrams) == (0, 0)


async def test_without_a_browser_they_are_read_as_they_are(browsers: Open, use: Use) -> None:
    with Canary() as canary:
        async with site(canary) as server, browsers(f"127.0.0.1:{server.port}") as own:
            own.found = Found(missing="no browser")
            powers = Powers(exec=NoPrograms(), web=GuardedClient(own.dialer), browsers=own)
            said = await use(tool(powers), url=f"{server.root}/")
    assert said.startswith("1 pages read.")
    assert "Made by a script" not in said
