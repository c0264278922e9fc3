from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest
from anyio.abc import SocketStream

from octo_lab.core.errors import ConfigError, Unavailable
from octo_lab.llm.http import HttpCall, ModelHttp
from octo_lab.llm.proxies import Proxies

PROXY = "http://proxy.example:3128"


@pytest.mark.parametrize(
    ("environ", "url", "expected"),
    [
        ({}, "https://api.example/v1", None),
        ({"HTTPS_PROXY": PROXY}, "https://api.example/v1", PROXY),
        ({"https_proxy": PROXY}, "https://api.example/v1", PROXY),
        ({"HTTPS_PROXY": PROXY}, "http://api.example/v1", None),
        ({"HTTP_PROXY": PROXY}, "http://api.example/v1", PROXY),
        ({"ALL_PROXY": PROXY}, "http://api.example/v1", PROXY),
        ({"ALL_PROXY": "http://other:1", "HTTPS_PROXY": PROXY}, "https://api.example", PROXY),
        ({"HTTPS_PROXY": " "}, "https://api.example/v1", None),
        ({"HTTPS_PROXY": "proxy.example:3128"}, "https://api.example/v1", PROXY),
    ],
)
def test_the_variable_of_the_scheme_wins_over_that_for_all(
    environ: dict[str, str], url: str, expected: str | None
) -> None:
    assert Proxies(environ).between(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:1/v1",
        "http://LOCALHOST.:1",
        "http://a.localhost/v1",
        "http://127.0.0.1:1",
        "https://127.9.9.9",
        "http://[::1]:1/v1",
        "http://0.0.0.0:11434/v1",
    ],
)
def test_loopback_never_goes_through_a_proxy(url: str) -> None:
    assert Proxies({"ALL_PROXY": PROXY}).between(url) is None


@pytest.mark.parametrize(
    ("exceptions", "url", "direct"),
    [
        ("api.example", "https://api.example/v1", True),
        ("example", "https://api.example/v1", True),
        (".example", "https://api.example/v1", True),
        ("*.example", "https://api.example/v1", True),
        ("pi.example", "https://api.example/v1", False),
        ("other, api.example:443", "https://api.example:443/v1", True),
        ("api.example:8443", "https://api.example/v1", False),
        ("*", "https://api.example/v1", True),
        ("10.0.0.0/8", "https://10.1.2.3/v1", True),
        ("10.0.0.0/8", "https://11.1.2.3/v1", False),
        ("10.1.2.3", "https://10.1.2.3/v1", True),
        ("fd00::/8", "https://[fd00::1]/v1", True),
        ("", "https://api.example/v1", False),
        (",", "https://api.example/v1", False),
    ],
)
def test_what_no_proxy_names_is_reached_directly(exceptions: str, url: str, direct: bool) -> None:
    proxies = Proxies({"HTTPS_PROXY": PROXY, "NO_PROXY": exceptions})
    assert (proxies.between(url) is None) == direct


@pytest.mark.parametrize("value", ["socks5://h:1", "http://", "http://h:99999", "ftp://h"])
def test_a_proxy_that_cannot_be_used_is_named_by_its_variable_alone(value: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Proxies({"ALL_PROXY": value}).between("https://api.example")
    assert caught.value.message == "ALL_PROXY names no proxy that can be used"
    assert "http://host:port" in caught.value.hint


def test_proxies_do_not_show_their_password() -> None:
    assert "secret" not in repr(Proxies({"HTTPS_PROXY": "http://me:secret@h:1"}))


@asynccontextmanager
async def proxy(answer: bytes) -> AsyncGenerator[tuple[str, list[str]]]:
    """A real proxy on loopback that answers every request itself; the requests it saw."""
    seen: list[str] = []

    async def serve(client: SocketStream) -> None:
        async with client:
            head = b""
            while b"\r\n\r\n" not in head:
                head += await client.receive()
            seen.append(head.decode())
            await client.send(answer)

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, serve)
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        yield f"127.0.0.1:{port}", seen
        tasks.cancel_scope.cancel()


def call(url: str) -> HttpCall:
    return HttpCall(provider="lab", model="m", url=url, body=b"{}")


@pytest.mark.anyio
async def test_plain_http_is_asked_of_the_proxy() -> None:
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi"
    async with proxy(answer) as (address, seen):
        proxies = Proxies({"HTTP_PROXY": f"http://me:word@{address}"})
        async with (
            ModelHttp(proxies=proxies) as http,
            http.stream(call("http://api.example/v1")) as reply,
        ):
            body = await reply.rest(5)

    assert body == [b"hi"]
    assert seen[0].splitlines()[0] == "POST http://api.example/v1 HTTP/1.1"
    assert "proxy-authorization: basic " in seen[0].lower()


@pytest.mark.anyio
async def test_https_is_tunnelled_and_a_refusal_names_the_proxy_without_its_password() -> None:
    answer = b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n"
    async with proxy(answer) as (address, seen):
        proxies = Proxies({"HTTPS_PROXY": f"http://me:word@{address}"})
        async with ModelHttp(proxies=proxies) as http:
            with pytest.raises(Unavailable) as caught:
                async with http.stream(call("https://api.example/v1")):
                    pass

    assert seen[0].splitlines()[0] == "CONNECT api.example:443 HTTP/1.1"
    assert caught.value.message == (
        "'lab' cannot be reached at 'https://api.example': 407 Proxy Authentication Required "
        f"(by the proxy http://{address})"
    )
    assert caught.value.hint == "is the proxy right? a host in NO_PROXY is reached directly"
