"""What no page may reach, whatever it tries: this machine, its files, the browser's own pages."""

from __future__ import annotations

from collections.abc import Iterator

import anyio
import pytest

from octo_lab.core.errors import ToolDenied, ToolFailed
from octo_lab.testing.http_server import HttpServer, Reply, always
from octo_lab.testing.resolvers import FlippingResolver
from octo_lab.tools.browser import actions
from tests.security.net.spellings import HOSTILE
from tests.tools.browser.canaries import Canary, trying_page
from tests.tools.browser.conftest import Open

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

SW = b"fetch('http://%s/sw', {mode: 'no-cors'}).catch(() => 0)"
SETTLE = 3.0


def html(body: bytes) -> Reply:
    return Reply(body=body, headers={"content-type": "text/html"})


@pytest.fixture
def canary() -> Iterator[Canary]:
    with Canary() as one:
        yield one


def site(place: str) -> HttpServer:
    """The page that tries, and redirects that lead there, too."""
    there = Reply(status=302, headers={"location": f"http://{place}/redirect"})
    script = Reply(body=SW % place.encode(), headers={"content-type": "text/javascript"})
    refresh = f"<meta http-equiv=refresh content='0;url=http://{place}/refresh'>".encode()
    return HttpServer(
        {
            "/": always(html(trying_page(place))),
            "/sw.js": always(script),
            "/redirect": always(there),
            "/refresh": always(html(refresh)),
        }
    )


@pytest.mark.parametrize(
    ("host", "walls"),
    [
        ("127.0.0.1", True),
        ("127.0.0.1", False),
        ("localhost", True),
        ("localtest.example", True),
        ("[::1]", True),
    ],
)
async def test_no_page_reaches_this_machine(
    browsers: Open, canary: Canary, host: str, walls: bool
) -> None:
    place = f"{host}:{canary.port}"
    async with site(place) as server, browsers(f"127.0.0.1:{server.port}", walls=walls) as own:
        said = await actions.navigate(own, "s", server.root)
        assert "Title: trying" in said.text
        await anyio.sleep(SETTLE)
        tried = await actions.evaluate(own, "s", "tried.join()")
        names = ("fetch", "xhr", "ws", "es", "beacon", "form", "worker", "sw", "rtc")
        assert not [name for name in names if name not in tried.text.split(",")]
        for path in ("/redirect", "/refresh"):
            try:
                await actions.navigate(own, "s", server.root + path)
            except ToolFailed:
                continue
            await anyio.sleep(1)
            assert "secret" not in (await actions.get_text(own, "s", "")).text
    assert (canary.connections, canary.datagrams, canary.paths) == (0, 0, [])


async def test_the_same_page_reaches_a_place_that_is_allowed(
    browsers: Open, canary: Canary
) -> None:
    """Else the test above would prove nothing."""
    place = f"127.0.0.1:{canary.port}"
    async with site(place) as server, browsers(f"127.0.0.1:{server.port}", place) as own:
        await actions.navigate(own, "s", server.root)
        await anyio.sleep(SETTLE)
    wanted = {"/img", "/css", "/iframe", "/script", "/fetch", "/xhr", "/ws", "/es", "/worker"}
    assert wanted <= set(canary.paths)
    assert canary.datagrams == 0


async def test_no_spelling_of_this_machine_can_be_navigated_to(
    browsers: Open, canary: Canary
) -> None:
    async with browsers() as own:
        for spelling in HOSTILE:
            url = spelling.replace("{port}", str(canary.port))
            with pytest.raises(ToolFailed):
                await actions.navigate(own, "s", url)
        assert own.open("s") is None
    assert canary.connections == 0


async def test_a_name_that_turns_to_this_machine_is_not_followed_there(
    browsers: Open, canary: Canary
) -> None:
    there = html(b"<title>first</title><script>setInterval(() => fetch('/again'), 100)</script>")
    server = HttpServer({}, other=there, host="127.0.0.2")
    async with server:
        names = FlippingResolver(["127.0.0.2"], ["127.0.0.2"], ["127.0.0.1"])
        async with browsers("127.0.0.2", resolve=names) as own:
            url = f"http://rebind.example:{server.port}/"
            await actions.navigate(own, "s", url)
            with Canary() as other:
                await actions.evaluate(
                    own, "s", f"fetch('http://rebind.example:{other.port}/x').catch(() => 'no')"
                )
                assert other.connections == 0
    assert "rebind.example" in names.asked
    assert canary.connections == 0


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "chrome://settings", "about:blank", "data:text/html,x",
     "javascript:1", "view-source:http://a.example/", "ftp://a.example/", "blob:x"],
)  # fmt: skip
async def test_only_the_web_can_be_navigated_to(browsers: Open, url: str) -> None:
    async with browsers() as own:
        with pytest.raises(ToolFailed):
            await actions.navigate(own, "s", url)
        assert own.open("s") is None


async def test_a_page_opens_no_files_and_no_pages_of_the_browser(browsers: Open) -> None:
    page = html(b"<title>here</title><p>web</p>")
    async with HttpServer({}, other=page) as server, browsers("127.0.0.1") as own:
        await actions.navigate(own, "s", server.root)
        for url in ("file:///etc/passwd", "chrome://version", "view-source:file:///etc/passwd"):
            went = await actions.evaluate(own, "s", f"location.href = {url!r}; 'went'")
            assert went.text.startswith("went")
            await anyio.sleep(0.5)
            try:
                seen = await actions.get_text(own, "s", "")
            except ToolDenied:
                await actions.navigate(own, "s", server.root)
                continue
            assert "root:" not in seen.text
            assert "web" in seen.text
        read = await actions.evaluate(
            own, "s", "fetch('file:///etc/passwd').then(r => r.text()).catch(e => 'refused')"
        )
        assert read.text.startswith("refused")
