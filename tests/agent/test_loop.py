from __future__ import annotations

import logging
from collections.abc import Sequence

import anyio
import pytest

from octo_lab.agent.limits import Limits
from octo_lab.agent.loop import LOST, Ending, TurnInput
from octo_lab.core.errors import (
    BadRequest,
    ContentFiltered,
    ProviderError,
    RateLimited,
    SessionMoved,
    StreamCut,
)
from octo_lab.core.events import (
    IterationStarted,
    LimitReached,
    Replied,
    ToolFinished,
    ToolQueued,
    ToolStarted,
    TurnBegan,
    TurnEnded,
)
from octo_lab.core.messages import ChatRequest, Message, ProviderState, ToolSpec, Usage
from octo_lab.core.stream import (
    Done,
    ReasoningDelta,
    StateKept,
    StreamEvent,
    TextDelta,
    ToolCalled,
    UsageReported,
)
from octo_lab.testing.providers import ScriptedApprover, ScriptedProvider, calls, says
from octo_lab.testing.transcripts import transcript_faults
from tests.agent.turns import CRASH, ECHO, FAIL, HANG, INPUT, SLOW, USER, Turn, call, tool

pytestmark = pytest.mark.anyio

ONE = Usage(requests=1)


async def test_an_answer_without_calls_ends_the_turn_and_is_left_to_the_caller() -> None:
    usage = Usage(output_tokens=2, requests=1)
    turn = Turn(ScriptedProvider(says("Hel", "lo", usage=usage)))

    ending = await turn(TurnInput(system="", history=(), user=USER, id="t7"))

    answer = Message(role="assistant", content="Hello")
    assert ending == Ending(reason="end_turn", usage=usage, final=(answer,))
    assert turn.kept == []
    *events, end = turn.events
    assert events == [
        TurnBegan("t7"),
        IterationStarted(1),
        TextDelta("Hel"),
        TextDelta("lo"),
        UsageReported(usage),
        Replied(number=1, text="Hello", calls=0),
    ]
    assert isinstance(end, TurnEnded)
    assert end == TurnEnded(ok=True, stopped=False, iterations=1, seconds=end.seconds)


async def test_a_step_is_kept_before_the_model_is_asked_again() -> None:
    asked = call("echo", '{"text": "42"}')
    provider = ScriptedProvider(calls(asked, text="Let me see."), says("It is 42."))
    turn = Turn(provider, ECHO)

    ending = await turn()

    [(said, result)] = turn.kept
    assert said == Message(role="assistant", content="Let me see.", tool_calls=(asked,))
    assert (result.content, result.tool_call_id, result.outcome) == ("42", "1", "ok")
    system = Message(role="system", content="be octo")
    assert provider.requests[1].messages == [system, USER, said, result]
    assert ending.final == (Message(role="assistant", content="It is 42."),)
    assert [type(event) for event in turn.events] == [
        TurnBegan,
        IterationStarted,
        TextDelta,
        ToolQueued,
        UsageReported,
        Replied,
        ToolStarted,
        ToolFinished,
        IterationStarted,
        TextDelta,
        UsageReported,
        Replied,
        TurnEnded,
    ]


async def test_the_request_holds_everything_the_turn_was_given() -> None:
    provider = ScriptedProvider(says("{}"))
    old = Message(role="user", content="before")
    turn = TurnInput(
        system=" ",
        history=[old],
        user=USER,
        temperature=0.5,
        max_tokens=7,
        response_schema={"type": "object"},
        stop=("END",),
    )

    await Turn(provider, ECHO)(turn)

    assert provider.requests == [
        ChatRequest(
            messages=[old, USER],
            tools=[ToolSpec(name="echo", description="echo", schema={"type": "object"})],
            temperature=0.5,
            max_tokens=7,
            response_schema={"type": "object"},
            stop=("END",),
        )
    ]


