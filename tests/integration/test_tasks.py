"""A task through the whole app: its turn, its result, what is remembered of it."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
import pytest

from octo_lab.agent.task import Episode
from octo_lab.app import open_app
from octo_lab.channels.tasks import TaskDesk, run_task
from octo_lab.channels.terminal import TerminalChannel
from octo_lab.config.settings import LimitSettings
from octo_lab.core.errors import RateLimited
from octo_lab.core.events import FileChanged, TurnBegan, TurnEnded, TurnEvent
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import ControlRequest, GetHistory, Stop
from octo_lab.core.messages import Message
from octo_lab.core.replies import History
from octo_lab.core.tasks import Code, Completed, Failed, Plan, Task, TaskContext
from octo_lab.testing.providers import ScriptedProvider, calls, says
from octo_lab.testing.setups import setup_in
from tests.agent.turns import call

pytestmark = pytest.mark.anyio


@dataclass
class Kept:
    episodes: list[Episode] = field(default_factory=list)

    async def save(self, episode: Episode) -> None:
        await anyio.lowlevel.checkpoint()
        self.episodes.append(episode)


WRITE = call("write_file", '{"path": "a.py", "content": "x"}')
MEMORY = (Message(role="user", content="before"), Message(role="assistant", content="yes"))


class World:
    """One app on a script, and what came out of the task that was done in it."""

    def __init__(self, folder: Path, provider: ScriptedProvider, *, iterations: int = 50) -> None:
        self.kept, self.events = Kept(), list[TurnEvent]()
        self.history: object = None
        self.channel = TerminalChannel()
        self.stop = anyio.Event()
        setup = setup_in(
            folder,
            self.channel,
            provider=provider,
            limits=LimitSettings(iterations=iterations),
        )
        allowed = setup.settings.tools.model_copy(update={"risks": {"write": "allow"}})
        settings = setup.settings.model_copy(update={"tools": allowed})
        self.setup = replace(setup, settings=settings, episodes=self.kept)
        self.task = Task(
            kind=Code("Fix it"), context=TaskContext(working_dir=folder, working_memory=MEMORY)
        )

    async def done(self) -> Task:
        here = ChatAddress(channel="terminal", chat_id="t")
        with self.channel.listen("t") as inbox:
            async with open_app(self.setup) as app, anyio.create_task_group() as tasks:

                async def obey() -> None:
                    await self.stop.wait()
                    control = Stop(message_id=self.task.id)
                    await app.door.control(ControlRequest(address=here, control=control))

                tasks.start_soon(obey)
                desk = TaskDesk(door=app.door, address=here, inbox=inbox, hear=self.events.append)
                done = await run_task(desk, self.task)
                control = GetHistory()
                self.history = await app.door.control(ControlRequest(address=here, control=control))
                tasks.cancel_scope.cancel()
        return done

    @property
    def outcomes(self) -> list[str]:
        return [episode.outcome for episode in self.kept.episodes]


async def test_a_task_is_a_turn_with_a_result(tmp_path: Path) -> None:
    provider = ScriptedProvider(calls(WRITE), says("Fixed."))
    world = World(tmp_path, provider)

    done = await world.done()

    assert (done.id, done.status) == (world.task.id, Completed())
    assert done.result is not None
    assert (done.result.output, done.result.files_modified) == ("Fixed.", (Path("a.py"),))
    assert [m.content for m in provider.requests[0].messages[1:]] == ["before", "yes", "Fix it"]
    assert world.events[0] == TurnBegan(done.id)
    assert world.events.count(FileChanged("a.py")) == 1
    assert isinstance(world.events[-1], TurnEnded)
    assert world.outcomes == ["success"]
    assert isinstance(world.history, History)
    assert [turn.prompt for turn in world.history.turns] == ["Fix it"]


async def test_a_task_that_meets_a_limit_has_failed(tmp_path: Path) -> None:
    world = World(tmp_path, ScriptedProvider(calls(WRITE)), iterations=1)

    done = await world.done()

    error = 'Stopped at the limit of 1 model calls for one turn. Say "go on" to continue.'
    assert done.status == Failed(error)
    assert world.outcomes == ["failure"]


async def test_an_error_of_the_provider_fails_the_task(tmp_path: Path) -> None:
    world = World(tmp_path, ScriptedProvider(RateLimited("slow down")))

    assert (await world.done()).status == Failed("slow down")


async def test_a_defect_fails_the_task_and_leaves_its_traceback_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def defect() -> None:
        raise ZeroDivisionError("inside")

    world = World(tmp_path, ScriptedProvider([defect]))

    with caplog.at_level(logging.ERROR):
        done = await world.done()

    assert done.status == Failed("The turn failed inside octo_lab")
    assert "ZeroDivisionError: inside" in caplog.text
    assert world.outcomes == ["failure"]


async def test_a_stopped_task_is_remembered_as_cancelled(tmp_path: Path) -> None:
    world: World

    async def hang() -> None:
        world.stop.set()
        await anyio.sleep_forever()

    world = World(tmp_path, ScriptedProvider([*says("Half an answer")[:1], hang]))

    done = await world.done()

    assert done.status == Failed("Stopped before it was done")
    assert done.result is not None
    assert done.result.output == "Half an answer"
    assert world.outcomes == ["cancelled"]


async def test_a_task_that_cannot_begin_says_why(tmp_path: Path) -> None:
    world = World(tmp_path, ScriptedProvider())
    world.task = Task(kind=Plan("  "), context=TaskContext(working_dir=tmp_path))

    done = await world.done()

    assert done.status == Failed("There is nothing to ask")
