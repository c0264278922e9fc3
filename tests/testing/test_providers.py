from __future__ import annotations

from contextlib import aclosing

import anyio
import pytest

from octo_lab.core.errors import RateLimited
from octo_lab.core.messages import ChatRequest, Message, ToolCall, Usage
from octo_lab.core.stream import Done, TextDelta
from octo_lab.llm.provider import collect
from octo_lab.testing.providers import ScriptedApprover, ScriptedProvider, calls, says
from octo_lab.tools.tool import Question

pytestmark = pytest.mark.anyio

REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])


async def test_each_request_plays_one_step_and_is_remembered() -> None:
    call = ToolCall(id="1", name="t", arguments="{}")
    provider = ScriptedProvider(says("a", "b"), calls(call, text="c"))

    answers = [await collect(provider.stream(REQUEST)) for _ in range(2)]

    assert answers == [
        (Message(role="assistant", content="ab"), Usage(requests=1)),
        (Message(role="assistant", content="c", tool_calls=(call,)), Usage(requests=1)),
    ]
    assert provider.requests == [REQUEST, REQUEST]


async def test_an_error_is_raised_where_it_stands() -> None:
    provider = ScriptedProvider(RateLimited("first"), [TextDelta("a"), RateLimited("then")])

    for message in ("first", "then"):
        with pytest.raises(RateLimited, match=message):
            await collect(provider.stream(REQUEST))


async def test_a_step_can_wait_and_says_when_it_was_ended_early() -> None:
    provider = ScriptedProvider([TextDelta("a"), anyio.sleep_forever, Done("end_turn")])

    with anyio.move_on_after(0.01):
        async with aclosing(provider.stream(REQUEST)) as stream:
            async for _ in stream:
                pass

    assert provider.closed == 1


async def test_one_request_too_many_fails_the_test() -> None:
    with pytest.raises(AssertionError, match="no step for request 1"):
        await collect(ScriptedProvider().stream(REQUEST))


async def test_an_approver_repeats_its_last_decision() -> None:
    approver = ScriptedApprover("once", "deny")
    call = ToolCall(id="1", name="t", arguments="{}")
    question = Question(call=call, scope="t", detail="", risk="read")

    assert [await approver.approve(question) for _ in range(3)] == ["once", "deny", "deny"]
    assert approver.questions == [question] * 3