async def test_calls_run_side_by_side_and_their_results_keep_the_order() -> None:
    both = anyio.Event()
    order: list[str] = []

    async def first(ctx: object, args: object) -> str:
        await both.wait()
        order.append("first")
        return "1"

    async def second(ctx: object, args: object) -> str:
        order.append("second")
        both.set()
        return "2"

    made = (call("first", id="a"), call("second", id="b"))
    turn = Turn(
        ScriptedProvider(calls(*made), says("ok")), tool("first", first), tool("second", second)
    )

    await turn()

    assert order == ["second", "first"]
    assert [(m.tool_call_id, m.content) for m in turn.kept[0][1:]] == [("a", "1"), ("b", "2")]


async def test_no_more_calls_run_at_once_than_allowed() -> None:
    running, most = 0, 0

    async def count(ctx: object, args: object) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await anyio.sleep(0.005)
        running -= 1
        return ""

    made = [call("count", id=str(n)) for n in range(10)]
    turn = Turn(
        ScriptedProvider(calls(*made), says("ok")),
        tool("count", count),
        limits=Limits(parallel=3),
    )

    await turn()

    assert (most, len(turn.kept[0])) == (3, 11)


async def test_every_call_gets_one_result_whatever_happens(
    caplog: pytest.LogCaptureFixture,
) -> None:
    made = (
        call("echo", '{"text": "fine"}', id="a"),
        call("ecko", id="b"),
        call("echo", '{"text": ', id="c"),
        call("echo", "[1]", id="d"),
        call("fail", id="e"),
        call("crash", id="f"),
        call("slow", id="g"),
        call("echo", '{"text": "' + "x" * 200 + '"}', id="h"),
        call("echo", "", id="i"),
    )
    turn = Turn(
        ScriptedProvider(calls(*made), says("ok")),
        *(ECHO, FAIL, CRASH, SLOW),
        limits=Limits(arguments=100),
    )

    with caplog.at_level(logging.WARNING):
        ending = await turn()

    assert turn.outcomes == [
        ("a", "ok", "fine"),
        ("b", "error", "Error: No tool named 'ecko' (did you mean 'echo'?)"),
        (
            "c",
            "error",
            "Error: The arguments of 'echo' are no valid JSON: Expecting value: line 1 column 10 "
            "(char 9) (call it again with one JSON object)",
        ),
        (
            "d",
            "error",
            "Error: The arguments of 'echo' are list, not an object (call it again with one JSON "
            "object)",
        ),
        ("e", "error", "Error: no such thing (try another)"),
        ("f", "error", "Error: 'crash' raised ZeroDivisionError: division by zero"),
        ("g", "error", "Error: 'slow' was stopped: it took longer than 0.02 s"),
        (
            "h",
            "error",
            "Error: The arguments of 'echo' have 212 characters, 100 are allowed (send less at "
            "once)",
        ),
        ("i", "ok", ""),
    ]
    assert transcript_faults(turn.stored(*ending.final)) == []
    assert turn.kept[0][0].tool_calls[2].arguments == '{"invalid_arguments": "{\\"text\\": "}'
    assert "'crash' raised an error of its own" in caplog.text


async def test_calls_without_an_id_of_their_own_are_given_one() -> None:
    made = (call("echo", id=""), call("echo", id="x"), call("echo", id="x"))
    turn = Turn(ScriptedProvider(calls(*made), calls(*made), says("ok")), ECHO)

    ending = await turn()

    assert transcript_faults(turn.stored(*ending.final)) == []
    assert [m.tool_call_id for step in turn.kept for m in step[1:]] == [
        "call_1",
        "x",
        "call_3",
        "call_4",
        "call_5",
        "call_6",
    ]


