"""What the tests of the agent share: tools that do one thing, and a turn that records all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import anyio.lowlevel

from octo_lab.agent.limits import Limits
from octo_lab.agent.loop import Agent, Ending, TurnInput
from octo_lab.agent.transcript import Transcript
from octo_lab.core.errors import ToolFailed
from octo_lab.core.events import Emit, ToolFinished, ToolProgressed, TurnEvent
from octo_lab.core.messages import Message, ToolCall
from octo_lab.testing.providers import ScriptedApprover, ScriptedProvider
from octo_lab.tools.tool import Approver, Tool, ToolContext, ToolResult

Run = Callable[[ToolContext, Any], Awaitable[ToolResult | str]]
USER = Message(role="user", content="hi")
INPUT = TurnInput(system="be octo", history=(), user=USER)
ALLOW = ScriptedApprover("once")


def tool(
    name: str, run: Run, *, timeout: float = 120.0, asks: bool = False, only: str = ""
) -> Tool:
    return Tool(
        name=name,
        description=name,
        schema={"type": "object"},
        parse=dict,
        run=run,
        group="test",
        source="own",
        timeout=timeout,
        asks=asks,
        channels=frozenset({only}) if only else None,
    )


async def _echo(ctx: ToolContext, args: dict[str, str]) -> str:
    await anyio.lowlevel.checkpoint()
    return args.get("text", "")


async def _fail(ctx: ToolContext, args: object) -> str:
    raise ToolFailed("no such thing", hint="try another")


async def _crash(ctx: ToolContext, args: object) -> str:
    raise ZeroDivisionError("division by zero")


async def _hang(ctx: ToolContext, args: object) -> str:
    await anyio.sleep_forever()
    raise AssertionError


ECHO, FAIL, CRASH = tool("echo", _echo), tool("fail", _fail), tool("crash", _crash)
HANG, SLOW = tool("hang", _hang), tool("slow", _hang, timeout=0.02)


def context(call: ToolCall, emit: Emit) -> ToolContext:
    return ToolContext(
        workspace=Path("/"),
        channel="test",
        chat_id="c",
        session="s",
        turn_id="t",
        call_id=call.id,
        report=lambda line: emit(ToolProgressed(call.id, line)),
    )


def call(name: str, arguments: str = "{}", id: str = "1") -> ToolCall:
    return ToolCall(id=id, name=name, arguments=arguments)


class Turn:
    """One turn and everything that came out of it."""

    def __init__(
        self,
        provider: ScriptedProvider,
        *tools: Tool,
        limits: Limits = Limits(),
        approver: Approver = ALLOW,
    ) -> None:
        self.transcript = Transcript()
        self.events: list[TurnEvent] = []
        self.kept: list[tuple[Message, ...]] = []
        self.agent = Agent(
            provider=provider, tools=tools, approver=approver, context=context, limits=limits
        )

    async def keep(self, step: Sequence[Message]) -> None:
        await anyio.lowlevel.checkpoint()
        self.kept.append(tuple(step))

    async def __call__(self, turn: TurnInput = INPUT) -> Ending:
        return await self.agent.run(turn, self.transcript, self.events.append, self.keep)

    @property
    def outcomes(self) -> list[tuple[str, str, str]]:
        """Call id, state and output of each finished call, by id."""
        done = [event for event in self.events if isinstance(event, ToolFinished)]
        return sorted((event.call_id, event.state, event.output) for event in done)

    def stored(self, *closing: Message) -> list[Message]:
        """Everything that is stored when ``closing`` is, too."""
        return [message for step in self.kept for message in step] + list(closing)
