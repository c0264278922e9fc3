"""What becomes of a message that comes while a turn of its dialog runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

from octo_lab.core.mail import AskOptions, InboundMessage
from octo_lab.session.job import Job
from octo_lab.storage.sessions import SessionRow

QueueMode = Literal["followup", "collect", "steer", "interrupt", "speculative"]
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
    return same_person(job, first) and loose(job) and _plain(job, first)


def loose(job: Job) -> bool:
    """Whether the message was just said: not from a cell, which shows its answer, and no task."""
    return not job.message.options.slot and job.message.task is None


def _plain(job: Job, first: Job) -> bool:
    return job.message.options in (AskOptions(), replace(first.message.options, slot=""))


def together(first: Job, others: Sequence[Job]) -> Job:
    """One job of several, in the order they came."""
    if not others:
        return first
    taken = (message for job in others for message in job.messages)
    return replace(
        first,
        message=merged(first.message, [job.message for job in others]),
        others=(*first.others, *taken),
    )


def merged(first: InboundMessage, others: Sequence[InboundMessage]) -> InboundMessage:
    """One message of several: the text of each is told apart, and what was attached to it."""
    queued = (f"\n---\nQueued #{n}: {_said(each)}" for n, each in enumerate(others, 1))
    return joined(f"{_said(first)}{''.join(queued)}", (first, *others))


def joined(text: str, every: Sequence[InboundMessage]) -> InboundMessage:
    """The first message, with ``text`` for that of all and with what each of them brought."""
    return replace(
        every[0],
        text=text,
        attachments=tuple(item for each in every for item in each.attachments),
        notices=tuple(line for each in every for line in each.notices),
        taint=tuple(reason for each in every for reason in each.taint),
    )


def _said(message: InboundMessage) -> str:
    names = ", ".join(item.name for item in message.attachments)
    return f"{message.text}\n[attached to this: {names}]" if names else message.text
