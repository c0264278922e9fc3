"""How a turn ended, and what the person is told about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from octo_lab.agent.limits import Limits
from octo_lab.agent.transcript import Reply, Transcript
from octo_lab.core.events import Limit
from octo_lab.core.messages import Message, Usage

EndReason = Literal[
    "end_turn", "max_tokens", "stop_sequence", "iterations", "tokens", "seconds", "idle", "loop"
]

EMPTY = "The model gave an empty answer."
CUT = 'The answer was cut at its token limit. Say "go on" to continue.'
LOOP = "Stopped: the model went round in circles. Tell it what to do differently."


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


def answered(reply: Reply, transcript: Transcript, problem: str = "") -> Ending:
    """The model said all it had to say; ``problem`` is what the person should know of it."""
    reason: EndReason = "end_turn"
    if reply.reason == "max_tokens" or reply.reason == "stop_sequence":
        reason = reply.reason
    note = EMPTY if reply.blank else problem
    if reason == "max_tokens":
        note = CUT
    final = transcript.complete()
    return Ending(reason=reason, note=note, usage=transcript.usage, final=final)


def went_round(transcript: Transcript) -> Ending:
    """The model repeats itself although it was told."""
    final = transcript.complete()
    return Ending(reason="loop", note=LOOP, usage=transcript.usage, final=final)


def limited(kind: Limit, limits: Limits, transcript: Transcript) -> Ending:
    used = {
        "iterations": f"{limits.iterations} model calls for one turn",
        "tokens": f"{limits.tokens} tokens for one turn",
        "seconds": f"{limits.seconds:g} seconds for one turn",
        "idle": f"{limits.idle:g} seconds in which nothing happens",
    }
    return Ending(
        reason=kind,
        note=f'Stopped at the limit of {used[kind]}. Say "go on" to continue.',
        usage=transcript.usage,
        final=transcript.unstored,
    )
