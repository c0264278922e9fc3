"""One task: what the model is asked, what came of it, how it is remembered.

A task is done by a turn like any other, in a dialog of its own, so that it is stored, metered,
undone and stopped the same way. Whoever hands it in is told a ``TaskComplete``.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol

import anyio

from octo_lab.core.clock import utc_now
from octo_lab.core.errors import OctoError
from octo_lab.core.messages import Message, Usage
from octo_lab.core.tasks import (
    Code,
    Completed,
    Custom,
    Failed,
    Plan,
    Review,
    Task,
    TaskKind,
    TaskResult,
    TaskTokens,
    Test,
)

SUMMARY = 500
_EPISODE_SECONDS = 30.0

Outcome = Literal["success", "failure", "blocked", "cancelled"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """What is remembered of a task: at most 500 characters, and how it went."""

    task_id: str
    summary: str
    outcome: Outcome
    working_dir: Path
    files_modified: tuple[Path, ...] = ()


class Episodes(Protocol):
    """Remembers tasks."""

    async def save(self, episode: Episode) -> None:
        """Keep an episode; what it raises does not change the task's result."""
        ...


class NoEpisodes:
    """Where nothing is remembered."""

    async def save(self, episode: Episode) -> None:
        return None


NO_EPISODES = NoEpisodes()


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a turn leaves of a task. ``problem``: why the task did not come to its end, or ''."""

    problem: str
    messages: Sequence[Message]
    usage: Usage
    files: Iterable[str] = ()
    subtasks: tuple[str, ...] = ()


def concluded(task: Task, done: Done) -> Task:
    """The task with its result and status; its output is the last thing the agent said."""
    said = (m.content for m in reversed(done.messages) if m.role == "assistant")
    result = TaskResult(
        success=not done.problem,
        output=next(filter(str.strip, said), "") or done.problem,
        files_modified=tuple(map(Path, dict.fromkeys(done.files))),
        subtasks=done.subtasks,
        token_usage=TaskTokens(
            input_tokens=done.usage.input_tokens, output_tokens=done.usage.output_tokens
        ),
    )
    status = Failed(done.problem) if done.problem else Completed()
    return replace(task, status=status, result=result, updated_at=utc_now())


async def remember(episodes: Episodes, task: Task, outcome: Outcome) -> None:
    """Save the task's episode within 30 seconds; what goes wrong is logged."""
    result = task.result
    episode = Episode(
        task_id=task.id,
        summary=(result.output if result else "")[:SUMMARY],
        outcome=outcome,
        working_dir=task.context.working_dir,
        files_modified=result.files_modified if result else (),
    )
    try:
        with anyio.fail_after(_EPISODE_SECONDS, shield=True):
            await episodes.save(episode)
    except (OctoError, TimeoutError) as exc:
        logger.warning("the episode of task %s was not kept: %s", task.id, exc)
    except Exception:
        logger.exception("the episode of task %s was not kept", task.id)


def instruction(task: Task) -> str:
    """What the model is asked to do."""
    scope = [str(path) for path in task.context.files_in_scope]
    files = f"\n\nFiles that matter: {', '.join(scope)}" if scope else ""
    return _asked(task.kind) + files


def _asked(kind: TaskKind) -> str:
    match kind:
        case Plan(goal):
            return f"Make a plan for this goal, as a numbered list of steps:\n\n{goal}"
        case Code(told, files):
            where = f"\n\nFiles to work on: {', '.join(map(str, files))}" if files else ""
            return f"{told}{where}"
        case Review(diff):
            return f"Review this change. Name each fault with its place:\n\n{diff}"
        case Test(command):
            return f"Run this and report what fails and why:\n\n{command}"
        case Custom(name, params):
            return f"{name}\n\n{json.dumps(dict(params), ensure_ascii=False, default=str)}"
