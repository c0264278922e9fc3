"""Tasks that an agent is given, how they stand, and what agents tell each other about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from octo_lab.core.clock import utc_now
from octo_lab.core.ids import new_id
from octo_lab.core.messages import Message


@dataclass(frozen=True, slots=True)
class Pending:
    """Nobody works on it yet."""


@dataclass(frozen=True, slots=True)
class InProgress:
    agent_id: str


@dataclass(frozen=True, slots=True)
class Blocked:
    """It waits for something else."""

    reason: str


@dataclass(frozen=True, slots=True)
class Completed:
    """It was done."""


@dataclass(frozen=True, slots=True)
class Failed:
    error: str


TaskStatus = Pending | InProgress | Blocked | Completed | Failed


@dataclass(frozen=True, slots=True)
class Plan:
    goal: str


@dataclass(frozen=True, slots=True)
class Code:
    instruction: str
    files: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Review:
    diff: str


@dataclass(frozen=True, slots=True)
class Test:
    command: str


@dataclass(frozen=True, slots=True)
class Custom:
    name: str
    params: Mapping[str, Any] = field(default_factory=dict)


TaskKind = Plan | Code | Review | Test | Custom


@dataclass(frozen=True, slots=True, kw_only=True)
class GitState:
    branch: str | None = None
    commit: str | None = None
    dirty: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskContext:
    """What a task begins with. ``working_memory`` is what was said before, ``episodic_refs``
    name episodes of earlier tasks.
    """

    working_dir: Path
    git_state: GitState | None = None
    working_memory: tuple[Message, ...] = ()
    episodic_refs: tuple[str, ...] = ()
    files_in_scope: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTokens:
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """What came of a task; ``subtasks`` are ids of tasks."""

    success: bool
    output: str
    files_modified: tuple[Path, ...] = ()
    subtasks: tuple[str, ...] = ()
    token_usage: TaskTokens = TaskTokens()


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One piece of work. Ids are UUIDs of version 7, in their order of time."""

    kind: TaskKind
    context: TaskContext
    id: str = field(default_factory=new_id)
    parent_id: str | None = None
    status: TaskStatus = Pending()
    result: TaskResult | None = None
    created_at: datetime = field(default_factory=utc_now)
    updated_at: datetime = field(default_factory=utc_now)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskAssign:
    task: Task


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskUpdate:
    task_id: str
    status: TaskStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskComplete:
    task_id: str
    result: TaskResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    task_id: str
    query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextResponse:
    task_id: str
    context: tuple[Message, ...]


AgentMessage = TaskAssign | TaskUpdate | TaskComplete | ContextRequest | ContextResponse
