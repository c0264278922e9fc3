from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
import anyio.lowlevel
import pytest

from octo_lab.core.errors import ToolDenied, ToolFailed
from octo_lab.security.net.client import GuardedClient
from octo_lab.security.net.ports import WebRequest, WebResponse
from octo_lab.testing.http_server import Asked, HttpServer, Reply, Route, always
from octo_lab.testing.resolvers import FlippingResolver, ScriptedResolver
from octo_lab.testing.wild_server import Behave, Visit, wild_server
from tests.security.net.authority import Authority
from tests.security.net.conftest import Dialers
from tests.security.net.spellings import HOSTILE

pytestmark = pytest.mark.anyio


def to(location: str, status: int = 302) -> Route:
    return always(Reply(status=status, headers={"location": location}))


async def test_no_spelling_reaches_the_canary(dialer: Dialers, canary: HttpServer) -> None:
    client = GuardedClient(dialer())

    for spelling in HOSTILE:
        url = spelling.replace("{port}", str(canary.port))
        with pytest.raises(ToolFailed):
            await client.fetch(WebRequest(url=url, timeout=5.0))


async def test_no_redirect_reaches_the_canary(dialer: Dialers, canary: HttpServer) -> None:
    spellings = [spelling.replace("{port}", str(canary.port)) for spelling in HOSTILE]
    routes = {f"/{place}": to(_header(url)) for place, url in enumerate(spellings)}
    async with HttpServer(routes) as server:
        client = GuardedClient(dialer(f"127.0.0.1:{server.port}"))
        for place, _ in enumerate(spellings):
            try:
                answer = await client.fetch(WebRequest(url=f"{server.root}/{place}", timeout=5.0))
            except ToolFailed:
                continue
            # Without a host or a place the redirect stays where it was.
            assert answer.url.startswith(f"{server.root}/")
            assert answer.status in (302, 404)
        assert len(server.asked) >= len(spellings)


def _header(url: str) -> str:
    """As a server sends it: bytes of UTF-8, which http.server writes as Latin-1."""
    url = url.replace("\r\n", "%0d%0a")
    return url.encode().decode("latin-1")


async def test_an_address_that_is_allowed_is_fetched(dialer: Dialers) -> None:
    async with HttpServer({"/a": always(Reply(body=b"yes"))}) as server:
        for allow, root in [
            ((f"127.0.0.1:{server.port}",), server.root),
            (("127.0.0.0/8",), server.root),
            (("127.0.0.1",), f"http://2130706433:{server.port}"),
            (("localtest.example",), f"http://localtest.example:{server.port}"),
        ]:
            answer = await GuardedClient(dialer(*allow)).fetch(WebRequest(url=f"{root}/a#x"))
            assert (answer.status, answer.body, answer.cut) == (200, b"yes", False)
        assert server.asked[-1].headers["host"] == f"localtest.example:{server.port}"


async def test_a_refusal_says_which_rule_and_what_the_owner_can_do(dialer: Dialers) -> None:
    with pytest.raises(ToolDenied) as caught:
        await GuardedClient(dialer()).fetch(WebRequest(url="http://metadata.example/?key=s3cret"))

    assert str(caught.value) == (
        "'metadata.example:80' may not be reached: it leads to a link-local address "
        '(only the owner can allow it, by the setting network.allow = ["metadata.example:80"])'
    )


async def test_another_port_of_an_allowed_host_stays_closed(
    dialer: Dialers, canary: HttpServer
) -> None:
    client = GuardedClient(dialer(f"127.0.0.1:{canary.port + 1}", "localtest.example:1"))

    for host in ("127.0.0.1", "localtest.example"):
        with pytest.raises(ToolDenied):
            await client.fetch(WebRequest(url=f"http://{host}:{canary.port}/"))


async def test_a_name_is_looked_up_once_and_what_was_checked_is_connected_to(
    dialer: Dialers, canary: HttpServer
) -> None:
    names = FlippingResolver(["127.0.0.2"], ["127.0.0.1"])
    client = GuardedClient(dialer("127.0.0.2", resolve=names))
    url = f"http://rebind.example:{canary.port}/"

    async with wild_server(plain("open"), host="127.0.0.2", port=canary.port):
        answer = await client.fetch(WebRequest(url=url))
        assert (answer.body, names.asked) == (b"open", ["rebind.example"])
        with pytest.raises(ToolDenied):
            await client.fetch(WebRequest(url=url))
    assert names.asked == ["rebind.example"] * 2


