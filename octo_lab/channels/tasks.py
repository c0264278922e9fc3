"""Hands a task in and follows it to its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import anyio

from octo_lab.bus.events import Watched, Watching
from octo_lab.bus.ports import Door
from octo_lab.channels.answers import last_answer
from octo_lab.channels.inbox import Heard, Inbox
from octo_lab.core.events import TurnEvent
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import AskOptions, InboundMessage
from octo_lab.core.tasks import (
    Code,
    Custom,
    Failed,
    Plan,
    Review,
    Task,
    TaskComplete,
    TaskResult,
    TaskUpdate,
    Test,
)
from octo_lab.core.text import clean


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDesk:
    """Where tasks are handed in: ``inbox`` hears the chat at ``address``, which is the task's own.

    ``hear`` gets every event of the task's turn, in order.
    """

    door: Door
    address: ChatAddress
    inbox: Inbox
    hear: Callable[[TurnEvent], None]


async def run_task(desk: TaskDesk, task: Task, options: AskOptions = AskOptions()) -> Task:
    """The task with its result and status; the id of its message is the task's. Raises Rejected."""
    follower = _Follower(desk.hear, task)
    message = InboundMessage(
        address=desk.address,
        sender_id=desk.address.chat_id,
        text=clean(_words(task)),
        id=task.id,
        options=options,
        task=task,
    )
    with desk.door.watch(desk.address, task.id) as watching:
        await desk.door.publish(message)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follower.follow, watching)
            answer = await last_answer(desk.inbox, task.id)
            watching.close()
    return follower.task if follower.task.result else _undone(task, answer)


@dataclass(slots=True)
class _Follower:
    """Passes on what happens, and keeps how the task stands."""

    hear: Callable[[TurnEvent], None]
    task: Task

    async def follow(self, watching: Watching) -> None:
        while taken := await watching.take():
            for event in taken:
                self._take(event)

    def _take(self, event: Watched) -> None:
        match event:
            case TaskUpdate(status=status):
                self.task = replace(self.task, status=status)
            case TaskComplete(result=result):
                self.task = replace(self.task, result=result)
            case _:
                self.hear(event)


def _words(task: Task) -> str:
    """What the task is about, as its dialog is called."""
    match task.kind:
        case Plan(words) | Code(words) | Review(words) | Test(words) | Custom(words):
            return words


def _undone(task: Task, answer: Heard | None) -> Task:
    """The task where something else came in place of a turn."""
    text = answer.text if answer is not None else ""
    problem = text or "The result got lost; it is in the session's history"
    result = TaskResult(success=False, output=problem)
    return replace(task, status=Failed(problem), result=result)
