"""A turn of the whole app, three tools at work in it, is stopped after each step of the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
import anyio.lowlevel
import psutil

from octo_lab.app import App, open_app
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import ControlRequest, InboundMessage, Stop
from octo_lab.core.messages import ChatRequest, Message
from octo_lab.core.stream import StreamEvent
from octo_lab.core.turns import ToolBlock, TurnSnapshot
from octo_lab.llm.provider import Events
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.providers import calls, says
from octo_lab.testing.setups import setup_in
from octo_lab.testing.transcripts import transcript_faults
from octo_lab.tools.function_tool import function_tool
from tests.agent.stepping import Stepping
from tests.agent.test_cancel_everywhere import Tools, Whole
from tests.agent.turns import call, tool

MOST_STEPS = 5000
PAUSE = "0.1503"  # how long the child sleeps: nobody else's process has it on its line
SLEEP = f'{{"command": "sleep {PAUSE}"}}'


@dataclass
class Model:
    """Calls three tools when it is told to go, and says a word to everything else."""

    name: str = "scripted"
    model: str = "script"
    requests: list[ChatRequest] = field(default_factory=list)

    async def stream(self, request: ChatRequest) -> Events:
        self.requests.append(request)
        for event in self._answer(request.messages[-1]):
            await anyio.lowlevel.checkpoint()
            yield event

    def _answer(self, last: Message) -> Sequence[StreamEvent]:
        if last.role == "user" and last.content == "go":
            made = (call("shell", SLEEP, id="s"), call("steps", id="a"), call("blocks", id="b"))
            return calls(*made, text="I do all three.")
        return says("All ", "done.")


@dataclass
class World:
    """One app for all the turns, each in a chat of its own."""

    app: App
    channel: MemoryChannel
    model: Model
    tools: Tools
    loop: Stepping
    whole: Whole = field(default_factory=Whole)
    ends: set[str] = field(default_factory=set)

    async def stopped_after(self, steps: int) -> bool:
        """Stop a turn there and look at what it left; whether it ended by itself before."""
        here = ChatAddress(channel="terminal", chat_id=str(steps))
        first = InboundMessage(address=here, sender_id="me", text="go")
        stopping = ControlRequest(address=here, control=Stop(message_id=first.id))
        reached = anyio.Event()

        async def obey() -> None:
            await reached.wait()
            if not ended:
                await self.app.door.control(stopping)

        ended = False
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(obey)
            await anyio.lowlevel.checkpoint()
            self.loop.watch(steps, reached.set)
            await self.app.door.publish(first)
            turn = await self._answer_to(first)
            ended = self.loop.ended()
            reached.set()
        await self._nothing_is_left(turn, steps)
        await self._next_message_works(here, steps)
        return ended

    async def _answer_to(self, message: InboundMessage) -> TurnSnapshot | None:
        """The end of its turn; None when it was stopped before that began."""

        def look() -> tuple[TurnSnapshot | None] | None:
            turns = (t for t in self.channel.finished if t.message_id == message.id)
            turn = next(turns, None)
            told = any(m.reply_to == message.id for m in self.channel.sent)
            return (turn,) if turn or told else None

        [turn] = await self.channel.wait(look)
        return turn

    async def _nothing_is_left(self, turn: TurnSnapshot | None, steps: int) -> None:
        assert self.tools.open == 0, steps
        assert left_processes() == [], steps
        if turn is None:
            return
        assert turn.state in ("cancelled", "completed"), (steps, turn)
        blocks = [block for block in turn.blocks if isinstance(block, ToolBlock)]
        assert all(block.outcome == block.state for block in blocks), (steps, blocks)
        self.ends |= {block.state for block in blocks if block.name == "shell"}

    async def _next_message_works(self, here: ChatAddress, steps: int) -> None:
        message = InboundMessage(address=here, sender_id="me", text="and now?")
        await self.app.door.publish(message)
        turn = await self._answer_to(message)
        assert turn is not None
        assert (turn.state, turn.text) == ("completed", "All done."), steps
        said = list(self.model.requests[-1].messages)
        assert said[-1].content == "and now?"
        assert transcript_faults(said[1:]) == [], steps
        assert self.whole.problems(said) == [], steps


def left_processes() -> list[str]:
    """The lines of those of our children that the shell's command began."""
    found = psutil.Process().children(recursive=True)
    lines = [" ".join(_line(process)) for process in found]
    return [line for line in lines if PAUSE in line]


def _line(process: psutil.Process) -> list[str]:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return []
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


async def stop_everywhere(folder: Path) -> tuple[int, set[str]]:
    """How many stops there were, and how the shell's call ended in them."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, Stepping)
    tools, channel, model = Tools(), MemoryChannel("terminal"), Model()
    mine = [tool("steps", tools.steps), function_tool(tools.in_thread, name="blocks")]
    setup = setup_in(folder, channel, provider=model, tools=mine)
    allowed = setup.settings.tools.model_copy(update={"risks": {"execute": "allow"}})
    setup = replace(setup, settings=setup.settings.model_copy(update={"tools": allowed}))
    async with open_app(setup) as app:
        world = World(app, channel, model, tools, loop)
        for steps in range(1, MOST_STEPS):
            if await world.stopped_after(steps):
                return steps, world.ends
    raise AssertionError("the turn never ended by itself")


def test_a_stop_after_any_step_leaves_a_valid_dialog_and_no_process(tmp_path: Path) -> None:
    options = {"loop_factory": Stepping}

    stops, ends = anyio.run(stop_everywhere, tmp_path, backend_options=options)

    assert stops > 50
    assert ends == {"ok", "cancelled"}