async def test_a_name_that_flips_before_a_redirect_to_itself_is_checked_again(
    dialer: Dialers, canary: HttpServer
) -> None:
    names = FlippingResolver(["127.0.0.2"], ["127.0.0.1"])
    client = GuardedClient(dialer("127.0.0.2", resolve=names))
    url = f"http://rebind.example:{canary.port}/"

    async with wild_server(sends_to(url), host="127.0.0.2", port=canary.port) as server:
        with pytest.raises(ToolDenied, match="it leads to a loopback address"):
            await client.fetch(WebRequest(url=url))
        assert len(server.heads) == 1


def sends_to(url: str) -> Behave:
    async def behave(visit: Visit) -> None:
        await visit.say(f"HTTP/1.1 302 Found\r\nLocation: {url}\r\n\r\n".encode())

    return behave


@pytest.mark.parametrize("name", ["unknown.example", "nothing.example", "nonsense.example"])
async def test_what_cannot_be_resolved_is_not_reached(dialer: Dialers, name: str) -> None:
    with pytest.raises(ToolFailed, match=f"'{name}' could not be resolved"):
        await GuardedClient(dialer()).fetch(WebRequest(url=f"http://{name}/"))


async def test_the_variables_that_name_proxies_are_not_read(
    dialer: Dialers, canary: HttpServer
) -> None:
    proxy = f"http://127.0.0.1:{canary.port}"
    names = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
    async with HttpServer({}, other=Reply(body=b"direct")) as server:
        with variables(dict.fromkeys(names, proxy)):
            client = GuardedClient(dialer(f"127.0.0.1:{server.port}"))
            answer = await client.fetch(WebRequest(url=f"{server.root}/"))
    assert answer.body == b"direct"


