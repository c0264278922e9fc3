from __future__ import annotations

from functools import partial

import anyio
import pytest

from octo_lab.core.errors import (
    AuthRejected,
    BadRequest,
    ConfigError,
    ContentFiltered,
    ModelNotFound,
    ProviderError,
    QuotaExceeded,
    RateLimited,
    StreamCut,
    TimedOut,
    Unavailable,
)
from octo_lab.core.stream import Done, Remarked, TextDelta
from octo_lab.llm.resilience.failover import Chained
from octo_lab.llm.resilience.policy import Patience
from octo_lab.testing.providers import ScriptedProvider, Step, says
from tests.llm.resilience.models import (
    REQUEST,
    VIRTUAL,
    Refusing,
    after,
    drain,
    listen,
    scripted,
    slots,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> object:
    return VIRTUAL


def chain(*providers: ScriptedProvider, patience: Patience = Patience()) -> Chained:
    return Chained(slots(*providers), patience)


async def test_the_first_answers_while_it_is_well() -> None:
    first, second = scripted("a", says("one"), says("two")), scripted("b")
    both = chain(first, second)
    assert [await listen(both), await listen(both)] == [("one", []), ("two", [])]
    assert (both.name, both.model) == ("a", "m")


@pytest.mark.parametrize(
    "kind", [Unavailable, RateLimited, AuthRejected, QuotaExceeded, BadRequest]
)
async def test_the_next_takes_over_and_the_person_is_told(kind: type[ProviderError]) -> None:
    both = chain(scripted("a", kind("'a' is broken")), scripted("b", says("hello")))
    assert await listen(both) == ("hello", ["a/m: 'a' is broken; b/m answers"])


async def test_one_that_is_set_up_wrongly_is_passed_over() -> None:
    wrong = Refusing(ConfigError("No model file 'x'", hint="name one"))
    told = "m/m: No model file 'x'; b/m answers"
    assert await listen(Chained(slots(wrong, scripted("b", says("hi"))))) == ("hi", [told])
    with pytest.raises(ProviderError, match="None of 2 models answered:") as failed:
        await listen(Chained(slots(scripted("a", AuthRejected("no key")), wrong)))
    assert failed.value.message.endswith("- a/m: no key\n- m/m: No model file 'x' (name one)")


@pytest.mark.parametrize("kind", [ContentFiltered, ModelNotFound])
async def test_what_no_other_mends_is_final(kind: type[ProviderError]) -> None:
    second = scripted("b")
    with pytest.raises(kind):
        await listen(chain(scripted("a", kind("no")), second))
    assert second.requests == []


async def test_nothing_is_said_twice_once_the_answer_began() -> None:
    second = scripted("b")
    with pytest.raises(StreamCut):
        await listen(chain(scripted("a", [TextDelta("Hel"), StreamCut("cut")]), second))
    assert second.requests == []


async def test_a_remark_does_not_begin_an_answer() -> None:
    first = scripted("a", [Remarked("wait"), StreamCut("cut")])
    said, told = await listen(chain(first, scripted("b", says("x"))))
    assert (said, told) == ("x", ["wait", "a/m: cut; b/m answers"])


async def test_a_stream_that_ends_without_its_end_is_a_failure() -> None:
    both = chain(scripted("a", []), scripted("b", says("x")))
    assert await listen(both) == (
        "x",
        ["a/m: The answer of 'a/m' ended in the middle; b/m answers"],
    )


async def test_the_error_names_every_failure_in_a_line() -> None:
    three = chain(
        scripted("a", Unavailable("down\nfor good")),
        scripted("b", RateLimited("slow", retry_after=9.0)),
        scripted("c", AuthRejected("no key", hint="check the key")),
    )
    with pytest.raises(ProviderError) as failed:
        await listen(three)
    assert failed.value.message.splitlines() == [
        "None of 3 models answered:",
        "- a/m: down",
        "- b/m: slow",
        "- c/m: no key (check the key)",
    ]
    assert (failed.value.hint, failed.value.retry_after) == ("", 9.0)
    assert isinstance(failed.value.__cause__, ExceptionGroup)
    assert [type(error) for error in failed.value.__cause__.exceptions] == [
        Unavailable,
        RateLimited,
        AuthRejected,
    ]


async def test_the_same_kind_of_failure_everywhere_keeps_its_kind() -> None:
    with pytest.raises(QuotaExceeded):
        await listen(chain(scripted("a", QuotaExceeded("1")), scripted("b", QuotaExceeded("2"))))


async def test_one_that_failed_three_times_is_left_alone_then_tried_again() -> None:
    first = scripted("a", *[Unavailable("down")] * 3)
    both = chain(first, scripted("b", *[says("b")] * 5))
    for _ in range(4):
        await listen(both)
    assert len(first.requests) == 3

    await anyio.sleep(30.0)
    first.add(says("a"), says("a"))
    assert [await listen(both) for _ in range(2)] == [("a", []), ("a", [])]


async def test_only_one_request_at_a_time_tries_a_recovering_one() -> None:
    first = scripted("a", *[Unavailable("down")] * 3, after(5.0, "a"))
    both = chain(first, scripted("b", *[says("b")] * 4))
    for _ in range(3):
        await listen(both)
    await anyio.sleep(30.0)
    answers: list[str] = []

    async def ask() -> None:
        answers.append((await listen(both))[0])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        tasks.start_soon(ask)
    assert answers == ["b", "a"]


async def test_when_all_are_failing_the_least_failed_is_asked() -> None:
    down: list[ProviderError] = [Unavailable("down")] * 4
    first, second = scripted("a", *down), scripted("b", *down[:3])
    both = chain(first, second)
    for _ in range(3):
        with pytest.raises(Unavailable):
            await listen(both)
    second.add(says("b"))
    both.slots[0].circuit.fail()
    assert (await listen(both))[0] == "b"


async def test_a_refused_request_says_nothing_against_a_provider() -> None:
    first = scripted("a", *[BadRequest("too long")] * 3, says("fine"))
    both = chain(first, scripted("b", *[says("b")] * 3))
    for _ in range(3):
        await listen(both)
    assert (await listen(both))[0] == "fine"


async def test_a_silent_one_is_given_up_while_there_is_another() -> None:
    first = scripted("a", [anyio.sleep_forever])
    both = chain(first, scripted("b", says("b")), patience=Patience(total=100, each=20))
    assert await listen(both) == ("b", ["a/m: 'a/m' sent nothing for 20 s; b/m answers"])
    assert (anyio.current_time(), first.closed) == (20.0, 1)


async def test_no_answer_begins_later_than_the_whole_patience() -> None:
    silent = [scripted(name, [anyio.sleep_forever]) for name in "abc"]
    with pytest.raises(TimedOut) as failed:
        await listen(chain(*silent, patience=Patience(total=50, each=20)))
    assert anyio.current_time() == 50.0
    assert failed.value.message.count("sent nothing") == 3


async def test_an_answer_that_began_may_take_its_time() -> None:
    slow: Step = [TextDelta("a"), partial(anyio.sleep, 1000), TextDelta("b"), Done("end_turn")]
    both = chain(scripted("a", slow), scripted("b"))
    assert (await listen(both))[0] == "ab"


async def test_a_stopped_answer_counts_neither_way() -> None:
    both = chain(scripted("a", [TextDelta("a"), anyio.sleep_forever]), scripted("b"))
    with anyio.move_on_after(3):
        await drain(both.stream(REQUEST))
    first = both.metrics()[0]
    assert (first.calls, first.errors, first.state) == (0, 0, "closed")


async def test_every_slot_is_measured() -> None:
    both = chain(
        scripted("a", Unavailable("down"), after(2.0, "x", tokens=10)), scripted("b", says("y"))
    )
    await listen(both)
    await listen(both)
    first, second = both.metrics()
    assert (first.name, first.calls, first.errors, first.error_rate) == ("a/m", 2, 1, 0.5)
    assert (first.latency, first.p50, first.p95, first.throughput) == (2.0, 2.0, 2.0, 5.0)
    assert (second.calls, second.errors, second.cost) == (1, 0, None)


async def test_a_trial_that_was_stopped_leaves_the_next_one_its_chance() -> None:
    first = scripted("a", *[Unavailable("down")] * 3, [anyio.sleep_forever], says("a"))
    both = chain(first, scripted("b", *[says("b")] * 3))
    for _ in range(3):
        await listen(both)
    await anyio.sleep(30.0)
    with anyio.move_on_after(1.0):
        await listen(both)
    assert await listen(both) == ("a", [])