async def test_lone_surrogates_are_cleaned_and_split_pairs_joined() -> None:
    made = call("echo", '{"text": "\\ud83d"}')
    turn = Turn(
        ScriptedProvider(calls(made, text="\udc80"), says("\ud83d", "\ude00")),
        ECHO,
    )

    ending = await turn()

    said, result = turn.kept[0]
    assert (said.content, result.content) == ("�", "�")
    assert ending.final[0].content == "😀"


async def test_an_output_of_50_mb_is_bounded_with_head_and_tail() -> None:
    async def flood(ctx: object, args: object) -> str:
        return "head" + "x" * 50_000_000 + "tail"

    turn = Turn(ScriptedProvider(calls(call("flood")), says("ok")), tool("flood", flood))

    await turn()

    content = turn.kept[0][1].content
    assert len(content) < 50_100
    assert (content[:5], content[-5:]) == ("headx", "xtail")
    assert "characters omitted" in content


async def test_a_denied_call_says_so_and_does_not_run() -> None:
    ran: list[str] = []

    async def danger(ctx: object, args: object) -> str:
        ran.append("ran")
        return ""

    approver = ScriptedApprover("deny", "once")
    made = (call("danger", '{"a": 1}', id="a"), call("danger", id="b"))
    turn = Turn(
        ScriptedProvider(calls(*made), says("ok")),
        tool("danger", danger, asks=True),
        approver=approver,
    )

    await turn()

    assert turn.outcomes == [
        (
            "a",
            "denied",
            "Error: The use of 'danger' was denied (do not try it again in this turn; go on "
            "without it, or say what you need)",
        ),
        ("b", "ok", ""),
    ]
    assert ran == ["ran"]
    assert [(q.scope, q.detail, q.risk) for q in approver.questions] == [
        ("danger", "{'a': 1}", "read"),
        ("danger", "{}", "read"),
    ]
    started = [event.call_id for event in turn.events if isinstance(event, ToolStarted)]
    assert started == ["b"]


async def test_a_tool_of_another_channel_does_not_run() -> None:
    async def never(ctx: object, args: object) -> str:
        raise AssertionError

    turn = Turn(
        ScriptedProvider(calls(call("python")), says("ok")),
        tool("python", never, only="notebook"),
    )

    await turn()

    assert turn.outcomes == [
        ("1", "denied", "Error: 'python' may not run for a turn from 'test'"),
    ]


async def test_the_ending_says_why_the_answer_stopped() -> None:
    ending = await Turn(ScriptedProvider(says("so far", reason="stop_sequence")))()

    final = (Message(role="assistant", content="so far"),)
    assert ending == Ending(reason="stop_sequence", usage=ONE, final=final)


async def test_a_call_that_was_announced_and_did_not_come_is_asked_for_once() -> None:
    announced = says("I look.", reason="tool_use")
    provider = ScriptedProvider(announced, calls(call("echo")), announced)
    turn = Turn(provider, ECHO)

    ending = await turn()

    assert provider.requests[1].messages[-2:] == [
        Message(role="assistant", content="I look."),
        Message(role="user", content=LOST),
    ]
    assert turn.kept[0] == (Message(role="assistant", content="I look."),)
    assert (ending.reason, ending.final[0].content) == ("end_turn", "I look.")
    assert turn.outcomes == [("1", "ok", "")]


AT_ONCE = Limits(empty_waits=(0.0, 0.0, 0.0))


async def test_an_empty_answer_is_asked_for_again() -> None:
    provider = ScriptedProvider(says(" \n"), says(reason="tool_use"), says("now"))
    turn = Turn(provider, limits=AT_ONCE)

    ending = await turn()

    assert ending == Ending(
        reason="end_turn",
        usage=Usage(requests=3),
        final=(Message(role="assistant", content="now"),),
    )
    assert provider.requests[0] == provider.requests[1] == provider.requests[2]


NOTHING: list[StreamEvent] = [ReasoningDelta("hm"), Done("end_turn")]


