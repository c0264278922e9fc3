"""Runs the calls of one reply side by side; each gets exactly one result."""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import anyio

from octo_lab.agent.joint import CUT_CALL
from octo_lab.agent.limits import Limits
from octo_lab.agent.ports import Hooks, Steering
from octo_lab.agent.session_limits import SessionUsage
from octo_lab.agent.transcript import Transcript
from octo_lab.core.errors import ToolFailed
from octo_lab.core.events import Emit, FileChanged, ToolFinished, ToolStarted
from octo_lab.core.messages import Message, ToolCall
from octo_lab.tools.arguments import read_arguments
from octo_lab.tools.call import CallBounds, Outcome, run_call
from octo_lab.tools.tool import Approver, Tool, ToolContext

MakeContext = Callable[[ToolCall, Emit], ToolContext]
"""What a call may know; its progress goes to the listener of the turn."""
SKIPPED = "Error: Not run: skipped, because the person said something new."


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """Everything a call needs besides itself."""

    tools: Mapping[str, Tool]
    approver: Approver
    context: MakeContext
    limits: Limits
    hooks: Hooks
    steering: Steering
    session: SessionUsage

    async def run(self, transcript: Transcript, emit: Emit) -> None:
        """Run the unanswered calls and put their results into the transcript."""
        slots = anyio.CapacityLimiter(self.limits.parallel)
        refused = self.session.begin_round()

        async def run_one(call: ToolCall) -> None:
            async with slots:
                await self._run_one(call, transcript, emit, refused)

        async with anyio.create_task_group() as tasks:
            for call in transcript.unanswered:
                tasks.start_soon(run_one, call)

    async def _run_one(
        self, call: ToolCall, transcript: Transcript, emit: Emit, refused: str
    ) -> None:
        began = time.perf_counter()

        def started() -> None:
            nonlocal began
            began = time.perf_counter()
            transcript.start(call.id)
            emit(ToolStarted(call.id))

        ctx = self.context(call, emit)
        outcome = self._unfit(call, transcript, refused)
        if outcome is None:
            outcome = await self._permitted(call, ctx, started)
            if outcome.state == "denied":
                self.session.denied(self._own(call))
        seconds = time.perf_counter() - began
        result = _result(call, outcome, seconds, ctx.changes.diff_of(call.id))
        transcript.answer(result)
        emit(
            ToolFinished(
                call_id=call.id,
                state=outcome.state,
                output=outcome.text,
                seconds=seconds,
                media=outcome.media,
                diff=result.diff,
            )
        )
        for path in _changed(ctx, call):
            emit(FileChanged(path))
        await self.hooks.after_tool(self._named(call), result)

    def _unfit(self, call: ToolCall, transcript: Transcript, refused: str) -> Outcome | None:
        """Why the call is not even tried, if it is not."""
        if self.steering.waiting:
            return Outcome(state="cancelled", text=SKIPPED)
        if call.name not in self.tools:
            return Outcome(state="error", text=self._unknown(call.name))
        reply = transcript.reply
        if reply.reason == "max_tokens" and call is reply.made[-1] and self._broken(call):
            return Outcome(state="error", text=CUT_CALL)
        refused = refused or self.session.begin_call(self._own(call))
        return Outcome(state="denied", text=f"Error: Not run: {refused}.") if refused else None

    def _broken(self, call: ToolCall) -> bool:
        try:
            read_arguments(call, self.limits.arguments)
        except ToolFailed:
            return True
        return False

    async def _permitted(
        self, call: ToolCall, ctx: ToolContext, started: Callable[[], None]
    ) -> Outcome:
        permission = await self.hooks.before_tool(self._named(call))
        if permission.refused is not None:
            reason = permission.refused or "it gave no reason"
            return Outcome(state="denied", text=f"Error: A hook denied {call.name!r}: {reason}")
        return await run_call(
            self.tools[call.name],
            replace(permission.call, name=call.name),
            ctx,
            approver=self.approver,
            bounds=CallBounds(arguments=self.limits.arguments, output=self.limits.output),
            started=started,
        )

    def _named(self, call: ToolCall) -> ToolCall:
        """By the tool's own name: the owner's hooks and limits know no other."""
        tool = self.tools.get(call.name)
        return replace(call, name=tool.own_name) if tool and tool.own_name else call

    def _own(self, call: ToolCall) -> str:
        return self._named(call).name

    def _unknown(self, name: str) -> str:
        near = difflib.get_close_matches(name, self.tools, n=1)
        known = (
            f"did you mean {near[0]!r}?" if near else f"known: {', '.join(self.tools) or 'none'}"
        )
        return f"Error: No tool named {name[:100]!r} ({known})"


def _changed(ctx: ToolContext, call: ToolCall) -> list[str]:
    """The files that the call changed, each once."""
    changes = list(ctx.changes.files)
    return list(dict.fromkeys(change.path for change in changes if change.call_id == call.id))


def _result(call: ToolCall, outcome: Outcome, seconds: float, diff: str) -> Message:
    return Message(
        role="tool",
        content=outcome.text,
        media=outcome.media,
        tool_call_id=call.id,
        tool_name=call.name,
        outcome=outcome.state,
        seconds=round(seconds, 3),
        origin=outcome.origin,
        diff=diff,
    )
