"""A turn with three running tools is stopped after each single step of the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import anyio
import anyio.lowlevel

from octo_lab.agent.limits import Limits
from octo_lab.agent.loop import TurnInput
from octo_lab.core.events import ToolFinished, ToolQueued, TurnEnded
from octo_lab.core.messages import ChatRequest, Message
from octo_lab.core.stream import Done, ReasoningDelta, StreamEvent, TextDelta
from octo_lab.llm.hints import ModelHints, model_hints
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.wires.anthropic.request import messages_request
from octo_lab.llm.wires.anthropic.validate import request_problem as anthropic_problem
from octo_lab.llm.wires.chat.request import chat_request
from octo_lab.llm.wires.chat.validate import request_problem as chat_problem
from octo_lab.llm.wires.gemini.request import generate_request
from octo_lab.llm.wires.gemini.validate import request_problem as gemini_problem
from octo_lab.llm.wires.responses.request import responses_request
from octo_lab.llm.wires.responses.validate import request_problem as responses_problem
from octo_lab.testing.providers import ScriptedProvider, calls, says
from octo_lab.testing.transcripts import transcript_faults
from octo_lab.tools.function_tool import function_tool
from octo_lab.tools.tool import Tool, ToolContext
from tests.agent.stepping import Stepping
from tests.agent.turns import USER, Turn, call, tool

MOST_STEPS = 2000


class Tools:
    """Three tools at work at the same time; ``open`` counts those that have not ended."""

    def __init__(self) -> None:
        self.open = 0
        self.threads = 0

    @contextmanager
    def working(self) -> Iterator[None]:
        self.open += 1
        try:
            yield
        finally:
            self.open -= 1

    async def steps(self, ctx: ToolContext, args: object) -> str:
        with self.working():
            for number in range(5):
                await anyio.lowlevel.checkpoint()
                ctx.report(f"{number}\n")
        return "stepped"

    async def stubborn(self, ctx: object, args: object) -> str:
        """Takes no notice of being cancelled, as no tool should."""
        with self.working():
            for _ in range(4):
                try:
                    await anyio.lowlevel.checkpoint()
                except anyio.get_cancelled_exc_class():
                    continue
        return "stayed"

    def in_thread(self) -> str:
        """Blocks for a moment."""
        self.threads += 1
        threading.Event().wait(0.0005)
        self.threads -= 1
        return "blocked"

    def all(self) -> list[Tool]:
        stepping, stubborn = tool("steps", self.steps), tool("stubborn", self.stubborn, asks=True)
        return [stepping, stubborn, function_tool(self.in_thread, name="blocks")]


def script() -> list[Sequence[StreamEvent]]:
    three = [call(name, id=name) for name in ("steps", "stubborn", "blocks")]
    return [
        [ReasoningDelta("hm"), *calls(*three, text="I do all three.")],
        calls(call("steps", '{"n": 2}', id="again")),
        says("All ", "done."),
    ]


class Whole:
    """Writes the next request in each dialect, and lets its vendor's rules judge it."""

    def __init__(self) -> None:
        self._http = ModelHttp()

    def problems(self, messages: Sequence[Message]) -> list[object]:
        request = ChatRequest(messages=messages)
        config = ProviderConfig(name="p", model="m", http=self._http, base_url="http://x")
        hints, claude = ModelHints(), model_hints("claude-sonnet-4")
        found = [
            chat_problem(chat_request(request, "m", hints)),
            responses_problem(responses_request(request, "openai", "m", hints)),
            anthropic_problem(messages_request(request, config, claude).body),
            gemini_problem(generate_request(request, config, hints)),
        ]
        return [problem for problem in found if problem is not None]


async def stopped_after(steps: int, loop: Stepping, whole: Whole) -> bool:
    """Stop a turn there and look at what it left; whether it ended by itself before."""
    tools = Tools()
    turn = Turn(ScriptedProvider(*script()), *tools.all(), limits=Limits(empty_waits=()))
    others = asyncio.all_tasks()
    with anyio.CancelScope() as scope:
        loop.watch(steps, scope.cancel)
        await turn(TurnInput(system="", history=(), user=USER))
    ended = loop.ended()
    stored = turn.stored(*turn.transcript.close("cancelled"))

    assert asyncio.all_tasks() == others
    assert tools.open == 0
    assert transcript_faults([USER, *stored]) == []
    queued = sorted(event.call.id for event in turn.events if isinstance(event, ToolQueued))
    assert queued == sorted(e.call_id for e in turn.events if isinstance(e, ToolFinished))
    assert isinstance(turn.events[-1], TurnEnded) or not turn.events
    await next_message_works([USER, *stored], whole)
    return ended


async def next_message_works(history: Sequence[Message], whole: Whole) -> None:
    said = list(history)
    if said[-1].role != "assistant":
        said.append(Message(role="assistant", content="[This turn ended without an answer.]"))
    turn = Turn(ScriptedProvider([TextDelta("fine"), Done("end_turn")]))

    ending = await turn(TurnInput(system="", history=said, user=USER))

    assert ending.final == (Message(role="assistant", content="fine"),)
    assert whole.problems([*said, USER]) == []


async def stop_everywhere(whole: Whole) -> int:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, Stepping)
    for steps in range(1, MOST_STEPS):
        if await stopped_after(steps, loop, whole):
            return steps
    raise AssertionError("the turn never ended by itself")


def test_a_stop_after_any_step_leaves_a_valid_transcript_and_no_task() -> None:
    whole = Whole()
    assert whole.problems([USER]) == []
    assert len(Tools().all()) == 3  # the first one made reads what is installed

    stops = anyio.run(stop_everywhere, whole, backend_options={"loop_factory": Stepping})

    assert stops > 40