async def test_five_empty_answers_end_with_a_notice_and_no_blank_message() -> None:
    provider = ScriptedProvider(says(), NOTHING, says(), NOTHING, NOTHING)

    ending = await Turn(provider, limits=AT_ONCE)()

    assert ending == Ending(
        reason="end_turn", note="The model gave an empty answer.", usage=Usage(requests=2)
    )


async def test_the_last_time_an_empty_answer_is_asked_for_in_one_piece() -> None:
    provider = ScriptedProvider(*[NOTHING] * 4, says("whole"))

    ending = await Turn(provider, limits=AT_ONCE)()

    assert [request.streamed for request in provider.requests] == [True] * 4 + [False]
    assert ending.final == (Message(role="assistant", content="whole"),)


async def test_a_server_that_only_streams_leaves_the_answer_empty() -> None:
    provider = ScriptedProvider(*[NOTHING] * 4, BadRequest("this server only streams"))

    ending = await Turn(provider, limits=AT_ONCE)()

    assert (ending.note, ending.final) == ("The model gave an empty answer.", ())


async def test_an_answer_that_a_filter_held_back_is_asked_for_again() -> None:
    filtered = ContentFiltered("filtered")

    ending = await Turn(ScriptedProvider(filtered, says("fine")), limits=AT_ONCE)()
    assert ending.final == (Message(role="assistant", content="fine"),)

    with pytest.raises(ContentFiltered):
        await Turn(ScriptedProvider(*[filtered] * 5), limits=AT_ONCE)()
    with pytest.raises(ContentFiltered):
        await Turn(ScriptedProvider([TextDelta("half"), filtered]), limits=AT_ONCE)()


async def test_the_iteration_limit_ends_the_turn_with_a_note() -> None:
    provider = ScriptedProvider(*[calls(call("echo", id=str(n))) for n in range(5)])
    turn = Turn(provider, ECHO, limits=Limits(iterations=2))

    ending = await turn()

    assert ending == Ending(
        reason="iterations",
        note='Stopped at the limit of 2 model calls for one turn. Say "go on" to continue.',
        usage=Usage(requests=2),
    )
    assert (len(provider.requests), len(turn.kept)) == (2, 2)
    assert LimitReached(kind="iterations", used=2, limit=2) in turn.events


async def test_the_token_limit_ends_the_turn_after_the_step_that_passed_it() -> None:
    used = Usage(input_tokens=60, output_tokens=5, requests=1)
    script = [calls(call("echo", id=str(n)), usage=used) for n in range(5)]
    turn = Turn(ScriptedProvider(*script), ECHO, limits=Limits(tokens=100))

    ending = await turn()

    assert ending == Ending(
        reason="tokens",
        note='Stopped at the limit of 100 tokens for one turn. Say "go on" to continue.',
        usage=used + used,
    )
    assert len(turn.kept) == 2
    assert LimitReached(kind="tokens", used=130, limit=100) in turn.events


async def test_the_wall_clock_ends_a_hanging_stream_and_keeps_what_came() -> None:
    provider = ScriptedProvider([TextDelta("so "), TextDelta("far"), anyio.sleep_forever])
    turn = Turn(provider, limits=Limits(seconds=0.05))

    ending = await turn()

    assert ending == Ending(
        reason="seconds",
        note='Stopped at the limit of 0.05 seconds for one turn. Say "go on" to continue.',
        final=(Message(role="assistant", content="so far"),),
    )
    assert provider.closed == 1


async def test_the_wall_clock_ends_hanging_tools_and_says_what_became_of_each() -> None:
    made = (call("hang", id="a"), call("echo", '{"text": "ok"}', id="b"), call("hang", id="c"))
    turn = Turn(ScriptedProvider(calls(*made)), HANG, ECHO, limits=Limits(seconds=0.05, parallel=2))

    ending = await turn()

    assert transcript_faults(ending.final) == []
    assert [m.content for m in ending.final[1:]] == [
        "Error: Broken off, effects are unknown: the turn ran out of time.",
        "ok",
        "Error: Broken off, effects are unknown: the turn ran out of time.",
    ]
    broken = ending.final[1].content
    assert turn.outcomes == [
        ("a", "cancelled", broken),
        ("b", "ok", "ok"),
        ("c", "cancelled", broken),
    ]


