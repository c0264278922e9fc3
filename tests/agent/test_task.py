from __future__ import annotations

import logging
from pathlib import Path

import anyio
import pytest

from octo_lab.agent.task import Done, Episode, concluded, instruction, remember
from octo_lab.core import tasks
from octo_lab.core.errors import OctoError, StorageError
from octo_lab.core.messages import Message, Usage
from tests.agent.turns import call

pytestmark = pytest.mark.anyio

USED = Usage(input_tokens=20, output_tokens=4, requests=2)
TASK = tasks.Task(
    kind=tasks.Code("Fix it", (Path("a.py"),)), context=tasks.TaskContext(working_dir=Path("/w"))
)
SAID = (
    Message(role="assistant", content="I look.", tool_calls=(call("echo"),)),
    Message(role="tool", content="x", tool_call_id="1"),
)


class Kept:
    """Episodes as they were saved, or not."""

    def __init__(self, fails: Exception | None = None) -> None:
        self.episodes: list[Episode] = []
        self._fails = fails

    async def save(self, episode: Episode) -> None:
        await anyio.lowlevel.checkpoint()
        if self._fails:
            raise self._fails
        self.episodes.append(episode)


def test_a_task_gives_the_last_words_each_file_once_and_what_it_took() -> None:
    messages = (*SAID, Message(role="assistant", content="Fixed."))

    done = concluded(TASK, Done(problem="", messages=messages, usage=USED, files=["a", "b", "a"]))

    result = tasks.TaskResult(
        success=True,
        output="Fixed.",
        files_modified=(Path("a"), Path("b")),
        token_usage=tasks.TaskTokens(input_tokens=20, output_tokens=4),
    )
    assert (done.id, done.status, done.result) == (TASK.id, tasks.Completed(), result)
    assert done.updated_at > TASK.updated_at


@pytest.mark.parametrize(("said", "output"), [(SAID, "I look."), ((), "out of time")])
def test_a_task_with_a_problem_has_failed_and_keeps_what_was_said(
    said: tuple[Message, ...], output: str
) -> None:
    done = concluded(TASK, Done(problem="out of time", messages=said, usage=Usage()))

    assert done.status == tasks.Failed("out of time")
    assert done.result == tasks.TaskResult(success=False, output=output)


async def test_a_task_is_remembered_in_at_most_500_characters() -> None:
    kept = Kept()
    said = (Message(role="assistant", content="x" * 1000),)
    task = concluded(TASK, Done(problem="", messages=said, usage=USED, files=["a.py"]))

    await remember(kept, task, "success")

    assert kept.episodes == [
        Episode(
            task_id=TASK.id,
            summary="x" * 500,
            outcome="success",
            working_dir=Path("/w"),
            files_modified=(Path("a.py"),),
        )
    ]


@pytest.mark.parametrize("error", [StorageError("no room"), ZeroDivisionError("a defect")])
async def test_an_episode_that_cannot_be_kept_is_logged(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    await remember(Kept(error), TASK, "failure")

    [record] = caplog.records
    assert TASK.id in record.getMessage()
    assert bool(record.exc_info) != isinstance(error, OctoError)
    assert record.levelno >= logging.WARNING


@pytest.mark.parametrize(
    ("kind", "begins"),
    [
        (tasks.Plan("win"), "Make a plan for this goal, as a numbered list of steps:\n\nwin"),
        (tasks.Code("Fix", (Path("a"),)), "Fix\n\nFiles to work on: a"),
        (tasks.Review("+a"), "Review this change. Name each fault with its place:\n\n+a"),
        (tasks.Test("make"), "Run this and report what fails and why:\n\nmake"),
        (tasks.Custom("dance", {"n": 1}), 'dance\n\n{"n": 1}'),
    ],
)
def test_each_kind_says_what_to_do(kind: tasks.TaskKind, begins: str) -> None:
    scope = tasks.TaskContext(working_dir=Path("/w"), files_in_scope=(Path("b"),))

    assert instruction(tasks.Task(kind=kind, context=scope)) == f"{begins}\n\nFiles that matter: b"
