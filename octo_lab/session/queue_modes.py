"""What becomes of a message that comes while a turn of its dialog runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

from octo_lab.core.mail import AskOptions, InboundMessage
from octo_lab.session.job import Job
from octo_lab.storage.sessions import SessionRow

QueueMode = Literal["followup", "collect", "steer", "interrupt"]
MODES: tuple[QueueMode, ...] = get_args(QueueMode)


def mode_of(session: SessionRow | None, usual: QueueMode) -> QueueMode:
    """The mode that was chosen in a dialog, else the usual one."""
    chosen = session.queue_mode if session else None
    return next((mode for mode in MODES if mode == chosen), usual)


def same_person(one: Job, other: Job) -> bool:
    """Whether two messages come from one person in one place."""
    a, b = one.message, other.message
    return a.address == b.address and a.sender_id == b.sender_id


def joins(job: Job, first: Job) -> bool:
    """Whether ``job`` may be answered within the turn of ``first``: it wants nothing of its own."""
    return same_person(job, first) and not job.message.options.slot and _plain(job, first)


def _plain(job: Job, first: Job) -> bool:
    return job.message.options in (AskOptions(), replace(first.message.options, slot=""))


def merged(first: InboundMessage, others: Sequence[InboundMessage]) -> InboundMessage:
    """One message of several, in the order they came."""
    every = (first, *others)
    return replace(
        first,
        text="\n\n".join(each.text for each in every if each.text.strip()),
        attachments=tuple(item for each in every for item in each.attachments),
        notices=tuple(line for each in every for line in each.notices),
        taint=tuple(reason for each in every for reason in each.taint),
    )
