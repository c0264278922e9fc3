"""The end of a turn that did a task: its result is remembered, and told to who watches it."""

from __future__ import annotations

from octo_lab.agent.task import Done, Outcome, concluded, remember
from octo_lab.core.tasks import TaskComplete, TaskUpdate
from octo_lab.core.turns import TurnState
from octo_lab.security.outgoing import masked_message
from octo_lab.session.parts import RunningTurn, TurnParts

STOPPED = "Stopped before it was done"


async def conclude(parts: TurnParts, turn: RunningTurn, state: TurnState, problem: str) -> None:
    """To be called when the turn is stored, and before its end is shown.

    ``problem`` says why a turn that was not stopped left the task undone, or ''.
    """
    message = turn.job.message
    if message.task is None:
        return
    stopped = state in ("cancelled", "interrupted")
    done = Done(
        problem=STOPPED if stopped else problem,
        messages=[masked_message(message, turn.mask) for message in turn.transcript.messages],
        usage=turn.transcript.usage,
        files=[change.path for change in turn.changes.files],
    )
    task = concluded(message.task, done)
    outcome: Outcome = "cancelled" if stopped else "failure" if done.problem else "success"
    await remember(parts.episodes, task, outcome)
    if task.result is not None:
        tell = parts.events.teller(message.address, message.id)
        tell(TaskUpdate(task_id=task.id, status=task.status))
        tell(TaskComplete(task_id=task.id, result=task.result))
