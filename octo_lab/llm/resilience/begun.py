"""When an answer has begun: from then on it can no longer come from somebody else."""

from __future__ import annotations

import math

import anyio

from octo_lab.core.errors import TimedOut
from octo_lab.core.stream import Remarked, StreamEvent, UsageReported
from octo_lab.llm.provider import Events


def begins(event: StreamEvent) -> bool:
    """Whether the event is part of the answer; remarks and what was spent so far are not."""
    return not isinstance(event, Remarked | UsageReported)


async def opening(events: Events, label: str, within: float = math.inf) -> Events:
    """A stream up to the event that begins the answer; the rest stays in ``events``.

    Raises TimedOut when that takes more than ``within`` seconds; ``events`` are over then.
    """
    deadline = anyio.current_time() + within
    late = f"{label!r} sent nothing for {within:g} s"
    while (event := await _next(events, deadline, late)) is not None:
        yield event
        if begins(event):
            return


async def _next(events: Events, deadline: float, late: str) -> StreamEvent | None:
    with anyio.CancelScope(deadline=deadline):
        return await anext(events, None)
    raise TimedOut(late, hint="try again, or choose another model")
