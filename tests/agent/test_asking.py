"""One whole answer, whatever it takes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from octo_lab.agent.joint import GO_ON, Joint
from octo_lab.agent.limits import Limits
from octo_lab.agent.loop import Agent, Ending, TurnInput
from octo_lab.agent.ports import Compacted
from octo_lab.agent.transcript import Transcript
from octo_lab.core.errors import ContextOverflow, RateLimited
from octo_lab.core.events import Noticed, TurnEvent
from octo_lab.core.messages import ChatRequest, Message, ProviderState, ToolCall, Usage
from octo_lab.core.stream import Done, StateKept, StreamEvent, TextDelta
from octo_lab.testing.providers import ScriptedProvider, calls, says
from octo_lab.testing.transcripts import transcript_faults
from tests.agent.turns import ALLOW, ECHO, INPUT, USER, Turn, call, context

pytestmark = pytest.mark.anyio

CUT_NOTE = 'The answer was cut at its token limit. Say "go on" to continue.'


def shown(turn: Turn) -> str:
    return "".join(event.text for event in turn.events if isinstance(event, TextDelta))


async def test_a_cut_answer_is_continued_as_one_message() -> None:
    state = StateKept(ProviderState(provider="p", model="m", blob="first part"))
    cut: list[StreamEvent] = [TextDelta("Once upon"), state, Done("max_tokens")]
    provider = ScriptedProvider(cut, says(" a time", reason="max_tokens"), says(" it ended."))
    turn = Turn(provider)

    ending = await turn()

    whole = Message(role="assistant", content="Once upon a time it ended.")
    assert ending == Ending(reason="end_turn", usage=Usage(requests=2), final=(whole,))
    assert shown(turn) == whole.content
    asked = list(provider.requests[0].messages)
    assert provider.requests[2].messages == [
        *asked,
        Message(role="assistant", content="Once upon a time"),
        Message(role="user", content=GO_ON),
    ]


async def test_after_two_more_rounds_a_cut_answer_is_given_as_it_is() -> None:
    provider = ScriptedProvider(*[says(part, reason="max_tokens") for part in ("a", "b", "c")])

    ending = await Turn(provider)()

    assert ending == Ending(
        reason="max_tokens",
        note=CUT_NOTE,
        usage=Usage(requests=3),
        final=(Message(role="assistant", content="abc"),),
    )


async def test_an_answer_that_was_to_be_short_is_not_continued() -> None:
    turn = TurnInput(system="", history=(), user=USER, max_tokens=2)

    ending = await Turn(ScriptedProvider(says("so far", reason="max_tokens")))(turn)

    assert (ending.reason, ending.note) == ("max_tokens", CUT_NOTE)


async def test_what_came_is_kept_when_the_rest_does_not() -> None:
    turn = Turn(ScriptedProvider(says("half", reason="max_tokens"), RateLimited("slow down")))

    ending = await turn()

    assert ending.final == (Message(role="assistant", content="half"),)
    assert ending.reason == "max_tokens"
    assert Noticed("The rest of the answer did not come: slow down") in turn.events


async def test_a_call_in_the_continuation_is_made() -> None:
    provider = ScriptedProvider(
        says("I look ", reason="max_tokens"), calls(call("echo"), text="now."), says("ok")
    )
    turn = Turn(provider, ECHO)

    await turn()

    assert turn.kept[0][0] == Message(
        role="assistant", content="I look now.", tool_calls=(call("echo"),)
    )


async def test_a_call_that_was_cut_is_not_run_and_the_model_told_to_make_it_smaller() -> None:
    made = (call("echo", '{"text": "whole"}', id="a"), call("echo", '{"text": "ha', id="b"))
    cut = [*calls(*made)[:-1], Done("max_tokens")]
    turn = Turn(ScriptedProvider(cut, says("ok")), ECHO)

    ending = await turn()

    assert turn.outcomes == [
        ("a", "ok", "whole"),
        (
            "b",
            "error",
            "Error: Not run: your answer was cut at its length limit inside this call. Make it "
            "again with less at once, in several calls if need be.",
        ),
    ]
    assert transcript_faults(turn.stored(*ending.final)) == []


@pytest.mark.parametrize(
    ("before", "parts", "joined"),
    [
        ("The quick brown fox", [" jumps"], " jumps"),
        ("The quick brown fox", ["quick brown ", "fox jumps"], " jumps"),
        ("The quick brown fox", ["fox jumps"], "fox jumps"),
        ("abc " * 100, ["abc " * 100, "d"], "abc " * 50 + "d"),
        ("", ["new"], "new"),
    ],
)
def test_a_continuation_loses_what_it_repeats(
    before: str, parts: Sequence[str], joined: str
) -> None:
    joint = Joint(before)

    assert "".join(map(joint.feed, parts)) + joint.end() == joined


class Halving:
    """Sends less each time a server said that it was too much."""

    def __init__(self, *, helps: bool = True) -> None:
        self.asked: list[tuple[int, int]] = []
        self._helps = helps

    async def compact(self, request: ChatRequest, *, refused: int) -> Compacted:
        self.asked.append((len(request.messages), refused))
        if not refused or not self._helps:
            return Compacted(messages=request.messages)
        return Compacted(
            messages=request.messages[refused - 3 :], note="Older messages were left out."
        )


OLD = TurnInput(system="be octo", history=[USER, Message(role="assistant", content="x")], user=USER)


async def turn_with(
    provider: ScriptedProvider, compactor: Halving, turn: TurnInput = OLD
) -> tuple[Ending, list[TurnEvent]]:
    events: list[TurnEvent] = []
    agent = Agent(
        provider=provider, tools=[ECHO], approver=ALLOW, context=context, compactor=compactor
    )

    async def keep(step: Sequence[Message]) -> None:
        pass

    return await agent.run(turn, Transcript(), events.append, keep), events


async def test_an_input_that_is_too_long_is_compacted_and_sent_once_more() -> None:
    provider = ScriptedProvider(
        ContextOverflow("too long"), calls(call("echo")), ContextOverflow("again"), says("ok")
    )
    compactor = Halving()

    ending, events = await turn_with(provider, compactor)

    assert ending.final == (Message(role="assistant", content="ok"),)
    assert [len(request.messages) for request in provider.requests] == [4, 2, 2, 1]
    assert compactor.asked == [(4, 0), (4, 1), (6, 1), (6, 2)]
    assert events.count(Noticed("Older messages were left out.")) == 1


async def test_a_second_refusal_of_the_same_request_ends_the_turn() -> None:
    provider = ScriptedProvider(ContextOverflow("too long"), ContextOverflow("still too long"))

    with pytest.raises(ContextOverflow, match="still too long"):
        await turn_with(provider, Halving())


async def test_nothing_is_sent_twice_when_it_cannot_be_made_shorter() -> None:
    provider = ScriptedProvider(ContextOverflow("too long"))

    with pytest.raises(ContextOverflow):
        await turn_with(provider, Halving(helps=False))

    assert len(provider.requests) == 1


async def test_calls_that_were_written_as_text_are_made_and_not_shown() -> None:
    written = '<tool_call>\n{"name": "echo", "arguments": {"text": "hi"}}\n</tool_call>'
    provider = ScriptedProvider(says("I look.\n", written[:5], written[5:]), says("It is hi."))
    turn = Turn(provider, ECHO)

    ending = await turn()

    made = ToolCall(id="call_1", name="echo", arguments='{"text": "hi"}')
    assert turn.kept[0][0] == Message(role="assistant", content="I look.", tool_calls=(made,))
    assert shown(turn) == "I look.\nIt is hi."
    assert transcript_faults(turn.stored(*ending.final)) == []


async def test_a_written_call_of_no_known_tool_stays_text() -> None:
    written = '<tool_call>{"name": "rm", "arguments": {}}</tool_call>'
    turn = Turn(ScriptedProvider(says(written)), ECHO)

    ending = await turn()

    assert (ending.final[0].content, shown(turn)) == (written, written)


SCHEMA = {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}
TYPED = TurnInput(system="", history=(), user=USER, response_schema=SCHEMA)


async def test_an_answer_that_does_not_fit_its_schema_is_asked_for_once_more() -> None:
    provider = ScriptedProvider(says('{"a": "x"}'), says('{"a": 1}'))
    turn = Turn(provider)

    ending = await turn(TYPED)

    assert ending == Ending(
        reason="end_turn",
        usage=Usage(requests=2),
        final=(Message(role="assistant", content='{"a": 1}'),),
    )
    assert shown(turn) == '{"a": 1}'
    said, nudge = provider.requests[1].messages[-2:]
    assert said == Message(role="assistant", content='{"a": "x"}')
    assert "$.a: 'x' is not of type 'integer'" in nudge.content


async def test_a_second_answer_that_does_not_fit_is_given_with_a_note() -> None:
    turn = Turn(ScriptedProvider(says("no"), says("{}")))

    ending = await turn(TYPED)

    assert ending.note == "The answer does not fit the schema: $: 'a' is a required property"
    assert (ending.final[0].content, shown(turn)) == ("{}", "{}")


async def test_an_empty_answer_is_waited_for_longer_each_time() -> None:
    assert Limits().empty_waits == (1.0, 2.0, 4.0)


async def test_a_turn_that_only_makes_calls_shows_its_words_at_once() -> None:
    turn = Turn(ScriptedProvider(calls(call("echo"), text="a < b, <to"), says("ok")), ECHO)

    await turn(INPUT)

    assert shown(turn) == "a < b, <took"
