"""The agent loop: ask the model, run its calls, ask again. It holds no state between turns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import anyio

from octo_lab.agent.dispatch import Dispatch
from octo_lab.agent.limits import Limits
from octo_lab.agent.patience import Untimed
from octo_lab.agent.receive import receive
from octo_lab.agent.transcript import CloseReason, Reply, Transcript
from octo_lab.core.errors import StorageError
from octo_lab.core.events import Emit, IterationStarted, ToolFinished
from octo_lab.core.messages import ChatRequest, Message, ToolCall, Usage
from octo_lab.llm.provider import Provider
from octo_lab.tools.tool import Approver, Tool, ToolContext

Keep = Callable[[Sequence[Message]], Awaitable[None]]
EndReason = Literal["end_turn", "max_tokens", "stop_sequence", "iterations", "tokens", "seconds"]

KEEP_SECONDS = 60.0  # a step is stored or the turn fails; a person's stop never cuts it in half


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnInput:
    """What one turn is asked, all of it."""

    system: str
    history: Sequence[Message]
    user: Message
    temperature: float | None = None
    max_tokens: int | None = None
    response_schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a turn ended.

    ``note`` is one line for the person when it did not end by itself; ``final`` are the last
    messages, which nobody has stored yet.
    """

    reason: EndReason
    note: str = ""
    usage: Usage = Usage()
    final: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One turn's agent: ``tools`` are those this turn may use."""

    provider: Provider
    tools: Sequence[Tool]
    approver: Approver
    context: Callable[[ToolCall], ToolContext]
    limits: Limits = Limits()

    async def run(self, turn: TurnInput, transcript: Transcript, emit: Emit, keep: Keep) -> Ending:
        """Run the turn to its end.

        ``keep`` stores each step, an assistant message with all its results, before the model is
        asked again; the last message is left to the caller in ``Ending.final``. Raises the
        provider's ProviderError and what ``keep`` raises; after these, as after a cancellation,
        ``transcript.close`` gives what is still to be stored.
        """
        try:
            with anyio.move_on_after(self.limits.seconds) as scope:
                calls = Dispatch(
                    tools={tool.name: tool for tool in self.tools},
                    approver=Untimed(self.approver, scope),
                    context=self.context,
                    limits=self.limits,
                )
                work = _Work(agent=self, turn=turn, transcript=transcript, emit=emit, keep=keep)
                return await work.run(calls)
        except anyio.get_cancelled_exc_class():
            _break_off(transcript, emit, "cancelled")
            raise
        except BaseException:
            _break_off(transcript, emit, "failed")
            raise
        _break_off(transcript, emit, "seconds")
        transcript.close("seconds")
        return _limited("seconds", self.limits, transcript)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """One run of the loop: what it works on."""

    agent: Agent
    turn: TurnInput
    transcript: Transcript
    emit: Emit
    keep: Keep

    async def run(self, calls: Dispatch) -> Ending:
        limits = self.agent.limits
        empty = 0
        for number in range(1, limits.iterations + 1):
            self.emit(IterationStarted(number))
            reply = await self._ask()
            if reply.made:
                await self._act(calls)
            elif not reply.blank or reply.reason == "max_tokens" or empty:
                return _ended(reply, self.transcript)
            else:
                empty += 1
            if limits.tokens is not None and _spent(self.transcript) >= limits.tokens:
                return _limited("tokens", limits, self.transcript)
        return _limited("iterations", limits, self.transcript)

    async def _ask(self) -> Reply:
        turn = self.turn
        system = [Message(role="system", content=turn.system)] if turn.system.strip() else []
        request = ChatRequest(
            messages=[*system, *turn.history, turn.user, *self.transcript.messages],
            tools=[tool.spec for tool in self.agent.tools],
            max_tokens=turn.max_tokens,
            temperature=turn.temperature,
            response_schema=turn.response_schema,
        )
        return await receive(self.agent.provider.stream(request), self.transcript, self.emit)

    async def _act(self, calls: Dispatch) -> None:
        await calls.run(self.transcript, self.emit)
        step = self.transcript.complete()
        with anyio.move_on_after(KEEP_SECONDS, shield=True):
            await self.keep(step)
            self.transcript.stored()
            return
        raise StorageError(
            f"A step of the turn was not stored within {KEEP_SECONDS:g} s",
            hint="is the disk of the data folder full or slow?",
        )


def _ended(reply: Reply, transcript: Transcript) -> Ending:
    reason: EndReason = "end_turn"
    if reply.reason == "max_tokens" or reply.reason == "stop_sequence":
        reason = reply.reason
    note = ""
    if reply.blank:
        note = "The model gave an empty answer."
    if reason == "max_tokens":
        note = 'The answer was cut at its token limit. Say "go on" to continue.'
    return Ending(
        reason=reason,
        note=note,
        usage=transcript.usage,
        final=transcript.complete(),
    )


def _limited(
    reason: Literal["iterations", "tokens", "seconds"], limits: Limits, transcript: Transcript
) -> Ending:
    used = {
        "iterations": f"{limits.iterations} model calls",
        "tokens": f"{limits.tokens} tokens",
        "seconds": f"{limits.seconds:g} seconds",
    }
    return Ending(
        reason=reason,
        note=f'Stopped at the limit of {used[reason]} for one turn. Say "go on" to continue.',
        usage=transcript.usage,
        final=transcript.unstored,
    )


def _spent(transcript: Transcript) -> int:
    return transcript.usage.input_tokens + transcript.usage.output_tokens


def _break_off(transcript: Transcript, emit: Emit, reason: CloseReason) -> None:
    """Tell the listener of every call that will get no result of its own."""
    for call in transcript.unanswered:
        output = transcript.missing(call, reason).content
        emit(ToolFinished(call_id=call.id, state="cancelled", output=output, seconds=0.0))
