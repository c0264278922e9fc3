from __future__ import annotations

import base64
from collections.abc import Callable
from contextlib import suppress

import anyio
import httpx
import pytest

from octo_lab.core.errors import ConfigError, ToolFailed
from octo_lab.security.net.client import GuardedClient
from octo_lab.security.net.dial import Dialer, read_proxy
from octo_lab.security.net.ports import WebRequest
from octo_lab.security.net.proxy import ForwardProxy, forward_proxy
from octo_lab.testing.http_server import HttpServer, Reply, always
from octo_lab.testing.resolvers import FlippingResolver, ScriptedResolver
from octo_lab.testing.wild_server import Visit, wild_server
from tests.security.net.authority import Authority
from tests.security.net.conftest import Dialers
from tests.security.net.spellings import HOSTILE

pytestmark = pytest.mark.anyio


def credential(proxy: ForwardProxy) -> str:
    pair = base64.b64encode(f"{proxy.user}:{proxy.password}".encode()).decode()
    return f"Proxy-Authorization: Basic {pair}\r\n"


async def said(proxy: ForwardProxy, data: bytes) -> bytes:
    """All that the proxy answers to raw bytes until it closes."""
    answer = b""
    async with await anyio.connect_tcp(proxy.host, proxy.port) as stream:
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError), anyio.fail_after(5):
            await stream.send(data)
            while True:
                answer += await stream.receive()
    return answer


async def asked(proxy: ForwardProxy, first: str) -> bytes:
    head = f"{first} HTTP/1.1\r\nHost: x\r\n{credential(proxy)}\r\n"
    return await said(proxy, head.encode("utf-8", "surrogatepass"))


async def test_no_spelling_reaches_the_canary_through_the_proxy(
    dialer: Dialers, canary: HttpServer
) -> None:
    async with forward_proxy(dialer()) as proxy:
        for spelling in HOSTILE:
            url = spelling.replace("{port}", str(canary.port))
            place = url.partition("//")[2].partition("/")[0]
            for first in (f"GET {url}", f"CONNECT {place}", f"CONNECT {place}:{canary.port}"):
                answer = await asked(proxy, first)
                assert answer.split(b" ")[1] in (b"403", b"502"), first


@pytest.mark.parametrize("method", ["GET", "CONNECT"])
async def test_without_the_credential_nobody_is_let_through(
    dialer: Dialers, canary: HttpServer, method: str
) -> None:
    place = f"127.0.0.1:{canary.port}"
    where = place if method == "CONNECT" else f"http://{place}/"
    async with forward_proxy(dialer("127.0.0.1")) as proxy:
        for line in ("", "Proxy-Authorization: Basic b2N0bzp4\r\n", "Proxy-Authorization: ü\r\n"):
            answer = await said(proxy, f"{method} {where} HTTP/1.1\r\n{line}\r\n".encode())
            assert answer.startswith(b"HTTP/1.1 407 ")


async def test_an_allowed_server_is_reached_plain_and_through_a_tunnel(
    dialer: Dialers, authority: Authority
) -> None:
    async def hello(visit: Visit) -> None:
        await visit.say(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecure")

    names = ScriptedResolver(names={"pinned.example": ["127.0.0.1"]})
    tls = authority.serving("pinned.example")
    async with (
        HttpServer({"/a?b": always(Reply(body=b"plain"))}) as plain,
        wild_server(hello, tls=tls) as secure,
        forward_proxy(dialer("127.0.0.1", resolve=names)) as proxy,
        httpx.AsyncClient(proxy=proxy.url, trust_env=False, verify=authority.trusting()) as client,
    ):
        answer = await client.post(f"{plain.root}/a?b", content=b"body")
        assert (answer.text, plain.asked[0].body) == ("plain", b"body")
        answer = await client.get(f"https://pinned.example:{secure.port}/")
        assert answer.text == "secure"
        assert secure.names == ["pinned.example"]
    sent = plain.asked[0].headers
    assert not {"proxy-authorization", "proxy-connection"} & set(sent)
    assert (sent["host"], sent["connection"]) == (f"127.0.0.1:{plain.port}", "close")


async def test_a_second_request_on_a_connection_stays_with_the_first_server(
    dialer: Dialers, canary: HttpServer
) -> None:
    async with (
        HttpServer({}, other=Reply(body=b"first")) as server,
        forward_proxy(dialer(f"127.0.0.1:{server.port}")) as proxy,
    ):
        head = f"HTTP/1.1\r\n{credential(proxy)}\r\n"
        both = f"GET {server.root}/ {head}GET http://127.0.0.1:{canary.port}/ {head}"
        assert (await said(proxy, both.encode())).count(b"HTTP/1.1 200 OK") == 1


async def test_a_tunnel_goes_to_what_was_checked(dialer: Dialers, canary: HttpServer) -> None:
    async def open_house(visit: Visit) -> None:
        await visit.say(b"open")

    names = FlippingResolver(["127.0.0.2"], ["127.0.0.1"])
    async with (
        wild_server(open_house, host="127.0.0.2", port=canary.port),
        forward_proxy(dialer("127.0.0.2", resolve=names)) as proxy,
    ):
        first = f"CONNECT rebind.example:{canary.port} HTTP/1.1\r\n{credential(proxy)}\r\nhello"
        assert (await said(proxy, first.encode())).endswith(b"\r\n\r\nopen")
        assert names.asked == ["rebind.example"]
        assert b" 403 " in await asked(proxy, f"CONNECT rebind.example:{canary.port}")


@pytest.mark.parametrize(
    "data",
    [b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\r\n\r\n", b"A: b\r\n" * 20_000, b"\r\n\r\n",
     b"GET http://a.example/ HTTP/1.1\r\nA b\r\n\r\n", b"GET https://a.example/ HTTP/1.1\r\n\r\n"],
)  # fmt: skip
async def test_what_is_no_request_is_turned_away(dialer: Dialers, data: bytes) -> None:
    async with forward_proxy(dialer()) as proxy:
        assert (await said(proxy, data)).split(b" ")[1] in (b"502", b"403")


async def test_leaving_closes_all_connections(dialer: Dialers) -> None:
    async def silent(visit: Visit) -> None:
        await anyio.sleep_forever()

    async with wild_server(silent) as server:
        async with forward_proxy(dialer("127.0.0.1")) as proxy:
            stream = await anyio.connect_tcp(proxy.host, proxy.port)
            await stream.send(
                f"CONNECT 127.0.0.1:{server.port} HTTP/1.1\r\n{credential(proxy)}\r\n".encode()
            )
            assert (await stream.receive()).startswith(b"HTTP/1.1 200 ")
        async with stream:
            with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)), anyio.fail_after(5):
                await stream.receive()
        with pytest.raises(OSError, match=r"refused|failed"):
            await anyio.connect_tcp(proxy.host, proxy.port)


