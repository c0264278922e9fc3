"""The agent loop: ask the model, run its calls, ask again. It holds no state between turns."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import anyio

from octo_lab.agent.asking import Asking
from octo_lab.agent.dispatch import Dispatch, MakeContext
from octo_lab.agent.ending import Ending as Ending
from octo_lab.agent.ending import answered, limited, went_round
from octo_lab.agent.limits import Limits
from octo_lab.agent.loop_detect import LoopWatch
from octo_lab.agent.patience import Patience, TurnClock, Untimed
from octo_lab.agent.ports import NO_HOOKS, NO_STEERING, UNCUT, Compactor, Hooks, Steering
from octo_lab.agent.session_limits import SessionUsage
from octo_lab.agent.transcript import CloseReason, Reply, Transcript
from octo_lab.agent.turn_input import TurnInput as TurnInput
from octo_lab.agent.typed import repair, unfit
from octo_lab.core.errors import StorageError
from octo_lab.core.events import (
    Emit,
    IterationStarted,
    Limit,
    LimitReached,
    Noticed,
    Replied,
    Steered,
    ToolFinished,
    TurnBegan,
    TurnEnded,
    TurnEvent,
)
from octo_lab.core.messages import Message
from octo_lab.llm.provider import Provider
from octo_lab.tools.tool import Approver, Tool

Keep = Callable[[Sequence[Message]], Awaitable[None]]

KEEP_SECONDS = 60.0  # a step is stored or the turn fails; a person's stop never cuts it in half
REPEATS = "The model repeats itself and was told so."
LOST = (
    "[octo_lab: Your answer ended as if you called a tool, but no call came. Make the call now, or "
    "say what is still to be said.]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One turn's agent: ``tools`` are those this turn may use."""

    provider: Provider
    tools: Sequence[Tool]
    approver: Approver
    context: MakeContext
    limits: Limits = Limits()
    patience: Patience = Patience()
    compactor: Compactor = UNCUT
    hooks: Hooks = NO_HOOKS
    steering: Steering = NO_STEERING
    session: SessionUsage = field(default_factory=SessionUsage)

    async def run(self, turn: TurnInput, transcript: Transcript, emit: Emit, keep: Keep) -> Ending:
        """Run the turn to its end.

        ``keep`` stores each step, an assistant message with all its results, before the model is
        asked again; the last message is left to the caller in ``Ending.final``. Raises the
        provider's ProviderError and what ``keep`` raises; after these, as after a cancellation,
        ``transcript.close`` gives what is still to be stored.
        """
        clock = TurnClock(self.limits.seconds, self.limits.idle)

        def tell(event: TurnEvent) -> None:
            clock.heard()
            emit(event)

        work = _Work(
            agent=self, turn=turn, transcript=transcript, emit=tell, keep=keep, clock=clock
        )
        return await work.whole()


