"""Runs one task to its result, beside the turns of a chat."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Protocol

import anyio

from octo_lab.agent.loop import Agent, Ending
from octo_lab.agent.transcript import Transcript
from octo_lab.agent.turn_input import TurnInput
from octo_lab.core.clock import utc_now
from octo_lab.core.errors import OctoError
from octo_lab.core.events import Emit, FileChanged, TurnEvent
from octo_lab.core.messages import Message, Usage
from octo_lab.core.tasks import (
    Code,
    Completed,
    Custom,
    Failed,
    InProgress,
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

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """What is remembered of a task: at most 500 characters, and how it went."""

    task_id: str
    summary: str
    outcome: Literal["success", "failure", "blocked", "cancelled"]
    working_dir: Path
    files_modified: tuple[Path, ...] = ()


class Episodes(Protocol):
    """Remembers tasks."""

    async def save(self, episode: Episode) -> None:
        """Keep an episode; raises OctoErrors, which do not change the task's result."""
        ...


class NoEpisodes:
    """Where nothing is remembered."""

    async def save(self, episode: Episode) -> None:
        return None


NO_EPISODES = NoEpisodes()


@dataclass(slots=True, kw_only=True)
class TaskRun:
    """One task at work. ``subtasks`` are added by whoever begins them."""

    agent: Agent
    system: str
    emit: Emit
    episodes: Episodes = NO_EPISODES
    agent_id: str = "octo"
    subtasks: list[str] = field(default_factory=list)
    _files: list[str] = field(default_factory=list)

    async def run(self, task: Task) -> Task:
        """The task with its result and status; only a cancellation is raised."""
        transcript = Transcript()
        task = _at(task, status=InProgress(self.agent_id))
        try:
            ending = await self.agent.run(self._input(task), transcript, self._heard, self._keep)
            task = self._done(task, ending, transcript)
        except OctoError as exc:
            task = self._failed(task, str(exc), transcript)
        except anyio.get_cancelled_exc_class():
            await self._remember(self._failed(task, "stopped", transcript), "cancelled")
            raise
        success = task.result is not None and task.result.success
        await self._remember(task, "success" if success else "failure")
        return task

    def _heard(self, event: TurnEvent) -> None:
        if isinstance(event, FileChanged):
            self._files.append(event.path)
        self.emit(event)

    async def _keep(self, step: Sequence[Message]) -> None:
        """A task has no history of its own: its transcript lives as long as it runs."""

    def _input(self, task: Task) -> TurnInput:
        return TurnInput(
            system=self.system,
            history=task.context.working_memory,
            user=Message(role="user", content=instruction(task)),
            id=task.id,
        )

    def _done(self, task: Task, ending: Ending, transcript: Transcript) -> Task:
        output = transcript.messages[-1].content if transcript.messages else ""
        if ending.reason not in ("end_turn", "stop_sequence"):
            return self._failed(task, ending.note or ending.reason, transcript, output)
        result = self._result(True, output, transcript.usage)
        return _at(task, status=Completed(), result=result)

    def _failed(self, task: Task, error: str, transcript: Transcript, output: str = "") -> Task:
        result = self._result(False, output or error, transcript.usage)
        return _at(task, status=Failed(error), result=result)

    def _result(self, success: bool, output: str, usage: Usage) -> TaskResult:
        return TaskResult(
            success=success,
            output=output,
            files_modified=tuple(map(Path, dict.fromkeys(self._files))),
            subtasks=tuple(self.subtasks),
            token_usage=TaskTokens(
                input_tokens=usage.input_tokens, output_tokens=usage.output_tokens
            ),
        )

    async def _remember(
        self, task: Task, outcome: Literal["success", "failure", "cancelled"]
    ) -> None:
        result = task.result
        episode = Episode(
            task_id=task.id,
            summary=(result.output if result else "")[:SUMMARY],
            outcome=outcome,
            working_dir=task.context.working_dir,
            files_modified=result.files_modified if result else (),
        )
        with anyio.move_on_after(_EPISODE_SECONDS, shield=True):
            try:
                await self.episodes.save(episode)
            except OctoError as exc:
                logger.warning("the episode of task %s was not kept: %s", task.id, exc)


async def run_task(run: TaskRun, task: Task) -> TaskResult:
    """Do a task and give its result."""
    done = await run.run(task)
    return done.result or TaskResult(success=False, output="")


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


def _at(task: Task, **changes: object) -> Task:
    return replace(task, updated_at=utc_now(), **changes)  # type: ignore[arg-type]