async def test_the_password_is_not_shown_and_is_of_this_run(dialer: Dialers) -> None:
    async with forward_proxy(dialer()) as one, forward_proxy(dialer()) as other:
        assert one.password != other.password
        assert one.password not in repr(one)
        assert one.server == f"http://127.0.0.1:{one.port}"


def through(proxy: ForwardProxy, make: Callable[..., Dialer]) -> GuardedClient:
    """A client whose every connection goes through the owner's proxy."""
    guard = make("127.0.0.1").guard
    return GuardedClient(Dialer(guard=guard, proxy=read_proxy(proxy.url)))


async def test_a_configured_proxy_is_used_and_asked_for_the_address_that_was_checked(
    dialer: Dialers,
) -> None:
    async with (
        HttpServer({"/": always(Reply(body=b"far"))}) as server,
        forward_proxy(dialer("127.0.0.1")) as proxy,
    ):
        client = through(proxy, dialer)
        # The proxy's own name server does not know the name: it is asked for the address.
        url = f"http://localtest.example:{server.port}/"
        answer = await client.fetch(WebRequest(url=url))
        assert answer.body == b"far"
        with pytest.raises(ToolFailed, match="may not be reached"):
            await client.fetch(WebRequest(url="http://metadata.example/"))


async def test_a_configured_proxy_that_refuses_is_named(
    dialer: Dialers, canary: HttpServer
) -> None:
    async with forward_proxy(dialer()) as proxy:
        with pytest.raises(
            ToolFailed, match=r"The proxy of the setting network\.proxy answered 403"
        ):
            await through(proxy, dialer).fetch(WebRequest(url=f"http://127.0.0.1:{canary.port}/"))


@pytest.mark.parametrize(
    "url", ["socks5://x:1", "http://", "http://x:0", "http://[::1", "https://x"]
)
def test_a_proxy_that_cannot_be_used_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match=r"network\.proxy"):
        read_proxy(url)


async def test_a_tunnel_that_carries_nothing_is_closed(dialer: Dialers) -> None:
    async def silent(visit: Visit) -> None:
        await anyio.sleep_forever()

    async with (
        wild_server(silent) as server,
        forward_proxy(dialer("127.0.0.1"), idle=0.05) as proxy,
    ):
        answer = await asked(proxy, f"CONNECT 127.0.0.1:{server.port}")
    assert answer == b"HTTP/1.1 200 Connection established\r\n\r\n"


async def test_more_connections_than_there_is_room_for_are_refused(dialer: Dialers) -> None:
    async def silent(visit: Visit) -> None:
        await anyio.sleep_forever()

    async with (
        wild_server(silent) as server,
        forward_proxy(dialer("127.0.0.1"), connections=1) as proxy,
        await anyio.connect_tcp(proxy.host, proxy.port) as first,
    ):
        head = f"CONNECT 127.0.0.1:{server.port} HTTP/1.1\r\n{credential(proxy)}\r\n"
        await first.send(head.encode())
        assert (await first.receive()).startswith(b"HTTP/1.1 200 ")
        assert (await said(proxy, b"GET")).startswith(b"HTTP/1.1 503 ")
