"""What becomes of messages when more wait in a dialog than its queue takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Literal

from octo_lab.core.mail import InboundMessage
from octo_lab.core.replies import Told
from octo_lab.session.job import Job
from octo_lab.session.queue_modes import joined, joins, loose

Overflow = Literal["reject", "old", "summarize"]

MOST_WAITING = 20
"""Beyond so many the oldest go, or are shortened; where new ones are refused the queue decides."""

MOST_JOINED = 100
PUSHED_OUT = Told(
    text="More messages came than can wait here, and this was the oldest: it was not asked",
    failed=True,
    hint="ask it again",
)
_HEAD = "[More messages waited than the queue takes. The oldest, shortened to a line each:]"
_LINE = 160


def room_for(size: int, overflow: Overflow) -> int:
    """How many messages wait before something has to go."""
    return size if overflow == "reject" else min(size, MOST_WAITING)


def shortened(waiting: Sequence[Job]) -> list[Job]:
    """The same with the two oldest of one person as one; unchanged where none belong together."""
    for (_, one), (place, other) in combinations(enumerate(waiting), 2):
        if loose(one) and joins(other, one) and len(one.others) < MOST_JOINED:
            rest = (*waiting[:place], *waiting[place + 1 :])
            return [_both(one, other) if job is one else job for job in rest]
    return list(waiting)


def _both(one: Job, other: Job) -> Job:
    lines = [one.message.text if one.shortened else f"{_HEAD}\n{_line(one.message)}"]
    lines.append(_line(other.message))
    message = joined("\n".join(lines), (one.message, other.message))
    taken = (replace(each, text="", attachments=()) for each in other.messages)
    return replace(one, message=message, others=(*one.others, *taken), shortened=True)


def _line(message: InboundMessage) -> str:
    text = " ".join(message.text.split())
    names = ", ".join(item.name for item in message.attachments)
    said = text if len(text) <= _LINE else f"{text[: _LINE - 1]}…"
    return f"- {said}{f' [attached to this: {names}]' if names else ''}"