@contextmanager
def variables(new: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(new)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


async def test_the_certificate_is_checked_against_the_name_while_the_address_is_pinned(
    dialer: Dialers, authority: Authority
) -> None:
    resolver = ScriptedResolver(
        names={"pinned.example": ["127.0.0.1"], "other.example": ["127.0.0.1"]}
    )
    make = dialer("127.0.0.0/8", resolve=resolver)
    tls = authority.serving("pinned.example")
    async with wild_server(plain("hello"), tls=tls) as server:
        client = GuardedClient(make, tls=authority.trusting)
        answer = await client.fetch(WebRequest(url=f"https://pinned.example:{server.port}/"))
        assert answer.body == b"hello"
        assert f"Host: pinned.example:{server.port}".lower().encode() in server.heads[0].lower()
        with pytest.raises(ToolFailed, match="Hostname mismatch"):
            await client.fetch(WebRequest(url=f"https://other.example:{server.port}/"))
        with pytest.raises(ToolFailed, match="CERTIFICATE_VERIFY_FAILED"):
            await GuardedClient(make).fetch(
                WebRequest(url=f"https://pinned.example:{server.port}/")
            )
    assert server.names == ["pinned.example", "other.example", "pinned.example"]
    assert len(server.heads) == 1


def plain(body: str, *headers: str) -> Behave:
    async def behave(visit: Visit) -> None:
        lines = ["HTTP/1.1 200 OK", f"Content-Length: {len(body)}", *headers, "", body]
        await visit.say("\r\n".join(lines).encode())

    return behave


async def fetched(dialer: Dialers, server: HttpServer, **asked: object) -> WebResponse:
    request = WebRequest(**{"url": f"{server.root}/", "timeout": 5.0, **asked})  # type: ignore[arg-type]
    return await GuardedClient(dialer("127.0.0.1")).fetch(request)


async def test_redirects_without_end_are_left_after_ten(dialer: Dialers) -> None:
    async with HttpServer({"/": to("/")}) as server:
        with pytest.raises(ToolFailed, match="redirects more than 10 times"):
            await fetched(dialer, server)
        assert len(server.asked) == 11


async def test_a_redirect_is_an_answer_where_none_is_followed(dialer: Dialers) -> None:
    async with HttpServer({"/": to("/next")}) as server:
        answer = await fetched(dialer, server, redirects=0)
    assert (answer.status, answer.headers["location"]) == (302, "/next")


@pytest.mark.parametrize(
    ("status", "method", "after"),
    [
        (301, "POST", ("GET", b"")),
        (302, "POST", ("GET", b"")),
        (303, "POST", ("GET", b"")),
        (303, "PUT", ("GET", b"")),
        (307, "POST", ("POST", b"x")),
        (308, "PUT", ("PUT", b"x")),
        (301, "PUT", ("PUT", b"x")),
    ],
)
async def test_the_method_after_a_redirect_is_that_of_browsers(
    dialer: Dialers, status: int, method: str, after: tuple[str, bytes]
) -> None:
    async with HttpServer({"/": to("/b", status), "/b": always(Reply())}) as server:
        await fetched(dialer, server, method=method, body=b"x")
    assert [(asked.method, asked.body) for asked in server.asked] == [(method, b"x"), after]


async def test_no_credential_goes_to_another_origin(dialer: Dialers) -> None:
    secret = {"Authorization": "Bearer s", "Cookie": "a=b", "X-Api-Key": "s", "Accept": "text/html"}
    async with HttpServer({"/": always(Reply())}) as other:
        routes = {"/": to("/same"), "/same": to(f"{other.root}/")}
        async with HttpServer(routes) as server:
            answer = await fetched(dialer, server, headers=secret)
    assert answer.url == f"{other.root}/"
    names = {name.lower() for name in secret}
    assert [names & set(asked.headers) for asked in server.asked] == [names, names]
    assert names & set(other.asked[0].headers) == {"accept"}


async def test_a_redirect_from_https_to_http_is_refused(
    dialer: Dialers, authority: Authority, canary: HttpServer
) -> None:
    down = sends_to(f"http://127.0.0.1:{canary.port}/")
    names = ScriptedResolver(names={"pinned.example": ["127.0.0.1"]})
    async with wild_server(down, tls=authority.serving("pinned.example")) as server:
        client = GuardedClient(dialer("127.0.0.1", resolve=names), tls=authority.trusting)
        with pytest.raises(ToolDenied, match="redirects from https to http"):
            await client.fetch(WebRequest(url=f"https://pinned.example:{server.port}/"))


@pytest.mark.parametrize(
    "name", ["Host", "content-length", "Transfer-Encoding", "Proxy-Authorization"]
)
async def test_headers_that_are_ours_are_set_by_nobody_else(dialer: Dialers, name: str) -> None:
    with pytest.raises(ToolDenied, match="may not be set"):
        await GuardedClient(dialer()).fetch(WebRequest(url="http://a.example", headers={name: "x"}))


@pytest.mark.parametrize("headers", [{"a b": "x"}, {"a": "x\r\nHost: y"}, {"a": "ü"}, {"": "x"}])
async def test_headers_that_would_break_the_request_are_not_sent(
    dialer: Dialers, headers: dict[str, str]
) -> None:
    with pytest.raises(ToolFailed, match="cannot be sent"):
        await GuardedClient(dialer()).fetch(WebRequest(url="http://a.example", headers=headers))


@pytest.mark.parametrize("method", ["CONNECT", "TRACE", "get", "GET / HTTP/1.1\r\n\r\n"])
async def test_methods_that_do_other_things_are_refused(dialer: Dialers, method: str) -> None:
    with pytest.raises(ToolDenied):
        await GuardedClient(dialer()).fetch(WebRequest(url="http://a.example", method=method))


async def test_a_body_without_end_is_cut(dialer: Dialers) -> None:
    async def endless(visit: Visit) -> None:
        await visit.say(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            await visit.say(b"x" * 65_536)

    async with wild_server(endless) as server:
        client = GuardedClient(dialer("127.0.0.1"))
        request = WebRequest(url=f"http://127.0.0.1:{server.port}/", limit=100_000)
        answer = await client.fetch(request)
    assert (answer.body, answer.cut) == (b"x" * 100_000, True)


@pytest.mark.parametrize(
    "behave",
    [
        [b"HTTP/1.1 200 OK\r\nA: ", *[b"b"] * 1_000],
        [b"HTTP/1.1 200 OK\r\n\r\n", *[b"b"] * 1_000],
        [b"HTTP/1.1 100 Continue\r\n\r\n"] * 1_000,
        [],
    ],
)
async def test_a_server_that_takes_for_ever_is_left_in_time(
    dialer: Dialers, behave: list[bytes]
) -> None:
    async def drip(visit: Visit) -> None:
        for part in behave:
            await visit.say(part)
            await anyio.sleep(0.05)
        await anyio.sleep_forever()

    async with wild_server(drip) as server:
        client = GuardedClient(dialer("127.0.0.1"))
        with pytest.raises(ToolFailed, match=r"was not done within 0\.4 s"):
            await client.fetch(WebRequest(url=f"http://127.0.0.1:{server.port}/", timeout=0.4))


@pytest.mark.parametrize(
    "said",
    [
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 50_000,
        b"",
        b"HTTP/1.1 xx\r\n\r\n",
    ],
)
async def test_what_is_no_answer_fails(dialer: Dialers, said: bytes) -> None:
    async def behave(visit: Visit) -> None:
        await visit.say(said)

    async with wild_server(behave) as server:
        with pytest.raises(ToolFailed, match="gave no proper answer"):
            await GuardedClient(dialer("127.0.0.1")).fetch(
                WebRequest(url=f"http://127.0.0.1:{server.port}/", timeout=5.0)
            )


PACKED = {
    "gzip": gzip.compress(b"hello"),
    "x-gzip": gzip.compress(b"hello"),
    "deflate": zlib.compress(b"hello"),
    "Deflate": zlib.compress(b"hello", wbits=-15),
    "identity": b"hello",
}


@pytest.mark.parametrize("encoding", PACKED)
async def test_a_packed_body_is_unpacked(dialer: Dialers, encoding: str) -> None:
    reply = Reply(body=PACKED[encoding], headers={"content-encoding": encoding})
    async with HttpServer({"/": always(reply)}) as server:
        answer = await fetched(dialer, server)
    assert (answer.body, answer.cut) == (b"hello", False)


async def test_a_packed_bomb_does_not_go_off(dialer: Dialers) -> None:
    bomb = gzip.compress(bytes(200_000_000), 9)
    reply = Reply(body=bomb, headers={"content-encoding": "gzip"})
    async with HttpServer({"/": always(reply)}) as server:
        answer = await fetched(dialer, server, limit=1_000_000)
    assert len(bomb) < 300_000
    assert (answer.body, answer.cut) == (bytes(1_000_000), True)


@pytest.mark.parametrize(
    ("encoding", "body"), [("gzip", b"no gzip"), ("br", b"x"), ("gzip, gzip", b"x")]
)
async def test_packing_that_is_broken_or_unasked_fails(
    dialer: Dialers, encoding: str, body: bytes
) -> None:
    reply = Reply(body=body, headers={"content-encoding": encoding})
    async with HttpServer({"/": always(reply)}) as server:
        with pytest.raises(ToolFailed, match="packed"):
            await fetched(dialer, server)


async def test_names_of_headers_are_in_lower_case_and_repeated_ones_joined(
    dialer: Dialers,
) -> None:
    async with wild_server(plain("x", "X-A: 1", "x-a: 2")) as server:
        url = f"http://127.0.0.1:{server.port}/"
        answer = await GuardedClient(dialer("127.0.0.1")).fetch(WebRequest(url=url))
    assert answer.headers["x-a"] == "1, 2"


async def test_a_second_address_is_tried_when_the_first_does_not_answer(dialer: Dialers) -> None:
    async with HttpServer({"/": always(Reply(body=b"second"))}) as server:
        names = ScriptedResolver(names={"two.example": ["::1", "127.0.0.2", "127.0.0.1"]})
        client = GuardedClient(dialer("two.example", resolve=names))
        answer = await client.fetch(WebRequest(url=f"http://two.example:{server.port}/"))
    assert answer.body == b"second"


async def test_what_was_asked_arrives_whole(dialer: Dialers) -> None:
    seen: list[Asked] = []

    def note(asked: Asked) -> Reply:
        seen.append(asked)
        return Reply()

    async with HttpServer({"/a?b=%C3%BC": note}) as server:
        url = f"{server.root}/a?b=ü"
        await fetched(dialer, server, url=url, method="PUT", body=b"\x00x", headers={"X-A": "1"})
    (asked,) = seen
    assert (asked.method, asked.body, asked.headers["x-a"]) == ("PUT", b"\x00x", "1")


async def test_a_fetch_that_is_cancelled_anywhere_leaves_no_connection_open(
    dialer: Dialers,
) -> None:
    visits: list[anyio.Event] = []

    async def slow(visit: Visit) -> None:
        gone = anyio.Event()
        visits.append(gone)
        try:
            for part in (b"HTTP/1.1 200 OK\r\n", b"Content-Length: 3\r\n\r\n", b"a", b"b", b"c"):
                await visit.say(part)
                await anyio.lowlevel.checkpoint()
            await visit.stream.receive()
        finally:
            gone.set()

    async with wild_server(slow) as server:
        request = WebRequest(url=f"http://127.0.0.1:{server.port}/")
        client = GuardedClient(dialer("127.0.0.1"))
        assert (await client.fetch(request)).body == b"abc"
        for steps in range(60):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.fetch, request)
                for _ in range(steps):
                    await anyio.lowlevel.checkpoint()
                tasks.cancel_scope.cancel()
        with anyio.fail_after(5):
            for gone in visits:
                await gone.wait()
    assert len(visits) > 10
