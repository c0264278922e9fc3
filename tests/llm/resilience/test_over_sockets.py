from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack, aclosing
from functools import partial

import anyio
import anyio.to_thread
import pytest

from octo_lab.core.errors import ProviderError, QuotaExceeded, StreamCut
from octo_lab.core.stream import TextDelta
from octo_lab.llm.http import HttpTimeouts, ModelHttp
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.resilience.adaptive import Adaptive
from octo_lab.llm.resilience.failover import Chained
from octo_lab.llm.resilience.policy import Mode
from octo_lab.llm.resilience.retry import Retrying, RetryPolicy
from octo_lab.llm.resilience.slot import Slot
from octo_lab.llm.wires.chat.wire import CHAT
from octo_lab.llm.wires.streaming import Streaming
from octo_lab.testing.llm_script import Turn, fails, says
from octo_lab.testing.llm_server import LlmServer
from tests.llm.resilience.models import REQUEST, drain, listen

pytestmark = pytest.mark.anyio

QUOTA = "You exceeded your current quota, please check your plan and billing details."


@pytest.fixture
def other() -> Iterator[LlmServer]:
    with LlmServer() as running:
        yield running


class Sleeping:
    """Sleeps for no time and remembers for how long."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


class Lab:
    """Two servers, asked through retrying adapters."""

    def __init__(self, http: ModelHttp, *servers: LlmServer) -> None:
        self.sleep = Sleeping()
        self.slots = [
            Slot(self.retrying(http, server.base_url, f"lab{number}"))
            for number, server in enumerate(servers, 1)
        ]
        self.chain = Chained(self.slots)

    def router(self, mode: Mode) -> Adaptive:
        return Adaptive(self.slots, mode=mode, chance=lambda: 0.99)

    def retrying(self, http: ModelHttp, base_url: str, name: str = "lab1") -> Retrying:
        config = ProviderConfig(name=name, model="m", http=http, base_url=base_url)
        policy = RetryPolicy(max_delay=10.0)
        return Retrying(Streaming(config, CHAT), policy, sleep=self.sleep, chance=lambda: 0.0)


@pytest.fixture
async def lab(server: LlmServer, other: LlmServer, http: ModelHttp) -> Lab:
    return Lab(http, server, other)


async def gone(server: LlmServer) -> bool:
    """Whether a client has left an unfinished answer, at once."""
    return await anyio.to_thread.run_sync(
        partial(server.wait_until, lambda: bool(server.disconnects), 2.0)
    )


async def test_a_server_in_trouble_is_asked_again_then_the_other_answers(
    lab: Lab, server: LlmServer, other: LlmServer
) -> None:
    server.script(*[fails(500, "kaputt")] * 4)
    other.script(says("hello"))
    said, told = await listen(lab.chain)
    assert (said, len(server.requests), len(other.requests)) == ("hello", 4, 1)
    assert told[-1] == "lab1/m: 'lab1' answered 500: kaputt; lab2/m answers"


async def test_the_servers_wish_to_wait_is_the_floor(lab: Lab, server: LlmServer) -> None:
    busy = fails(429, "slow down", headers={"Retry-After": "3"})
    server.script(busy, busy, says("hello"))
    said, told = await listen(lab.chain)
    assert (said, lab.sleep.seconds) == ("hello", [3.0, 3.0])
    assert told == ["lab1/m: rate limited; asking again in 3 s"] * 2


async def test_a_wish_in_milliseconds_counts(lab: Lab, server: LlmServer) -> None:
    server.script(fails(429, "slow down", headers={"retry-after-ms": "2500"}), says("hello"))
    await listen(lab.chain)
    assert lab.sleep.seconds == [2.5]


async def test_a_wish_that_is_too_long_goes_to_the_other_at_once(
    lab: Lab, server: LlmServer, other: LlmServer
) -> None:
    server.script(fails(429, "slow down", headers={"Retry-After": "600"}))
    other.script(says("one"), says("two"))
    first, _ = await listen(lab.chain)
    second, told = await listen(lab.chain)
    assert (first, second, told, lab.sleep.seconds) == ("one", "two", [], [])
    assert (len(server.requests), lab.chain.metrics()[0].state) == (1, "open")


@pytest.mark.parametrize(
    "refusal",
    [
        fails(403, QUOTA, code="insufficient_quota"),
        fails(429, QUOTA, code="insufficient_quota"),
        Turn(
            raw=json.dumps({"error": {"message": "Your account is in arrears"}}).encode(),
            headers={"content-type": "application/json"},
        ),
        Turn(raw=b"Access denied: arrears", headers={"content-type": "text/plain"}),
    ],
    ids=["403", "429", "200 json", "200 text"],
)
async def test_an_account_without_credit_is_asked_once_and_the_person_is_told(
    lab: Lab, server: LlmServer, other: LlmServer, refusal: Turn
) -> None:
    server.script(refusal)
    other.script(refusal)
    with pytest.raises(QuotaExceeded) as failed:
        await listen(lab.chain)
    assert (len(server.requests), len(other.requests), lab.sleep.seconds) == (1, 1, [])
    assert [line[:8] for line in failed.value.message.splitlines()[1:]] == ["- lab1/m", "- lab2/m"]

    other.script(says("hello"))
    server.script(refusal)
    said, told = await listen(lab.chain)
    assert (said, len(told), "lab2/m answers" in told[0]) == ("hello", 1, True)


async def test_what_was_shown_is_not_said_again_by_another(
    lab: Lab, server: LlmServer, other: LlmServer
) -> None:
    server.script(says("Hel", "lo", cut=600))
    async with aclosing(lab.chain.stream(REQUEST)) as events:
        assert await anext(events) == TextDelta("Hel")
        with pytest.raises(StreamCut):
            [event async for event in events]
    assert (len(server.requests), other.requests) == (1, [])


async def test_streaming_hedges_and_the_loser_is_hung_up_at_once(
    lab: Lab, server: LlmServer, other: LlmServer
) -> None:
    server.script(says("never", wait=30))
    other.script(says("fast", delay=0.2, hang=True))
    async with aclosing(lab.router("hedge").stream(REQUEST)) as events:
        assert await anext(events) == TextDelta("fast")
        assert await gone(server)
        assert other.disconnects == []
    assert await gone(other)
    assert (len(server.requests), len(other.requests)) == (1, 1)


async def test_the_winner_of_a_race_is_read_to_its_end_and_its_connection_kept(
    lab: Lab, server: LlmServer, other: LlmServer
) -> None:
    router = lab.router("hedge")
    for _ in range(3):
        server.script(says("never", wait=30))
        other.script(says("a", "b", "c"))
        assert (await listen(router))[0] == "abc"
    assert len({received.peer for received in other.requests}) == 1
    assert [info.calls for info in router.metrics()] == [0, 3]


async def test_stopping_a_race_hangs_up_both_and_leaves_no_task(
    lab: Lab, server: LlmServer, other: LlmServer
) -> None:
    server.script(says("never", wait=30))
    other.script(says("never", wait=30))
    before = asyncio.all_tasks()
    with anyio.move_on_after(0.3) as scope:
        await drain(lab.router("hedge").stream(REQUEST))
    assert scope.cancelled_caught
    assert await gone(server)
    assert await gone(other)
    assert asyncio.all_tasks() == before


async def test_a_race_goes_on_when_one_server_is_not_there(
    http: ModelHttp, server: LlmServer, other: LlmServer
) -> None:
    async with LlmServer() as dead:
        pass
    lab = Lab(http, dead, other)
    other.script(says("hello", wait=0.2))
    said, told = await listen(lab.router("hedge"))
    assert (said, len(told), told[0].startswith("lab1/m: 'lab1' cannot be reached")) == (
        "hello",
        1,
        True,
    )


async def test_when_every_server_fails_each_is_named(
    lab: Lab, server: LlmServer, other: LlmServer
) -> None:
    server.script(fails(401, "who are you?"))
    other.script(*[fails(503, "overloaded")] * 4)
    with pytest.raises(ProviderError) as failed:
        await listen(lab.router("lane"))
    assert failed.value.message.splitlines() == [
        "None of 2 models answered:",
        "- lab1/m: 'lab1' answered 401: who are you? "
        "(check the key of 'lab1': it is missing, wrong or may not use this model)",
        "- lab2/m: 'lab2' answered 503: overloaded "
        "(the server is in trouble: try again, or choose another model)",
    ]


async def test_a_server_that_lets_nobody_in_is_knocked_at_once(other: LlmServer) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, ExitStack() as waiting:
        for _ in range(3):  # more than the backlog holds: whoever comes next gets no answer
            knocking = waiting.enter_context(socket.socket())
            knocking.setblocking(False)
            knocking.connect_ex(full.getsockname())
        async with ModelHttp(HttpTimeouts(connect=0.2, read=5)) as http:
            lab = Lab(http, other, other)
            lab.slots[0].provider = lab.retrying(http, f"http://127.0.0.1:{full.getsockname()[1]}")
            other.script(says("hello"))
            said, told = await listen(lab.chain)
    assert (said, lab.sleep.seconds, len(told)) == ("hello", [], 1)
    assert "no connection within 0.2 s" in told[0]
