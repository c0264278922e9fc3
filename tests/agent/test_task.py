from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from octo_lab.agent.limits import Limits
from octo_lab.agent.loop import Agent
from octo_lab.agent.task import Episode, TaskRun, instruction, run_task
from octo_lab.core import tasks
from octo_lab.core.errors import RateLimited, StorageError
from octo_lab.core.events import FileChanged, TurnBegan, TurnEvent
from octo_lab.core.messages import Message, Usage
from octo_lab.testing.providers import ScriptedProvider, calls, says
from octo_lab.tools.tool import ToolContext
from tests.agent.turns import ALLOW, ECHO, call, context, tool

pytestmark = pytest.mark.anyio

USED = Usage(input_tokens=10, output_tokens=2, requests=1)


class Kept:
    """Episodes as they were saved."""

    def __init__(self, *, fails: bool = False) -> None:
        self.episodes: list[Episode] = []
        self._fails = fails

    async def save(self, episode: Episode) -> None:
        await anyio.lowlevel.checkpoint()
        if self._fails:
            raise StorageError("no room")
        self.episodes.append(episode)


async def _edit(ctx: ToolContext, args: object) -> str:
    for _ in range(2):
        ctx.changes.changed("a.py", b"", b"x", call_id=ctx.call_id)
    return "edited"


EDIT = tool("edit", _edit)


class Run:
    def __init__(
        self, provider: ScriptedProvider, *, limits: Limits = Limits(), episodes: Kept | None = None
    ) -> None:
        self.events: list[TurnEvent] = []
        self.kept = episodes or Kept()
        agent = Agent(
            provider=provider,
            tools=[ECHO, EDIT],
            approver=ALLOW,
            context=context,
            limits=limits,
        )
        self.run = TaskRun(
            agent=agent, system="be octo", emit=self.events.append, episodes=self.kept
        )


MEMORY = (Message(role="user", content="before"), Message(role="assistant", content="yes"))
TASK = tasks.Task(
    kind=tasks.Code("Fix it", (Path("a.py"),)),
    context=tasks.TaskContext(working_dir=Path("/w"), working_memory=MEMORY),
)


async def test_a_task_gives_its_output_its_files_and_what_it_took() -> None:
    provider = ScriptedProvider(calls(call("edit"), usage=USED), says("Fixed.", usage=USED))
    run = Run(provider)
    run.run.subtasks.append("sub")

    done = await run.run.run(TASK)

    result = tasks.TaskResult(
        success=True,
        output="Fixed.",
        files_modified=(Path("a.py"),),
        subtasks=("sub",),
        token_usage=tasks.TaskTokens(input_tokens=20, output_tokens=4),
    )
    assert (done.id, done.status, done.result) == (TASK.id, tasks.Completed(), result)
    assert done.updated_at > TASK.updated_at
    assert [m.content for m in provider.requests[0].messages] == [
        "be octo",
        "before",
        "yes",
        "Fix it\n\nFiles to work on: a.py",
    ]
    assert run.events[0] == TurnBegan(TASK.id)
    assert run.events.count(FileChanged("a.py")) == 1
    assert run.kept.episodes == [
        Episode(
            task_id=TASK.id,
            summary="Fixed.",
            outcome="success",
            working_dir=Path("/w"),
            files_modified=(Path("a.py"),),
        )
    ]


async def test_a_task_that_meets_a_limit_has_failed() -> None:
    run = Run(ScriptedProvider(calls(call("echo"))), limits=Limits(iterations=1))

    done = await run.run.run(TASK)

    error = 'Stopped at the limit of 1 model calls for one turn. Say "go on" to continue.'
    assert done.status == tasks.Failed(error)
    assert run.kept.episodes[0].outcome == "failure"


async def test_a_provider_that_fails_fails_the_task() -> None:
    result = await run_task(Run(ScriptedProvider(RateLimited("slow down"))).run, TASK)

    assert result == tasks.TaskResult(success=False, output="slow down")


async def test_a_stopped_task_is_remembered_as_cancelled() -> None:
    run = Run(ScriptedProvider([anyio.sleep_forever]))

    with anyio.move_on_after(0.01):
        await run.run.run(TASK)

    assert [episode.outcome for episode in run.kept.episodes] == ["cancelled"]


async def test_an_episode_that_cannot_be_kept_changes_no_result() -> None:
    run = Run(ScriptedProvider(says("ok")), episodes=Kept(fails=True))

    assert (await run_task(run.run, TASK)).success


async def test_a_summary_has_at_most_500_characters() -> None:
    run = Run(ScriptedProvider(says("".join(map(str, range(1000))))))

    await run.run.run(TASK)

    assert len(run.kept.episodes[0].summary) == 500


@pytest.mark.parametrize(
    ("kind", "begins"),
    [
        (tasks.Plan("win"), "Make a plan for this goal, as a numbered list of steps:\n\nwin"),
        (tasks.Review("+a"), "Review this change. Name each fault with its place:\n\n+a"),
        (tasks.Test("make"), "Run this and report what fails and why:\n\nmake"),
        (tasks.Custom("dance", {"n": 1}), 'dance\n\n{"n": 1}'),
    ],
)
def test_each_kind_says_what_to_do(kind: tasks.TaskKind, begins: str) -> None:
    scope = tasks.TaskContext(working_dir=Path("/w"), files_in_scope=(Path("b"),))

    assert instruction(tasks.Task(kind=kind, context=scope)) == f"{begins}\n\nFiles that matter: b"
