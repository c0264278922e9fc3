"""Makes the agent of one turn: its tools, its approver, what its calls may know."""

from __future__ import annotations

from collections.abc import Sequence

from octo_lab.agent.compaction import WithinWindow
from octo_lab.agent.hooks import HookScope, TurnHooks
from octo_lab.agent.loop import Agent
from octo_lab.agent.ports import NO_HOOKS, Hooks
from octo_lab.core.events import Noticed
from octo_lab.core.messages import Usage
from octo_lab.llm.resilience.pace import Paced
from octo_lab.session.approvals import Asker, TurnApprover
from octo_lab.session.call_context import CallContexts
from octo_lab.session.parts import RunningTurn, TurnParts
from octo_lab.session.patience import patience_with
from octo_lab.session.used import Used
from octo_lab.tools.tool import Tool


def agent_for(
    parts: TurnParts, turn: RunningTurn, tools: Sequence[Tool], hooks: Hooks, used: Used
) -> Agent:
    message, controller = turn.job.message, turn.controller
    asker = Asker(
        address=message.address,
        session=turn.job.session.id,
        emit=controller.emit,
        attended=not message.options.headless and parts.attended(message.address),
        named=frozenset(message.options.tools or ()),
        sender=message.sender_id,
    )
    return Agent(
        provider=Paced(turn.provider, parts.pace),
        tools=tools,
        approver=TurnApprover(parts.desk, asker),
        context=_contexts(parts, turn),
        limits=parts.policy.limits_for(message),
        patience=patience_with(turn.model),
        compactor=WithinWindow(turn.model.window),
        hooks=hooks,
        steering=turn.said,
        session=used.session,
    )


def hooks_for(parts: TurnParts, turn: RunningTurn, spent: Usage) -> Hooks:
    """``spent`` is what the session had taken before the turn."""
    if parts.hooks is None:
        return NO_HOOKS
    scope = HookScope(
        session=str(turn.job.session.key),
        profile=turn.job.message.address.profile,
        tell=lambda text: turn.controller.emit(Noticed(text)),
        spent=spent.cost,
        mask=turn.mask,
    )
    return TurnHooks(hooks=parts.hooks, scope=scope)


def _contexts(parts: TurnParts, turn: RunningTurn) -> CallContexts:
    return CallContexts(
        policy=parts.policy,
        address=turn.job.message.address,
        session=str(turn.job.session.key),
        turn_id=turn.row.id,
        changes=turn.changes,
        taint=turn.taint,
        screen=turn.screen,
    )
