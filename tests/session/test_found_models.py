from __future__ import annotations

import socket
from collections.abc import AsyncGenerator, Iterator
from contextlib import ExitStack

import pytest

from octo_lab.core.messages import ChatRequest, Message
from octo_lab.core.replies import ProviderInfo
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.local.loopback import Loopback
from octo_lab.llm.local.policy import LocalPolicy, ServerKind
from octo_lab.llm.provider import collect
from octo_lab.llm.registry import ModelSetup, ProviderFacts, builtin_providers
from octo_lab.llm.secret import Secret
from octo_lab.session.models import ConfiguredModels
from octo_lab.testing.http_server import Asked, HttpServer, Reply, Route
from octo_lab.testing.local_servers import lmstudio, ollama

pytestmark = pytest.mark.anyio


@pytest.fixture
def running() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
async def http() -> AsyncGenerator[ModelHttp]:
    async with ModelHttp() as client:
        yield client


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def models(
    http: ModelHttp, *, detect: bool = True, model: str | None = None, **servers: HttpServer
) -> ConfiguredModels:
    kinds: tuple[ServerKind, ...] = ("ollama", "lmstudio", "llamacpp")
    ports = tuple((kind, servers[kind].port if kind in servers else free_port()) for kind in kinds)
    policy = LocalPolicy(detect=detect, ports=ports)
    setup = ModelSetup(http=http, model=model, local=policy)
    # A busy machine may need more than the usual budget.
    return ConfiguredModels(setup, builtin_providers(), Loopback(budget=5))


def says(text: str) -> Route:
    def answer(_asked: Asked) -> Reply:
        chunk = f'{{"choices":[{{"delta":{{"content":"{text}"}},"finish_reason":"stop"}}]}}'
        body = f"data: {chunk}\n\ndata: [DONE]\n\n".encode()
        return Reply(body=body, headers={"content-type": "text/event-stream"})

    return answer


async def test_a_server_of_this_machine_answers_when_nothing_is_configured(
    running: ExitStack, http: ModelHttp
) -> None:
    routes = {**ollama("qwen3:4b", "bge-m3"), "/v1/chat/completions": says("hello")}
    server = running.enter_context(HttpServer(routes))
    source = models(http, ollama=server)

    chosen = await source.choose(None)
    message, _ = await collect(
        chosen.provider.stream(ChatRequest(messages=[Message(role="user", content="hi")]))
    )

    assert (chosen.name, message.content) == ("ollama/qwen3:4b", "hello")
    assert chosen.note.startswith(
        "No model is configured: 'qwen3:4b' of Ollama on this machine answers."
    )
    assert source.connection(chosen) == {
        "model": "qwen3:4b (the server has it)",
        "provider": "ollama (found on this machine)",
        "base URL": f"{server.root}/v1 (found on this machine)",
        "key": "none",
    }
    assert "ollama/qwen3:4b" in source.names()


async def test_the_first_that_has_a_model_is_taken(running: ExitStack, http: ModelHttp) -> None:
    empty = running.enter_context(HttpServer(ollama()))
    other = running.enter_context(HttpServer(lmstudio({"m": ("llm", "loaded")})))

    chosen = await models(http, ollama=empty, lmstudio=other).choose(None)

    assert chosen.name == "lmstudio/m"


async def test_whoever_configured_a_model_is_not_looked_at(
    running: ExitStack, http: ModelHttp
) -> None:
    server = running.enter_context(HttpServer(ollama("a")))
    facts = {"openai": ProviderFacts(api_key=Secret("sk-0123456789abcdef"))}
    policy = LocalPolicy(detect=True, ports=(("ollama", server.port),))
    keyed = ModelSetup(http=http, providers=facts, local=policy)

    for source, name in (
        (models(http, ollama=server, model="offline"), "offline/helper"),
        (models(http, ollama=server, detect=False), "offline/helper"),
        (ConfiguredModels(keyed, builtin_providers()), "openai/gpt-4o"),
    ):
        assert (await source.choose(None)).name == name
    assert (await models(http, ollama=server).choose("offline")).name == "offline/helper"
    assert server.asked == []


async def test_without_a_server_the_offline_helper_answers(http: ModelHttp) -> None:
    assert (await models(http).choose(None)).name == "offline/helper"


async def test_the_list_of_providers_tells_which_servers_run_here(
    running: ExitStack, http: ModelHttp
) -> None:
    server = running.enter_context(HttpServer(ollama("a", "b")))

    rows = {one.name: one for one in await models(http, ollama=server).providers(5)}

    assert rows["ollama"] == ProviderInfo(
        name="ollama",
        state="reached",
        base_url=f"{server.root}/v1 (found on this machine)",
        key="none",
        models=("ollama/a", "ollama/b"),
    )
    assert (rows["lmstudio"].state, rows["lmstudio"].note) == (
        "not connected",
        "no such server runs on this machine",
    )


async def test_a_list_without_detection_asks_no_usual_port(http: ModelHttp) -> None:
    rows = {one.name: one for one in await models(http, detect=False).providers(5)}

    assert {rows[name].state for name in ("ollama", "lmstudio", "llamacpp")} == {"not connected"}
    assert rows["ollama"].note == "not looked for: local.detect is off"


async def test_no_server_is_looked_for_before_somebody_needs_a_model(
    running: ExitStack, http: ModelHttp
) -> None:
    server = running.enter_context(HttpServer(ollama("a")))
    source = models(http, ollama=server)
    source.names()
    source.cards(["ollama/a"])
    source.connect(ModelSetup(http=http, local=LocalPolicy(detect=True)))
    await source.routing()

    assert server.asked == []
