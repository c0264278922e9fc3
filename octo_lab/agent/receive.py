"""Receives one reply: the hot path of a turn, which does almost nothing per chunk."""

from __future__ import annotations

from contextlib import aclosing

from octo_lab.agent.transcript import Reply, Transcript
from octo_lab.core.errors import StreamCut
from octo_lab.core.events import Emit, Noticed, ToolQueued
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


async def receive(stream: Events, transcript: Transcript, emit: Emit) -> Reply:
    """Fill the transcript's open reply until ``Done``; raises StreamCut when it never comes."""
    reply = transcript.open()
    add_text = reply.text.append
    async with aclosing(stream):
        async for event in stream:
            if isinstance(event, TextDelta):
                add_text(event.text)
                emit(event)
            elif isinstance(event, ReasoningDelta):
                reply.reasoning.append(event.text)
                emit(event)
            elif isinstance(event, Done):
                reply.reason = event.reason
                return reply
            else:
                _take(event, reply, transcript, emit)
    raise StreamCut("The model's answer ended in the middle", hint="ask again")


def _take(event: StreamEvent, reply: Reply, transcript: Transcript, emit: Emit) -> None:
    match event:
        case ToolCalled(call):
            emit(ToolQueued(storable(transcript.add_call(call))))
        case UsageReported(usage):
            transcript.usage += usage
            emit(event)
        case StateKept(state):
            reply.state = state
        case Remarked(text):
            emit(Noticed(text))
