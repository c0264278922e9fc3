"""The begin of a turn: the question is stored, and with it what it starts from is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sqlalchemy import Connection

from octo_lab.agent.prompt import LayerName
from octo_lab.core.errors import Rejected
from octo_lab.core.events import Noticed
from octo_lab.core.text import clean, first_line
from octo_lab.llm.masked import Masked
from octo_lab.llm.resilience.swappable import Swappable
from octo_lab.security.outgoing import Outgoing
from octo_lab.security.redact import Redactor
from octo_lab.session.ask import user_message
from octo_lab.session.changes import TurnLedger
from octo_lab.session.hiding import Hiding
from octo_lab.session.history import Earlier
from octo_lab.session.models import ChosenModel
from octo_lab.session.parts import Job, RunningTurn, Stopper, TurnParts
from octo_lab.session.privacy import alarms_of
from octo_lab.session.steering import SteerBox, ignore
from octo_lab.session.turn import TurnController, TurnFacts
from octo_lab.storage.history import Seen, seen_at
from octo_lab.storage.sessions import SessionRow, needed_session, rename_session
from octo_lab.storage.summaries import summary_of
from octo_lab.storage.turns import NewTurn, TurnRecord, TurnRow, begin_turn, load_turns
from octo_lab.tools.changes import Changes

TITLE_LENGTH = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class _Begun:
    """``earlier`` is what came before the turn, ``texts`` are the prompt's files."""

    row: TurnRow
    earlier: Earlier
    texts: dict[LayerName, str]


async def begin(
    parts: TurnParts,
    job: Job,
    stopper: Stopper,
    read: Callable[[Job], None] = ignore,
    beside: RunningTurn | None = None,
) -> RunningTurn:
    """Store the question, durable from here on; raises OctoError when it cannot be asked.

    ``read`` is called with each message that the running turn takes in. What is asked ``beside`` a
    turn is told what that was told of the past.
    """
    news = parts.news()
    privacy = parts.policy.privacy
    mask = privacy.mask
    model, begun = await _store(parts, job, mask, beside)
    told = parts.events.teller(job.message.address, job.message.id)
    hiding = Hiding(mask)
    controller = TurnController(_facts(job, begun.row, model), told, hiding)
    answering = Swappable(model.provider)
    before = await _summed_up(parts, begun.earlier)
    taint = privacy.taint(begun.earlier.turns, job.message, before.taint)
    alarms = alarms_of(begun.earlier.turns, before.alarms)

    ledger = TurnLedger(database=parts.database, turn=lambda _: begun.row.id, mask=mask)

    def taken(said: Job) -> None:
        taint.mark_all(privacy.given(said.message))
        read(said)

    return RunningTurn(
        job=job,
        row=begun.row,
        model=model,
        provider=Masked(answering, Outgoing(mask)),
        answering=answering,
        controller=controller,
        stopper=stopper,
        news=news,
        earlier=begun.earlier,
        texts=begun.texts,
        said=SteerBox(taken),
        changes=Changes(ledger),
        taint=taint,
        mask=mask,
        screen=privacy.screen(lambda text: controller.emit(Noticed(text)), alarms, hiding.text),
    )


async def _store(
    parts: TurnParts, job: Job, mask: Redactor, beside: RunningTurn | None
) -> tuple[ChosenModel, _Begun]:
    """With the model that the dialog has now: it may have changed while the message waited."""
    wanted = job.session.model
    while True:
        model = await parts.models.choose(job.message.options.model or wanted)
        new = replace(_new_turn(job, model), beside=beside is not None)
        stored = await parts.database.run(partial(_begun, parts, mask, new, wanted, beside))
        if isinstance(stored, _Begun):
            return model, stored
        wanted = stored.model


def _begun(
    parts: TurnParts,
    mask: Redactor,
    new: NewTurn,
    wanted: str | None,
    beside: RunningTurn | None,
    db: Connection,
) -> _Begun | SessionRow:
    """All in one thread, for a thread costs more than they do; the dialog alone where it is not
    the ``wanted`` model's any more.
    """
    session = needed_session(db, new.session_id)
    if session.model != wanted:
        return session
    _check_turns(parts.usages.limits.turns, session)
    texts = parts.policy.prompt.read()
    row = begin_turn(db, new, owner=parts.owner)
    if row.parent is None and not session.title:
        rename_session(db, session.id, first_line(mask(new.prompt), TITLE_LENGTH))
    past, summary = _past(db, parts, row, beside)
    earlier = Earlier(cursor=session.cursor, turns=past, summary=summary)
    return _Begun(row=row, earlier=earlier, texts=texts)


def _past(
    db: Connection, parts: TurnParts, row: TurnRow, beside: RunningTurn | None
) -> tuple[Sequence[TurnRecord], str]:
    if beside is not None:
        return beside.earlier.turns, beside.earlier.summary
    if row.parent is None:
        return [], ""
    limit = parts.policy.history + 1
    past = load_turns(db, row.session_id, context_only=True, limit=limit)[:-1]
    return past, summary_of(db, row.session_id)


async def _summed_up(parts: TurnParts, earlier: Earlier) -> Seen:
    """What the turns behind a summary had seen."""
    if not earlier.summary:
        return Seen()
    return await parts.database.read(partial(seen_at, turn_id=earlier.cursor))


def _check_turns(most: int | None, session: SessionRow) -> None:
    if most is not None and session.turns >= most:
        raise Rejected(
            f"This session has had its {most} turns",
            hint="go on in another one, with `/new`, or raise `limits.turns`",
        )


def _new_turn(job: Job, model: ChosenModel) -> NewTurn:
    message, options = job.message, job.message.options
    return NewTurn(
        session_id=job.session.id,
        message=user_message(message),
        prompt=clean(message.text),
        message_id=message.id,
        slot=options.slot,
        replace=not options.append,
        also=job.also,
        model=model.provider.model,
        provider=model.provider.name,
    )


def _facts(job: Job, row: TurnRow, model: ChosenModel) -> TurnFacts:
    return TurnFacts(
        turn_id=row.id,
        message_id=job.message.id,
        session=str(job.session.key),
        prompt=row.prompt,
        model=model.name,
        started_at=row.started_at,
    )
