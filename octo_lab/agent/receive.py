"""Receives one reply: the hot path of a turn, which does almost nothing per chunk."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Protocol

from octo_lab.agent.joint import Joint
from octo_lab.agent.loop_detect import Runaway
from octo_lab.agent.patience import Silence
from octo_lab.agent.transcript import Reply, Transcript
from octo_lab.core.errors import StreamCut
from octo_lab.core.events import Emit, Noticed, ToolQueued
from octo_lab.core.liveness import listening
from octo_lab.core.stream import (
    Done,
    ReasoningDelta,
    Remarked,
    StateKept,
    StreamEvent,
    TextDelta,
    ToolCalled,
    UsageReported,
)
from octo_lab.llm.provider import Events
from octo_lab.tools.arguments import storable


class Gate(Protocol):
    """Decides what of a text is shown at once."""

    def feed(self, text: str) -> str: ...

    def end(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Hearing:
    """How one stream is listened to. ``name`` is the provider's, for errors.

    ``alive`` is called for what comes and cannot be shown.
    """

    name: str
    emit: Emit
    gate: Gate
    silence: Silence
    alive: Callable[[], None]
    joint: Joint | None = None
    runaway: Runaway = field(default_factory=Runaway)

    def still_there(self) -> None:
        self.silence.heard()
        self.alive()


async def receive(stream: Events, transcript: Transcript, hearing: Hearing) -> Reply:
    """Add to the transcript's open reply until ``Done``.

    Text that repeats itself on and on ends it, too. Raises StreamCut when ``Done`` never comes and
    TimedOut after too long a silence.
    """
    reply, heard, silence = transcript.reply, hearing.runaway.feed, hearing.silence
    async with aclosing(stream):
        with silence.scope, listening(hearing.still_there):
            async for event in stream:
                if isinstance(event, TextDelta):
                    _add_text(event, reply, hearing)
                    if heard(event.text):
                        reply.ran_away = True
                        return reply
                elif isinstance(event, ReasoningDelta):
                    reply.reasoning.append(event.text)
                    hearing.emit(event)
                elif isinstance(event, Done):
                    reply.reason = event.reason
                    _add_rest(reply, hearing)
                    return reply
                else:
                    _take(event, reply, transcript, hearing)
                    if isinstance(event, Remarked | UsageReported):
                        continue
                silence.heard()
    if silence.scope.cancelled_caught:
        raise silence.error(hearing.name)
    raise StreamCut("The model's answer ended in the middle", hint="ask again")


def _add_text(event: TextDelta, reply: Reply, hearing: Hearing) -> None:
    said = text = event.text
    if hearing.joint:
        text = hearing.joint.feed(text)
    reply.text.append(text)
    shown = hearing.gate.feed(text)
    if shown:
        hearing.emit(event if shown is said else TextDelta(shown))


def _add_rest(reply: Reply, hearing: Hearing) -> None:
    rest = hearing.joint.end() if hearing.joint else ""
    if rest:
        reply.text.append(rest)
        if shown := hearing.gate.feed(rest):
            hearing.emit(TextDelta(shown))


def _take(event: StreamEvent, reply: Reply, transcript: Transcript, hearing: Hearing) -> None:
    emit = hearing.emit
    match event:
        case ToolCalled(call):
            emit(ToolQueued(storable(transcript.add_call(call))))
        case UsageReported(usage):
            transcript.usage += usage
            emit(event)
        case StateKept(state):
            reply.state = state
        case Remarked(text):
            hearing.silence.told_to_wait()
            emit(Noticed(text))