@dataclass(slots=True, kw_only=True)
class _Work:
    """One run of the loop: what it works on, and how far it is."""

    agent: Agent
    turn: TurnInput
    transcript: Transcript
    emit: Emit
    keep: Keep
    clock: TurnClock
    watch: LoopWatch = field(default_factory=LoopWatch)
    number: int = 0
    lost: bool = False

    async def whole(self) -> Ending:
        """From the first event to the last, whatever happens between them."""
        began = time.perf_counter()
        ok, stopped = False, False
        self.emit(TurnBegan(self.turn.id, self.turn.spent))
        try:
            ending = await self._bounded()
            ok = ending.reason in ("end_turn", "max_tokens", "stop_sequence")
            return ending
        except anyio.get_cancelled_exc_class():
            stopped = True
            _break_off(self.transcript, self.emit, "cancelled")
            raise
        except BaseException:
            _break_off(self.transcript, self.emit, "failed")
            raise
        finally:
            seconds = time.perf_counter() - began
            self.emit(TurnEnded(ok=ok, stopped=stopped, iterations=self.number, seconds=seconds))

    async def _bounded(self) -> Ending:
        with self.clock.scope:
            return await self._run()
        kind = self.clock.expired
        _break_off(self.transcript, self.emit, kind)
        self.transcript.close(kind)
        return self._limited(kind)

    async def _run(self) -> Ending:
        agent, transcript = self.agent, self.transcript
        asking, calls = self._asking(), self._dispatch()
        specs = [tool.spec for tool in agent.tools]
        nudge: list[Message] = []
        mended = False
        for self.number in range(1, agent.limits.iterations + 1):
            self.emit(IterationStarted(self.number))
            request = self.turn.request(specs, [*transcript.messages, *nudge])
            reply = await asking.ask(request, self.number)
            self._replied(reply)
            if reply.made:
                nudge = await self._act(calls)
            elif reply.ran_away:
                nudge = self._nudge(self.watch.runaway())
            elif reply.reason == "tool_use" and not reply.blank and not self.lost:
                nudge = await self._lost()
            else:
                text = reply.whole_text
                problem = unfit(text, self.turn.response_schema)
                if not problem or mended:
                    asking.show()
                    return answered(reply, transcript, problem and _UNFIT.format(problem))
                mended, nudge = True, repair(text, problem)
            if self.watch.stuck:
                return went_round(transcript)
            if agent.limits.tokens is not None and _spent(transcript) >= agent.limits.tokens:
                return self._limited("tokens")
        return self._limited("iterations")

    def _asking(self) -> Asking:
        agent = self.agent
        return Asking(
            provider=agent.provider,
            compactor=agent.compactor,
            hooks=agent.hooks,
            limits=agent.limits,
            patience=agent.patience,
            transcript=self.transcript,
            emit=self.emit,
            alive=self.clock.heard,
        )

    def _dispatch(self) -> Dispatch:
        agent = self.agent
        return Dispatch(
            tools={tool.name: tool for tool in agent.tools},
            approver=Untimed(agent.approver, self.clock),
            context=agent.context,
            limits=agent.limits,
            hooks=agent.hooks,
            steering=agent.steering,
            session=agent.session,
        )

    def _replied(self, reply: Reply) -> None:
        calls = len(reply.made)
        self.emit(Replied(number=self.number, text=reply.whole_text, calls=calls))

    async def _act(self, calls: Dispatch) -> list[Message]:
        """Run the calls of the reply and store the step; what else to tell the model next."""
        await calls.run(self.transcript, self.emit)
        step = self.transcript.complete()
        for message in self.agent.steering.take():
            self.transcript.say(message)
            self.emit(Steered(message.content))
        await self._keep()
        return self._nudge(self.watch.step(step))

    async def _lost(self) -> list[Message]:
        """Keep what was said, and ask for the call that it announced; once in a turn."""
        self.lost = True
        self.transcript.complete()
        await self._keep()
        return [Message(role="user", content=LOST)]

    async def _keep(self) -> None:
        with anyio.move_on_after(KEEP_SECONDS, shield=True):
            await self.keep(self.transcript.unstored)
            self.transcript.stored()
            return
        raise StorageError(
            f"A step of the turn was not stored within {KEEP_SECONDS:g} s",
            hint="is the disk of the data folder full or slow?",
        )

    def _nudge(self, text: str) -> list[Message]:
        if not text:
            return []
        if not self.watch.stuck:
            self.emit(Noticed(REPEATS))
        return [Message(role="user", content=f"[octo_lab: {text}]")]

    def _limited(self, kind: Limit) -> Ending:
        limits = self.agent.limits
        used: dict[Limit, tuple[float, float]] = {
            "iterations": (self.number, limits.iterations),
            "tokens": (_spent(self.transcript), limits.tokens or 0),
            "seconds": (limits.seconds, limits.seconds),
            "idle": (limits.idle, limits.idle),
        }
        self.emit(LimitReached(kind=kind, used=used[kind][0], limit=used[kind][1]))
        return limited(kind, limits, self.transcript)


_UNFIT = "The answer does not fit the schema: {}"


def _spent(transcript: Transcript) -> int:
    return transcript.usage.input_tokens + transcript.usage.output_tokens


def _break_off(transcript: Transcript, emit: Emit, reason: CloseReason) -> None:
    """Tell the listener of every call that will get no result of its own."""
    for call in transcript.unanswered:
        output = transcript.missing(call, reason).content
        emit(ToolFinished(call_id=call.id, state="cancelled", output=output, seconds=0.0))
