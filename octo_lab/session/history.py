"""Stored turns, read for a model within its window, and for people as snapshots."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from octo_lab.agent.compaction import SUMMARY_HEAD
from octo_lab.core.messages import Message
from octo_lab.core.text import head_and_tail
from octo_lab.core.turns import (
    Block,
    ErrorBlock,
    ReasoningBlock,
    TextBlock,
    ToolBlock,
    TurnSnapshot,
)
from octo_lab.security.outgoing import masked_message
from octo_lab.security.redact import Redactor, redact
from octo_lab.session.turn import PREVIEW, steered_block
from octo_lab.storage.turns import TurnRecord

# Newer than every live revision of the same turn: what is stored has the last word.
STORED_REVISION = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """What was said in a dialog before a turn: the turns since its cursor, and the summary of
    those before it.
    """

    cursor: str | None = None
    turns: Sequence[TurnRecord] = ()
    summary: str = ""

    @property
    def unfinished(self) -> bool:
        """Whether one of these turns still runs: then they cannot be summed up."""
        return any(record.turn.state == "running" for record in self.turns)

    @property
    def messages(self) -> tuple[Message, ...]:
        """All of it as a model sees it; whoever asks the model makes it fit."""
        said = (message for record in self.turns for message in model_messages(record))
        return (*told_summary(self.summary), *said)


def told_summary(text: str) -> tuple[Message, ...]:
    """A stored summary as a model sees it."""
    return (Message(role="user", content=f"{SUMMARY_HEAD}\n{text}"),) if text else ()


def model_messages(record: TurnRecord) -> tuple[Message, ...]:
    """The turn as the model sees it: it always ends with something the assistant said."""
    last = record.messages[-1] if record.messages else None
    if last is None or last.role == "assistant":
        return record.messages
    note = f"[This turn ended without an answer: {record.turn.state}.]"
    if record.turn.state == "running":
        note = "[This is being answered at the same time.]"
    return (*record.messages, Message(role="assistant", content=note))


def stored_snapshot(record: TurnRecord, session: str, mask: Redactor = redact) -> TurnSnapshot:
    """A stored turn as people see it; a secret may be known as one only since it was stored."""
    turn = record.turn
    ended = turn.ended_at
    return TurnSnapshot(
        turn_id=turn.id,
        message_id=turn.message_id,
        session=session,
        revision=STORED_REVISION if turn.state != "running" else 0,
        state=turn.state,
        prompt=mask(turn.prompt),
        blocks=tuple(_blocks(record, mask)),
        usage=turn.usage,
        model=f"{turn.provider}/{turn.model}",
        started_at=turn.started_at,
        seconds=(ended - turn.started_at).total_seconds() if ended else None,
    )


def _blocks(record: TurnRecord, mask: Redactor) -> Iterable[Block]:
    messages = [masked_message(message, mask) for message in record.messages]
    results = {m.tool_call_id: m for m in messages if m.role == "tool"}
    for number, message in enumerate(messages):
        if message.role == "assistant":
            yield from _said(message, results)
        elif message.role == "user" and number:
            yield steered_block(message.content)
    if record.turn.partial.strip():
        yield TextBlock(mask(record.turn.partial))
    if record.turn.error:
        yield ErrorBlock(record.turn.error, record.turn.hint)


def _said(message: Message, results: dict[str, Message]) -> Iterable[Block]:
    if message.reasoning:
        yield ReasoningBlock(message.reasoning)
    if message.content:
        yield TextBlock(message.content)
    for call in message.tool_calls:
        result = results.get(call.id)
        yield ToolBlock(
            call_id=call.id,
            name=call.name,
            arguments=call.arguments,
            state=result.outcome if result else "cancelled",
            output=head_and_tail(result.content, PREVIEW) if result else "",
            seconds=result.seconds if result else None,
            media=result.media if result else (),
            diff=result.diff if result else "",
        )
