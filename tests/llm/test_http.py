from __future__ import annotations

import gzip
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from octo_lab.core.errors import ProviderError, StreamCut, Unavailable
from octo_lab.llm import http as http_module
from octo_lab.llm.http import STREAMS_PER_POOL, HttpCall, HttpReply, ModelHttp
from octo_lab.llm.secret import Secret
from octo_lab.testing.llm_script import Turn, fails, says
from octo_lab.testing.llm_server import LlmServer

pytestmark = pytest.mark.anyio

BODY = b'{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}'


def call(base_url: str) -> HttpCall:
    return HttpCall(
        provider="lab",
        model="m",
        url=f"{base_url}/chat/completions",
        body=BODY,
        api_key=Secret("sk-0123456789abcdef"),
        headers={"authorization": "Bearer sk-0123456789abcdef"},
    )


def test_no_other_module_of_the_layer_knows_httpx() -> None:
    folder = Path(http_module.__file__).parent
    users = [
        path.name
        for path in folder.rglob("*.py")
        if re.search(r"^\s*(?:import|from) httpx", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert users == ["http.py"]


def test_a_call_does_not_show_its_key() -> None:
    assert "sk-0123456789abcdef" not in repr(call("http://h"))


async def test_the_body_comes_as_the_network_delivers_it(
    server: LlmServer, http: ModelHttp
) -> None:
    server.script(Turn(raw=b"abcdef", split=2))
    async with http.stream(call(server.base_url)) as reply:
        assert reply.content_type == "text/event-stream"
        assert [part async for part in reply.parts] == [b"ab", b"cd", b"ef"]


async def test_a_packed_body_is_unpacked(server: LlmServer, http: ModelHttp) -> None:
    packed = Turn(raw=gzip.compress(b"data: x\n\n"), headers={"content-encoding": "gzip"})
    server.script(packed)
    async with http.stream(call(server.base_url)) as reply:
        assert b"".join([part async for part in reply.parts]) == b"data: x\n\n"


async def test_leaving_early_closes_the_connection(server: LlmServer, http: ModelHttp) -> None:
    server.script(says("x", hang=True))
    async with http.stream(call(server.base_url)) as reply:
        await anext(reply.parts)
    assert await anyio.to_thread.run_sync(server.wait_until, lambda: bool(server.disconnects), 1.0)


async def test_a_break_while_reading_is_a_cut(server: LlmServer, http: ModelHttp) -> None:
    server.script(says("hello", cut=50))
    with pytest.raises(StreamCut, match="'lab' was cut off"):
        await drain(http, server)


async def drain(http: ModelHttp, server: LlmServer) -> list[bytes]:
    async with http.stream(call(server.base_url)) as reply:
        return [part async for part in reply.parts]


async def test_the_rest_is_read_until_silence(server: LlmServer, http: ModelHttp) -> None:
    server.script(Turn(raw=b"abcdef", split=2, hang=True), Turn(raw=b"ab", cut=2))
    for left in ([b"cd", b"ef"], []):
        async with http.stream(call(server.base_url)) as reply:
            await anext(reply.parts)
            assert await reply.rest(0.2) == left


async def test_an_error_whose_body_breaks_off_is_still_that_error(
    server: LlmServer, http: ModelHttp
) -> None:
    server.script(fails(429, "slow", cut=10))
    with pytest.raises(ProviderError, match="'lab' answered 429"):
        await drain(http, server)


async def test_pools_stay_small_and_are_used_again(server: LlmServer, http: ModelHttp) -> None:
    server.script(*[says("x", hang=True)] * (STREAMS_PER_POOL + 1))
    held: list[HttpReply] = []
    enough = anyio.Event()

    async def hold() -> None:
        async with http.stream(call(server.base_url)) as reply:
            await anext(reply.parts)
            held.append(reply)
            if len(held) == STREAMS_PER_POOL + 1:
                enough.set()
            await enough.wait()

    async with anyio.create_task_group() as tasks:
        for _ in range(STREAMS_PER_POOL + 1):
            tasks.start_soon(hold)
    assert len(http._pools) == 2
    await drain(http, server)
    assert len(http._pools) == 2


async def test_tls_against_a_server_without_it_is_one_clear_line(
    server: LlmServer, http: ModelHttp
) -> None:
    with pytest.raises(Unavailable, match="'lab' cannot be reached at 'https://127"):
        async with http.stream(call(server.base_url.replace("http:", "https:"))):
            pass


@pytest.fixture
def mute() -> Iterator[int]:
    """The port of a server that closes each connection without a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def close_one() -> None:
            connection, _ = listening.accept()
            connection.recv(65536)
            connection.close()

        thread = threading.Thread(target=close_one)
        thread.start()
        yield listening.getsockname()[1]
        thread.join()


async def test_a_server_that_hangs_up_is_unavailable(http: ModelHttp, mute: int) -> None:
    with pytest.raises(Unavailable, match="'lab' cannot be reached at"):
        async with http.stream(call(f"http://127.0.0.1:{mute}/v1")):
            pass


@pytest.fixture
def forgetful() -> Iterator[int]:
    """The port of a server that answers once on each connection, then hangs up when asked again."""
    reply = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 2\r\n\r\nok"
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with suppress(TimeoutError):
                for _ in range(2):
                    connection, _address = listening.accept()
                    with connection:
                        connection.settimeout(5)
                        asked = b""
                        while not asked.endswith(BODY):
                            asked += connection.recv(65536)
                        connection.sendall(reply)
                        connection.recv(65536)

        listening.settimeout(5)
        thread = threading.Thread(target=serve)
        thread.start()
        yield listening.getsockname()[1]
        thread.join()


async def test_a_kept_connection_that_its_server_closed_is_no_error(forgetful: int) -> None:
    async with ModelHttp() as http:
        for _ in range(2):
            async with http.stream(call(f"http://127.0.0.1:{forgetful}/v1")) as reply:
                assert b"".join([part async for part in reply.parts]) == b"ok"


async def test_the_url_of_an_error_shows_no_password(http: ModelHttp) -> None:
    with pytest.raises(Unavailable) as caught:
        async with http.stream(call("http://me:secret-word@127.0.0.1:9/v1")):
            pass
    assert "secret-word" not in str(caught.value)
    assert "http://127.0.0.1:9" in str(caught.value)
