"""Asking servers for their models: real servers, real HTTP."""

from __future__ import annotations

import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import pytest

from octo_lab.core.errors import AuthRejected, ConfigError, OctoError, Unavailable
from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.model_lists import ModelLists, Picked, pick
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.secret import Secret
from octo_lab.llm.wires.chat.wire import CHAT
from octo_lab.testing.llm_server import LlmServer

pytestmark = pytest.mark.anyio


@pytest.fixture
async def http() -> AsyncIterator[ModelHttp]:
    async with ModelHttp() as http:
        yield http


ENTRY = ProviderEntry(name="mine", wire=CHAT, needs_key=False)


def config(http: ModelHttp, base_url: str, key: str = "") -> ProviderConfig:
    secret = Secret(key) if key else None
    return ProviderConfig(name="mine", model="", http=http, base_url=base_url, api_key=secret)


@contextmanager
def answering(body: bytes, status: str = "200 OK") -> Iterator[str]:
    """A server that says the same to everybody, as it stands; without a body it says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            try:
                peer, _ = listening.accept()
            except OSError:
                return
            with peer:
                peer.recv(65536)
                if body:
                    head = f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\n\r\n"
                    peer.sendall(head.encode() + body)
                else:
                    peer.recv(65536)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        listening.close()
    thread.join()


async def test_a_server_is_asked_once(http: ModelHttp) -> None:
    lists = ModelLists()
    async with LlmServer(models=["a", "b"], api_key="secret") as server:
        asked = config(http, server.base_url, "secret")
        assert lists.known(asked) == ()
        assert [await lists.of(ENTRY, asked), await lists.of(ENTRY, asked)] == [("a", "b")] * 2
        assert (lists.known(asked), server.listed) == (("a", "b"), 1)
        server.models = ("c",)
        assert await lists.of(ENTRY, asked, anew=True) == ("c",)


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (b'{"models": [{"name": "llama3:8b"}, {"name": "x"}]}', ("llama3:8b", "x")),
        (b'["a", "a", "b"]', ("a", "b")),
        (b'{"data": [{"id": "good"}, {"id": 7}, null, {"id": "bad\\u001b[31m"}]}', ("good",)),
    ],
)
async def test_other_shapes_are_read(http: ModelHttp, body: bytes, names: tuple[str, ...]) -> None:
    with answering(body) as url:
        assert await ModelLists().of(ENTRY, config(http, url)) == names


@pytest.mark.parametrize(
    "body", [b"<html>", b"{}", b'{"data": 3}', b'{"data": []}', b"[[[[" * 9999]
)
async def test_a_list_that_is_none_names_the_next_step(http: ModelHttp, body: bytes) -> None:
    with answering(body) as url, pytest.raises(ConfigError) as caught:
        await ModelLists().of(ENTRY, config(http, url))
    assert str(caught.value) == (
        "'mine' lists no models (name one with `-m mine/NAME`, or `/model mine/NAME`)"
    )


async def test_a_server_without_a_list_names_the_next_step(http: ModelHttp) -> None:
    async with LlmServer(lists=False) as server:
        with pytest.raises(ConfigError) as caught:
            await ModelLists().of(ENTRY, config(http, server.base_url))
    assert "does not say which models it has: 'mine' answered 404" in caught.value.message
    assert "`-m mine/NAME`" in caught.value.hint


async def test_a_wrong_key_is_said_as_such(http: ModelHttp) -> None:
    async with LlmServer(api_key="right-key") as server:
        with pytest.raises(AuthRejected):
            await ModelLists().of(ENTRY, config(http, server.base_url, "wrong-key"))


async def test_silence_and_absence_are_unavailable_and_not_kept(http: ModelHttp) -> None:
    lists = ModelLists()
    with answering(b"") as url, pytest.raises(Unavailable, match=r"within 0.1 s .*-m mine/NAME"):
        await lists.of(ENTRY, config(http, url), 0.1)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    gone = config(http, f"http://127.0.0.1:{port}/v1")
    with pytest.raises(OctoError, match=r"cannot be reached .*-m mine/NAME"):
        await lists.of(ENTRY, gone)
    async with LlmServer(port=port):
        assert await lists.of(ENTRY, gone) == ("scripted",)


@pytest.mark.parametrize(
    ("models", "usual", "model", "noted"),
    [
        (["only-embedder"], "gpt-4o", "only-embedder", False),
        (["a", "gpt-4o"], "gpt-4o", "gpt-4o", False),
        (["nomic-embed-text", "bge-m3", "qwen3:4b", "z"], "gpt-4o", "qwen3:4b", True),
        (["text-embed-1", "text-embed-2"], "", "text-embed-1", True),
    ],
)
def test_the_only_the_usual_or_the_first_that_chats_is_picked(
    models: list[str], usual: str, model: str, noted: bool
) -> None:
    note = (
        f"'mine' has {len(models)} models, {model!r} answers; choose another: "
        "`-m mine/NAME`, or `/model mine/NAME`"
    )
    assert pick("mine", models, usual) == Picked(model=model, note=note if noted else "")
