"""One turn from its first row to its last snapshot: stored first, shown second."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import anyio
from sqlalchemy import Connection

from octo_lab.agent.turn_input import TurnInput
from octo_lab.core.errors import OctoError
from octo_lab.core.events import Noticed
from octo_lab.core.messages import Message
from octo_lab.core.turns import TurnState
from octo_lab.security.outgoing import masked_message
from octo_lab.security.redact import Redactor
from octo_lab.session.agents import agent_for, hooks_for
from octo_lab.session.ask import turn_input
from octo_lab.session.changes import keep_changes
from octo_lab.session.compacting import compacted
from octo_lab.session.parts import RunningTurn, TurnParts
from octo_lab.session.privacy import keep_seen
from octo_lab.session.tasks import conclude
from octo_lab.session.used import used_before
from octo_lab.storage.turns import (
    answer_also,
    append_step,
    change_model,
    finish_turn,
    told_first,
)

TITLE_LENGTH = 60

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """``short``: why an answer is not all that was asked for, or ''."""

    state: TurnState
    messages: tuple[Message, ...] = ()
    error: str = ""
    hint: str = ""
    short: str = ""


_BROKEN = _Outcome(
    state="failed",
    error="The turn failed inside octo_lab",
    hint="see the log in the data folder",
)


async def run(parts: TurnParts, turn: RunningTurn) -> None:
    """Answer the question and store how it ended; only then show the end."""
    outcome: _Outcome | None = None
    try:
        with turn.stopper.scope:
            outcome = await _answer(parts, turn)
    finally:
        with anyio.CancelScope(shield=True):
            await _finish(parts, turn, outcome or _Outcome(state=turn.stopper.state))


async def _answer(parts: TurnParts, turn: RunningTurn) -> _Outcome:
    """Run the agent. This is the turn boundary: every error ends here."""
    try:
        return await _run_agent(parts, turn)
    except OctoError as exc:
        return _Outcome(state="failed", error=exc.message, hint=exc.hint)
    except Exception:
        logger.exception("turn %s failed", turn.row.id)
        return _BROKEN


async def _run_agent(parts: TurnParts, turn: RunningTurn) -> _Outcome:
    tools = parts.policy.tools_for(turn.job.message, parts.tools, turn.model.name)
    emit = turn.controller.emit
    used = await used_before(parts, turn, tools)
    hooks = hooks_for(parts, turn, used.spent)
    earlier = await compacted(parts, turn, hooks)
    texts = {name: turn.screen.mask(text) for name, text in turn.texts.items()}
    asked = turn_input(turn.job.message, tools, earlier, texts)
    asked = replace(asked, user=told_first(turn.row.remark, asked.user))
    asked = _hidden(asked, turn.mask)
    first = turn.model.note if turn.row.parent is None else ""
    idle = parts.policy.unmatched(turn.job.message, parts.tools)
    notes = (turn.news, _left(turn.row.left_behind), *turn.job.message.notices)
    for note in (*notes, first, idle):
        if note:
            emit(Noticed(note))
    agent = agent_for(parts, turn, tools, hooks, used)
    keep = partial(_keep, parts, turn)
    task = turn.job.message.task
    asked = replace(asked, id=task.id if task else turn.row.id, spent=used.spent)
    ending = await agent.run(asked, turn.transcript, emit, keep)
    if ending.note:
        emit(Noticed(ending.note))
    return _Outcome(state="completed", messages=ending.final, short=ending.note)


def _hidden(asked: TurnInput, mask: Redactor) -> TurnInput:
    """Masked before anything of it is cut: half a secret would not be known as one."""
    history = tuple(masked_message(message, mask) for message in asked.history)
    return replace(asked, history=history, user=masked_message(asked.user, mask))


def _left(count: int) -> str:
    """What a replaced turn says of the turns after it."""
    later = "1 later turn" if count == 1 else f"{count} later turns"
    them = "it" if count == 1 else "them"
    return f"{later} left this conversation; `/sessions all` keeps {them}" if count else ""


async def _keep(parts: TurnParts, turn: RunningTurn, messages: Sequence[Message]) -> None:
    await _keep_changes(parts, turn)
    await keep_seen(parts.database, turn.row, parts.owner, turn.seen)
    append = partial(
        append_step, turn_id=turn.row.id, owner=parts.owner, messages=_kept(turn, messages)
    )

    def store(db: Connection) -> None:
        append(db)
        _keep_read(db, parts, turn)

    await parts.database.run(store)


def _keep_read(db: Connection, parts: TurnParts, turn: RunningTurn) -> None:
    """Which messages it read while it ran, in the transaction that stores their words."""
    if turn.said.read:
        also = (*turn.job.also, *turn.said.read)
        answer_also(db, turn.row.id, parts.owner, also)


def _kept(turn: RunningTurn, messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages as they are stored: without secrets, but for the person's own words."""
    return tuple(m if m.role == "user" else masked_message(m, turn.mask) for m in messages)


async def _keep_changes(parts: TurnParts, turn: RunningTurn) -> None:
    """A failure is told in the turn and does not end it."""
    if problem := await keep_changes(
        parts.database, lambda _: turn.row.id, turn.changes, turn.mask
    ):
        turn.controller.emit(Noticed(problem))


async def _finish(parts: TurnParts, turn: RunningTurn, outcome: _Outcome) -> None:
    """Store the end and show it; what could not be stored is shown as failed."""
    messages = outcome.messages
    if outcome.state != "completed":
        messages = turn.transcript.close("failed" if outcome.state == "failed" else "cancelled")
    finish = partial(
        finish_turn,
        turn_id=turn.row.id,
        owner=parts.owner,
        state=outcome.state,
        messages=_kept(turn, messages),
        usage=turn.transcript.usage,
        error=turn.mask(outcome.error),
        hint=turn.mask(outcome.hint),
    )

    def store(db: Connection) -> None:
        if turn.controller.model != turn.model.name:
            provider, _, model = turn.controller.model.partition("/")
            change_model(db, turn.row.id, parts.owner, provider=provider, model=model)
        _keep_read(db, parts, turn)
        finish(db)

    try:
        await _keep_changes(parts, turn)
        await keep_seen(parts.database, turn.row, parts.owner, turn.seen)
        await parts.database.run(store)
    except OctoError as exc:
        outcome = _Outcome(state="failed", error=exc.message, hint=exc.hint)
    except Exception:
        logger.exception("the end of turn %s was not stored", turn.row.id)
        outcome = _BROKEN
    await conclude(parts, turn, outcome.state, outcome.error or outcome.short)
    turn.controller.end(outcome.state, error=outcome.error, hint=outcome.hint)
