"""Runs the calls of one reply side by side; each gets exactly one result."""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import anyio

from octo_lab.agent.limits import Limits
from octo_lab.agent.transcript import Transcript
from octo_lab.core.events import Emit, ToolFinished, ToolStarted
from octo_lab.core.messages import Message, ToolCall
from octo_lab.tools.call import CallBounds, Outcome, run_call
from octo_lab.tools.tool import Approver, Tool, ToolContext


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """Everything a call needs besides itself."""

    tools: Mapping[str, Tool]
    approver: Approver
    context: Callable[[ToolCall], ToolContext]
    limits: Limits

    async def run(self, transcript: Transcript, emit: Emit) -> None:
        """Run the unanswered calls and put their results into the transcript."""
        slots = anyio.CapacityLimiter(self.limits.parallel)

        async def run_one(call: ToolCall) -> None:
            async with slots:
                await self._run_one(call, transcript, emit)

        async with anyio.create_task_group() as tasks:
            for call in transcript.unanswered:
                tasks.start_soon(run_one, call)

    async def _run_one(self, call: ToolCall, transcript: Transcript, emit: Emit) -> None:
        began = time.perf_counter()

        def started() -> None:
            nonlocal began
            began = time.perf_counter()
            transcript.start(call.id)
            emit(ToolStarted(call.id))

        outcome = await self._outcome(call, started)
        seconds = time.perf_counter() - began
        transcript.answer(_result(call, outcome, seconds))
        emit(
            ToolFinished(
                call_id=call.id,
                state=outcome.state,
                output=outcome.text,
                seconds=seconds,
                media=outcome.media,
            )
        )

    async def _outcome(self, call: ToolCall, started: Callable[[], None]) -> Outcome:
        tool = self.tools.get(call.name)
        if tool is None:
            return Outcome(state="error", text=self._unknown(call.name))
        return await run_call(
            tool,
            call,
            self.context(call),
            approver=self.approver,
            bounds=CallBounds(arguments=self.limits.arguments, output=self.limits.output),
            started=started,
        )

    def _unknown(self, name: str) -> str:
        near = difflib.get_close_matches(name, self.tools, n=1)
        known = (
            f"did you mean {near[0]!r}?" if near else f"known: {', '.join(self.tools) or 'none'}"
        )
        return f"Error: No tool named {name[:100]!r} ({known})"


def _result(call: ToolCall, outcome: Outcome, seconds: float) -> Message:
    return Message(
        role="tool",
        content=outcome.text,
        media=outcome.media,
        tool_call_id=call.id,
        tool_name=call.name,
        outcome=outcome.state,
        seconds=round(seconds, 3),
    )
