"""Sums up a dialog before a turn in it, when it has grown too long."""

from __future__ import annotations

from octo_lab.agent.model_call import ModelCall
from octo_lab.agent.ports import Hooks
from octo_lab.core.events import Noticed
from octo_lab.core.stream import UsageReported
from octo_lab.session.compact import keep, sum_up
from octo_lab.session.history import Earlier
from octo_lab.session.parts import RunningTurn, TurnParts


async def compacted(parts: TurnParts, turn: RunningTurn, hooks: Hooks) -> Earlier:
    """What the model is told of the past: as it was, or with its older part summed up.

    The turn pays for the summary. While turns run beside each other nothing is summed up. Raises
    StorageError.
    """
    earlier, policy, window = turn.earlier, parts.policy.compaction, turn.model.window
    if turn.row.side or earlier.unfinished:
        return earlier
    if not policy.due(earlier.turns, window):
        return earlier
    emit = turn.controller.emit
    emit(Noticed("The older part of this conversation is being summed up."))
    call = ModelCall(provider=turn.provider, hooks=hooks)
    made = await sum_up(call, earlier, policy, window, turn.mask)
    if made is None:
        return earlier
    turn.transcript.usage += made.usage
    emit(UsageReported(made.usage))
    if not await keep(parts.database, turn.row.session_id, earlier, made):
        return earlier
    if made.problem:
        emit(Noticed(f"It was summed up by rules: {made.problem}."))
    last = earlier.turns[made.turns - 1].turn.id
    return Earlier(cursor=last, turns=earlier.turns[made.turns :], summary=made.text)
