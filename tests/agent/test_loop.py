from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from octo_lab.agent.limits import Limits
from octo_lab.agent.loop import Agent, Ending, TurnInput
from octo_lab.agent.transcript import Transcript
from octo_lab.core.events import IterationStarted, ToolFinished, ToolQueued, ToolStarted, TurnEvent
from octo_lab.core.messages import Message, ToolCall, Usage
from octo_lab.core.stream import TextDelta, UsageReported
from octo_lab.testing.providers import ScriptedApprover, ScriptedProvider, calls, says
from octo_lab.tools.tool import Tool, ToolContext, ToolResult

pytestmark = pytest.mark.anyio

Run = Callable[[ToolContext, Any], Awaitable[ToolResult | str]]
USER = Message(role="user", content="hi")
INPUT = TurnInput(system="be octo", history=(), user=USER)


async def _echo(ctx: ToolContext, args: dict[str, str]) -> str:
    return args.get("text", "")


async def _hang(ctx: ToolContext, args: object) -> str:
    await anyio.sleep_forever()
    return ""


def tool(name: str, run: Run, timeout: float = 120.0, asks: bool = False) -> Tool:
    return Tool(
        name=name,
        description=name,
        schema={"type": "object"},
        parse=dict,
        run=run,
        group="test",
        timeout=timeout,
        asks=asks,
    )


ECHO = tool("echo", _echo)
HANG = tool("hang", _hang)


def context(call: ToolCall) -> ToolContext:
    return ToolContext(
        workspace=Path("/"),
        channel="test",
        chat_id="c",
        session="s",
        turn_id="t",
        call_id=call.id,
        report=lambda line: None,
    )


class Turn:
    """One turn and everything that came out of it."""

    def __init__(self, provider: ScriptedProvider, *tools: Tool, limits: Limits = Limits()) -> None:
        self.transcript = Transcript()
        self.events: list[TurnEvent] = []
        self.kept: list[tuple[Message, ...]] = []
        self.agent = Agent(
            provider=provider,
            tools=tools,
            approver=ScriptedApprover("once"),
            context=context,
            limits=limits,
        )

    async def keep(self, step: Sequence[Message]) -> None:
        await anyio.lowlevel.checkpoint()
        self.kept.append(tuple(step))

    async def __call__(self, turn: TurnInput = INPUT) -> Ending:
        return await self.agent.run(turn, self.transcript, self.events.append, self.keep)


def call(name: str, arguments: str = "{}", id: str = "1") -> ToolCall:
    return ToolCall(id=id, name=name, arguments=arguments)


async def test_an_answer_without_calls_ends_the_turn_and_is_left_to_the_caller() -> None:
    run = Turn(ScriptedProvider(says("Hel", "lo", usage=Usage(output_tokens=2, requests=1))))

    ending = await run()

    answer = Message(role="assistant", content="Hello")
    usage = Usage(output_tokens=2, requests=1)
    assert ending == Ending(reason="end_turn", usage=usage, final=(answer,))
    assert run.kept == []
    assert run.events == [
        IterationStarted(1),
        TextDelta("Hel"),
        TextDelta("lo"),
        UsageReported(usage),
    ]


async def test_a_step_is_kept_before_the_model_is_asked_again() -> None:
    asked = call("echo", '{"text": "42"}')
    provider = ScriptedProvider(calls(asked, text="Let me see."), says("It is 42."))
    run = Turn(provider, ECHO)

    ending = await run()

    [(said, result)] = run.kept
    assert said == Message(role="assistant", content="Let me see.", tool_calls=(asked,))
    assert (result.content, result.tool_call_id, result.is_error) == ("42", "1", False)
    assert provider.requests[1].messages == [
        Message(role="system", content="be octo"),
        USER,
        said,
        result,
    ]
    assert ending.final == (Message(role="assistant", content="It is 42."),)
    kinds = [type(event) for event in run.events if not isinstance(event, UsageReported)]
    assert kinds == [
        IterationStarted,
        TextDelta,
        ToolQueued,
        ToolStarted,
        ToolFinished,
        IterationStarted,
        TextDelta,
    ]
