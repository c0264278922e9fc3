from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing

import pytest

from octo_lab.core.errors import (
    AuthRejected,
    OctoError,
    QuotaExceeded,
    RateLimited,
    StreamCut,
    TimedOut,
    Unavailable,
)
from octo_lab.core.messages import ChatRequest, Message, Usage
from octo_lab.core.stream import Done, Remarked, StreamEvent, TextDelta, UsageReported
from octo_lab.llm.provider import Events, collect
from octo_lab.llm.resilience.retry import Retrying, RetryPolicy

pytestmark = pytest.mark.anyio

REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])
HI: list[StreamEvent | OctoError] = [TextDelta("hi"), Done("end_turn")]
Script = list[StreamEvent | OctoError]


class Playing:
    """A provider that plays one script after the other."""

    name = "played"
    model = "m"

    def __init__(self, *scripts: Script) -> None:
        self.scripts = list(scripts)

    async def stream(self, _request: ChatRequest) -> Events:
        for step in self.scripts.pop(0):
            if isinstance(step, OctoError):
                raise step
            yield step


class Sleeping:
    """Sleeps for no time and remembers for how long."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def retrying(
    *scripts: Script, chance: Callable[[], float] = lambda: 1.0
) -> tuple[Retrying, Sleeping]:
    sleep = Sleeping()
    return Retrying(Playing(*scripts), sleep=sleep, chance=chance), sleep


async def test_it_asks_again_and_waits_longer_each_time() -> None:
    provider, sleep = retrying([Unavailable("1")], [StreamCut("2")], [RateLimited("3")], HI)
    message, _ = await collect(provider.stream(REQUEST))
    assert (message.content, sleep.seconds) == ("hi", [1.0, 2.0, 4.0])
    assert (provider.name, provider.model) == ("played", "m")


async def test_it_gives_up_after_three_retries() -> None:
    failing: list[Script] = [[Unavailable(str(n))] for n in range(4)]
    provider, sleep = retrying(*failing)
    with pytest.raises(Unavailable, match="3"):
        await collect(provider.stream(REQUEST))
    assert len(sleep.seconds) == 3


async def test_once_something_was_shown_an_error_is_final() -> None:
    provider, sleep = retrying([TextDelta("h"), StreamCut("cut")], HI)
    with pytest.raises(StreamCut):
        await collect(provider.stream(REQUEST))
    assert sleep.seconds == []


async def test_an_error_that_no_retry_mends_is_final() -> None:
    provider, sleep = retrying([AuthRejected("no")], HI)
    with pytest.raises(AuthRejected):
        await collect(provider.stream(REQUEST))
    assert sleep.seconds == []


async def test_the_servers_wish_is_never_undercut() -> None:
    provider, sleep = retrying([RateLimited("", retry_after=7.0)], HI, chance=lambda: 0.0)
    await collect(provider.stream(REQUEST))
    assert sleep.seconds == [7.0]


async def test_a_wish_beyond_the_limit_is_given_up_at_once() -> None:
    provider, sleep = retrying([RateLimited("", retry_after=3600.0)], HI)
    with pytest.raises(RateLimited):
        await collect(provider.stream(REQUEST))
    assert sleep.seconds == []


def test_clients_that_failed_together_are_spread() -> None:
    policy = RetryPolicy()
    assert [policy.delay(2, chance) for chance in (0.0, 0.5)] == [0.0, 2.0]
    assert [policy.delay(0, chance, 3.0) for chance in (0.0, 0.5)] == [3.0, 3.5]
    assert RetryPolicy(max_retries=99).delay(50, 1.0) == 60.0


async def test_a_wait_that_a_person_notices_is_remarked() -> None:
    provider, _ = retrying(
        [RateLimited("slow down", retry_after=7.0)], [Unavailable("'x' answered 500: oh")], HI
    )
    async with aclosing(provider.stream(REQUEST)) as events:
        told = [event.text async for event in events if isinstance(event, Remarked)]
    assert told == [
        "played/m: rate limited; asking again in 8 s",
        "played/m: 'x' answered 500: oh; asking again in 2 s",
    ]


async def test_a_short_wait_is_not_remarked() -> None:
    provider, sleep = retrying([Unavailable("1")], HI, chance=lambda: 0.5)
    async with aclosing(provider.stream(REQUEST)) as events:
        assert [event async for event in events] == HI
    assert sleep.seconds == [0.5]


async def test_what_was_spent_and_remarked_is_not_yet_an_answer() -> None:
    spent: Script = [Remarked("one moment"), UsageReported(Usage(requests=1)), StreamCut("cut")]
    provider, _ = retrying(spent, HI)
    message, usage = await collect(provider.stream(REQUEST))
    assert (message.content, usage.requests) == ("hi", 1)


async def test_silence_is_not_waited_for_again() -> None:
    provider, sleep = retrying([TimedOut("silent")], HI)
    with pytest.raises(TimedOut):
        await collect(provider.stream(REQUEST))
    assert sleep.seconds == []


async def test_no_credit_is_asked_for_once() -> None:
    provider, sleep = retrying([QuotaExceeded("arrears")], HI)
    with pytest.raises(QuotaExceeded):
        await collect(provider.stream(REQUEST))
    assert sleep.seconds == []


def test_all_waits_together_stay_within_the_budget() -> None:
    policy = RetryPolicy(budget=10.0)
    assert [policy.delay(1, 0.0, 3.0, waited) for waited in (0.0, 7.0, 7.5)] == [3.0, 3.0, None]


async def test_what_was_waited_before_counts() -> None:
    busy: Script = [RateLimited("busy", retry_after=3.0)]
    sleep = Sleeping()
    policy = RetryPolicy(budget=7.0)
    provider = Retrying(Playing(*[busy] * 4), policy, sleep=sleep, chance=lambda: 0.0)
    with pytest.raises(RateLimited):
        await collect(provider.stream(REQUEST))
    assert sleep.seconds == [3.0, 3.0]
