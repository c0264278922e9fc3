from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import anyio
import pytest

from octo_lab.llm.http import ModelHttp
from octo_lab.llm.local.loopback import BUDGET, FRESH, FoundServer, Loopback, look
from octo_lab.llm.local.policy import LocalPolicy, ServerKind
from octo_lab.llm.proxies import Proxies
from octo_lab.testing.http_server import HttpServer, Reply, json_reply
from octo_lab.testing.local_servers import llamacpp, lmstudio, ollama

pytestmark = pytest.mark.anyio


@pytest.fixture
def running() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def policy(**ports: int) -> LocalPolicy:
    kinds: tuple[ServerKind, ...] = ("ollama", "lmstudio", "llamacpp")
    return LocalPolicy(
        detect=True, ports=tuple((kind, ports.get(kind) or free_port()) for kind in kinds)
    )


async def test_each_server_is_found_with_its_models(running: ExitStack, http: ModelHttp) -> None:
    first = running.enter_context(HttpServer(ollama("llama3.2:3b", "qwen3:4b")))
    second = running.enter_context(
        HttpServer(
            lmstudio(
                {
                    "embed": ("embeddings", "loaded"),
                    "big": ("llm", "not-loaded"),
                    "ready": ("vlm", "loaded"),
                }
            )
        )
    )
    third = running.enter_context(HttpServer(llamacpp("/models/x.gguf")))
    ports = policy(ollama=first.port, lmstudio=second.port, llamacpp=third.port)

    assert await look(ports, http, budget=5) == (
        FoundServer(kind="ollama", base_url=f"{first.root}/v1", models=("llama3.2:3b", "qwen3:4b")),
        FoundServer(kind="lmstudio", base_url=f"{second.root}/v1", models=("ready", "big")),
        FoundServer(kind="llamacpp", base_url=f"{third.root}/v1", models=("/models/x.gguf",)),
    )


async def test_where_nothing_listens_nothing_is_found(http: ModelHttp) -> None:
    assert await look(policy(), http, budget=5) == ()


async def test_a_server_that_listens_on_ipv6_only_is_found(
    running: ExitStack, http: ModelHttp
) -> None:
    server = running.enter_context(HttpServer(ollama("a"), host="::1"))

    (found,) = await look(policy(ollama=server.port), http, budget=5)

    assert found.base_url == f"http://[::1]:{server.port}/v1"


@pytest.mark.parametrize(
    "other",
    [
        Reply(body=b"<html>Ollama is running</html>"),
        json_reply({"version": 3}),
        json_reply([]),
        json_reply({"version": "1", "data": [{"id": "x"}]}),
        json_reply({"error": "no"}, 401),
        json_reply({"version": "1", "models": "all"}),
        Reply(status=307, headers={"location": "http://example.invalid/"}),
        Reply(body=b'{"version": "' + b"x" * 300_000 + b'"}'),
        Reply(body=b"[" * 100_000),
        Reply(body=b"\xff\xfe{", headers={"content-type": "application/json"}),
    ],
)
async def test_another_program_at_the_port_is_no_model_server(
    other: Reply, running: ExitStack, http: ModelHttp
) -> None:
    server = running.enter_context(HttpServer({}, other=other))
    port = server.port

    assert await look(policy(ollama=port, lmstudio=port, llamacpp=port), http, budget=5) == ()
    assert server.asked


async def test_names_that_could_not_be_shown_are_left_out(
    running: ExitStack, http: ModelHttp
) -> None:
    server = running.enter_context(HttpServer(ollama("good", "", "a\x1b[31m", "x" * 300)))

    (found,) = await look(policy(ollama=server.port), http, budget=5)

    assert found.models == ("good",)


@pytest.mark.parametrize(
    "slow",
    [
        Reply(wait=30),
        Reply(body=b'{"version": "1"}', drip=5),
        Reply(body=b'{"version": "1"}', headers={"content-length": "100000"}),
        Reply(status=500, body=b"x" * 100, drip=5),
    ],
)
async def test_a_slow_server_delays_nobody_beyond_the_budget(
    slow: Reply, running: ExitStack, http: ModelHttp
) -> None:
    silent = running.enter_context(HttpServer({}, other=slow))
    quick = running.enter_context(HttpServer(ollama("a")))
    deaf = running.enter_context(socket.create_server(("127.0.0.1", 0), backlog=1))
    ports = policy(ollama=quick.port, lmstudio=silent.port, llamacpp=deaf.getsockname()[1])

    with anyio.fail_after(20):  # of the 30 and more that it would take
        found = await look(ports, http, budget=1.0)

    assert [one.kind for one in found] == ["ollama"]


async def test_redirects_are_not_followed_and_proxies_not_asked(running: ExitStack) -> None:
    target = running.enter_context(HttpServer(ollama("a")))
    proxy = running.enter_context(HttpServer({}))
    moved = Reply(status=302, headers={"location": f"{target.root}/api/version"})
    server = running.enter_context(HttpServer({}, other=moved))
    proxies = Proxies({"http_proxy": proxy.root, "all_proxy": proxy.root})

    async with ModelHttp(proxies=proxies) as http:
        assert await look(policy(ollama=server.port), http, budget=5) == ()

    assert server.asked
    assert (target.asked, proxy.asked) == ([], [])


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_a_look_is_believed_for_some_seconds(running: ExitStack, http: ModelHttp) -> None:
    server = running.enter_context(HttpServer(ollama("a")))
    ports, clock = policy(ollama=server.port), Clock()
    loopback = Loopback(clock=clock, budget=5)

    first = await loopback.servers(ports, http)
    asked = len(server.asked)
    clock.now = FRESH - 1
    second = await loopback.servers(ports, http)
    assert (first, len(server.asked)) == (second, asked)
    assert loopback.known(ports) == first

    clock.now = FRESH + 1
    await loopback.servers(ports, http)
    assert len(server.asked) == 2 * asked
    await loopback.servers(ports, http, anew=True)
    assert len(server.asked) == 3 * asked


async def test_that_nothing_was_found_is_believed_too(http: ModelHttp) -> None:
    ports, clock = policy(), Clock()
    loopback = Loopback(clock=clock, budget=5)
    assert await loopback.servers(ports, http) == ()

    port = dict(ports.ports)["ollama"]
    with ExitStack() as stack:
        listening = stack.enter_context(socket.create_server(("127.0.0.1", port)))
        listening.setblocking(False)
        assert await loopback.servers(ports, http) == ()
        with pytest.raises(BlockingIOError):
            listening.accept()


async def test_switched_off_or_replaying_no_server_is_asked(
    running: ExitStack, http: ModelHttp, tmp_path: Path
) -> None:
    server = running.enter_context(HttpServer(ollama("a")))
    ports = policy(ollama=server.port)
    off = LocalPolicy(detect=False, ports=ports.ports)
    tape = tmp_path / "tape.json"
    header = '{"tool": "", "recorded": "", "provider": "openai", "model": "m", "host": "named"}'
    tape.write_text(f'{{"octo_cassette": 1, "header": {header}, "exchanges": []}}')

    assert await Loopback().servers(off, http) == ()
    await http.replay(tape)
    assert await Loopback().servers(ports, http) == ()
    assert server.asked == []


def test_the_budget_is_what_was_promised() -> None:
    assert BUDGET <= 0.15


def test_a_policy_looks_nowhere_unless_told() -> None:
    assert LocalPolicy().detect is False