async def test_waiting_for_a_person_does_not_use_up_the_turns_time() -> None:
    class Thinking:
        async def approve(self, question: object) -> str:
            await anyio.sleep(0.3)
            return "once"

    turn = Turn(
        ScriptedProvider(calls(call("ask", id="a"), call("ask", id="b")), says("ok")),
        tool("ask", ECHO.run, asks=True),
        limits=Limits(seconds=0.2),
        approver=Thinking(),  # type: ignore[arg-type]
    )

    assert (await turn()).reason == "end_turn"


@pytest.mark.parametrize("error", [RateLimited("slow down"), StreamCut("cut")])
async def test_a_provider_error_propagates_and_the_text_so_far_is_kept(
    error: ProviderError,
) -> None:
    turn = Turn(
        ScriptedProvider(calls(call("echo")), [TextDelta("It "), TextDelta("is"), error]), ECHO
    )

    with pytest.raises(type(error)) as caught:
        await turn()

    assert caught.value is error
    assert len(turn.kept) == 1
    assert turn.transcript.partial == "It is"
    assert turn.transcript.close("failed") == (Message(role="assistant", content="It is"),)
    assert turn.transcript.usage == Usage(requests=1)


async def test_a_stream_that_just_ends_is_a_cut_one_and_its_calls_never_run() -> None:
    turn = Turn(ScriptedProvider([ToolCalled(call("echo"))]), ECHO)

    with pytest.raises(StreamCut):
        await turn()

    assert turn.outcomes == [("1", "cancelled", "Error: Not run: the turn failed.")]
    said, result = turn.transcript.close("failed")
    assert (said.tool_calls, result.content) == (
        (call("echo"),),
        "Error: Not run: the turn failed.",
    )


async def test_what_the_provider_wants_back_travels_with_the_message() -> None:
    state = ProviderState(provider="p", model="m", blob="sig")
    turn = Turn(
        ScriptedProvider(
            [ReasoningDelta("be"), ReasoningDelta("cause"), TextDelta("so"), StateKept(state),
             Done("end_turn")]
        )
    )  # fmt: skip

    ending = await turn()

    assert ending.final == (
        Message(role="assistant", content="so", reasoning="because", provider_state=state),
    )


async def test_a_step_that_cannot_be_kept_fails_the_turn() -> None:
    turn = Turn(ScriptedProvider(calls(call("echo"))), ECHO)

    async def moved(step: Sequence[Message]) -> None:
        raise SessionMoved("stale")

    with pytest.raises(SessionMoved):
        await turn.agent.run(INPUT, turn.transcript, turn.events.append, moved)

    assert transcript_faults(turn.transcript.close("failed")) == []


async def test_a_stop_while_a_step_is_stored_does_not_store_it_twice() -> None:
    turn = Turn(ScriptedProvider(calls(call("echo")), says("never")), ECHO)

    with anyio.CancelScope() as scope:

        async def slow_keep(step: Sequence[Message]) -> None:
            scope.cancel()
            await anyio.sleep(0.01)
            turn.kept.append(tuple(step))

        await turn.agent.run(INPUT, turn.transcript, turn.events.append, slow_keep)

    assert scope.cancelled_caught
    assert len(turn.kept) == 1
    assert turn.transcript.close("cancelled") == ()


async def test_a_long_answer_costs_one_emit_per_chunk() -> None:
    turn = Turn(ScriptedProvider(says(*map(str, range(20_000)))))

    ending = await turn()

    assert ending.final[0].content == "".join(map(str, range(20_000)))
    assert len(turn.events) == 20_005
