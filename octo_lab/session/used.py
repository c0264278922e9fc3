"""What a dialog used before a turn, as the stored turns tell: a restart changes nothing of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from octo_lab.agent.session_limits import SessionUsage
from octo_lab.core.messages import Usage
from octo_lab.session.parts import RunningTurn, TurnParts
from octo_lab.storage.used import calls_at, spent_at
from octo_lab.tools.tool import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """``session`` goes on counting; ``spent`` is known only where somebody is told of it."""

    session: SessionUsage
    spent: Usage = Usage()


async def used_before(parts: TurnParts, turn: RunningTurn, tools: Sequence[Tool]) -> Used:
    """Looks into the stored turns only for what is asked of them. Raises StorageError."""
    return Used(session=await _counted(parts, turn, tools), spent=await _spent(parts, turn))


async def _counted(parts: TurnParts, turn: RunningTurn, tools: Sequence[Tool]) -> SessionUsage:
    usages, session, head = parts.usages, turn.job.session.id, turn.row.parent
    if usages.limits.counts and head is not None and not usages.knows(session):
        rounds, calls = await parts.database.read(partial(calls_at, head=head))
        usages.remember(session, rounds, _by_own_names(calls, tools))
    return usages.of(session)


def _by_own_names(calls: Counter[str], tools: Sequence[Tool]) -> Counter[str]:
    """A model may have called a tool by an alias, which limits do not know."""
    own = {tool.name: tool.own_name for tool in tools if tool.own_name}
    named: Counter[str] = Counter()
    for name, count in calls.items():
        named[own.get(name, name)] += count
    return named


async def _spent(parts: TurnParts, turn: RunningTurn) -> Usage:
    message, head = turn.job.message, turn.row.parent
    told = parts.hooks is not None or parts.events.watched(message.address, message.id)
    if head is None or not told:
        return Usage()
    return await parts.database.read(partial(spent_at, head=head))
