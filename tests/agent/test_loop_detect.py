from __future__ import annotations

import time

import pytest

from octo_lab.agent.ending import LOOP
from octo_lab.agent.limits import Limits
from octo_lab.agent.loop import Ending
from octo_lab.agent.loop_detect import (
    Cycles,
    LoopWatch,
    Runaway,
    is_periodic,
    repeats_itself,
    signature,
)
from octo_lab.core.events import Noticed
from octo_lab.core.messages import Message, ToolCall, Usage
from octo_lab.testing.providers import ScriptedProvider, calls, says
from octo_lab.testing.transcripts import transcript_faults
from tests.agent.turns import ECHO, USER, Turn, call, tool


@pytest.mark.parametrize(
    ("steps", "found"),
    [
        ("aaa", [0, 0, 0]),
        ("aaaa", [0, 0, 0, 1]),
        ("baaa", [0, 0, 0, 1]),
        ("ababab", [0, 0, 0, 0, 0, 2]),
        ("abcabcabc", [0] * 8 + [3]),
        ("abcdabcdabcd", [0] * 12),
        ("aabaab", [0] * 6),
    ],
)
def test_a_cycle_is_seen_at_its_third_repetition(steps: str, found: list[int]) -> None:
    assert list(map(Cycles().feed, steps)) == found


def test_calls_are_the_same_when_they_ask_the_same() -> None:
    one, other = call("a", '{"x": 1, "y": 2}', id="1"), call("a", '{"y":2,"x":1}', id="2")

    assert signature(one) == signature(other)
    assert len({signature(one), signature(call("b", one.arguments)), signature(call("a"))}) == 3
    assert signature(call("a", "{bad \ud800")) != signature(call("a", "{bad"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I am sorry. " * 30, True),
        ("x" * 300, True),
        ("x" * 199, False),
        ("".join(map(str, range(1000))), False),
        ("A row of a table, with its own words: " + "".join(map(chr, range(300, 600))), False),
    ],
)
def test_text_that_says_the_same_again_and_again_is_seen(text: str, expected: bool) -> None:
    assert repeats_itself(text) is expected


def test_a_text_that_runs_away_is_seen_after_2000_characters_of_it() -> None:
    runaway = Runaway()

    first = next(n for n in range(10_000) if runaway.feed("again and again, "))

    assert 1900 < first * 17 < 2600


def test_a_table_whose_rows_end_alike_does_not_run_away() -> None:
    runaway = Runaway()
    rows = [f"| {n * n} | {'x' * (n % 7)} | 0.00 | 0.00 | 0.00 | 0.00 |\n" for n in range(500)]

    assert not any(map(runaway.feed, rows))
    assert repeats_itself("".join(rows))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("ab" * 250, True), ("x" * 500, True), ("I am sorry. " * 41 + "I am sor", True),
     (("long" * 30 + "!") * 4 + "long" * 4, True), ("".join(map(str, range(1000)))[:500], False),
     ("a" * 400 + "b" * 100, False), ("b" * 100 + "a" * 400, False)],
)  # fmt: skip
def test_a_text_is_periodic_when_it_is_one_piece_at_least_four_times(
    text: str, expected: bool
) -> None:
    assert is_periodic(text) is expected


def test_words_that_repeat_beside_a_call_are_told_and_end_no_turn() -> None:
    watch = LoopWatch()

    told = [watch.step(step("no " * 100, call("a", f'{{"n": {n}}}'))) for n in range(2)]

    assert all("You have said the same" in said for said in told)
    assert not watch.stuck


def test_watching_a_text_costs_the_same_per_character_however_long_it_is() -> None:
    def seconds(chunks: int) -> float:
        runaway, began = Runaway(), time.process_time()
        for n in range(chunks):
            runaway.feed(f"{n} things ")
        return time.process_time() - began

    seconds(1000)
    assert seconds(100_000) < 30 * max(seconds(10_000), 1e-3)


def step(text: str, *made: ToolCall, output: str = "same") -> list[Message]:
    results = [Message(role="tool", tool_call_id=m.id, content=output) for m in made]
    return [Message(role="assistant", content=text, tool_calls=made), *results]


def test_a_poll_whose_result_changes_is_told_and_never_ended() -> None:
    watch = LoopWatch()

    told = [bool(watch.step(step("", call("poll"), output=str(n)))) for n in range(20)]

    assert (told.count(True), watch.stuck) == (5, False)


def test_an_echo_of_the_same_words_is_seen_whatever_is_called_beside_it() -> None:
    watch = LoopWatch()
    words = "I could not read the summary of the conversation, so I try to read it again now, dear."

    told = [watch.step(step(words, call("read", f'{{"n": {n}}}'))) for n in range(8)]

    assert [bool(said) for said in told] == [False, False, False, True] * 2
    assert "You have said the same several times" in told[3]
    assert watch.stuck


@pytest.mark.anyio
async def test_a_model_that_repeats_a_call_is_told_so_then_ended() -> None:
    provider = ScriptedProvider(*[calls(call("echo", '{"text": "x"}')) for _ in range(20)])
    turn = Turn(provider, ECHO)

    ending = await turn()

    assert ending == Ending(reason="loop", note=LOOP, usage=Usage(requests=8))
    assert transcript_faults(turn.stored()) == []
    nudged = [n for n, r in enumerate(provider.requests) if r.messages[-1].role == "user"]
    assert nudged == [0, 4]
    assert "You have made the same call three times" in provider.requests[4].messages[-1].content
    assert turn.events.count(Noticed("The model repeats itself and was told so.")) == 1


@pytest.mark.anyio
async def test_a_model_that_mends_its_ways_goes_on() -> None:
    same = [calls(call("echo", '{"text": "x"}')) for _ in range(4)]
    turn = Turn(ScriptedProvider(*same, says("I see.")), ECHO)

    ending = await turn()

    assert ending.final == (Message(role="assistant", content="I see."),)
    assert "octo_lab" not in str(turn.stored(*ending.final))


@pytest.mark.anyio
async def test_an_answer_that_runs_away_is_ended_and_asked_for_once_more() -> None:
    provider = ScriptedProvider(says(*["I am sorry. "] * 100_000), says("Sorry."))
    turn = Turn(provider)

    ending = await turn()

    assert ending.final == (Message(role="assistant", content="Sorry."),)
    assert provider.closed == 1
    assert len(turn.events) < 300


@pytest.mark.anyio
async def test_a_second_runaway_ends_the_turn_with_what_it_said() -> None:
    away = says(*["I am sorry. "] * 1000)
    turn = Turn(ScriptedProvider(away, away))

    ending = await turn()

    assert (ending.reason, ending.note) == ("loop", LOOP)
    assert transcript_faults([USER, *ending.final]) == []


@pytest.mark.anyio
async def test_many_different_calls_are_no_loop() -> None:
    async def count(ctx: object, args: object) -> str:
        return "0"

    script = [calls(call("count", f'{{"n": {n}}}')) for n in range(49)]
    turn = Turn(ScriptedProvider(*script, says("ok")), tool("count", count), limits=Limits())

    assert (await turn()).reason == "end_turn"
