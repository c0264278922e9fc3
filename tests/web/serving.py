"""A web channel on a real socket, behind it a door whose turns the test plays."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, field

import anyio

from octo_lab.bus.events import EventBus, Watching
from octo_lab.bus.ports import TurnSink
from octo_lab.core.errors import Rejected
from octo_lab.core.ids import new_id
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import ControlRequest, InboundMessage
from octo_lab.core.replies import ControlReply, Told
from octo_lab.core.turns import Block, TextBlock, TurnSnapshot, TurnState
from octo_lab.web.access import Access
from octo_lab.web.channel import WebChannel
from octo_lab.web.endpoint import Endpoint
from octo_lab.web.server import bind_socket

TOKEN = "a-token-of-this-test"


@dataclass(slots=True)
class PlayedTurn:
    """A turn that says what the test tells it to."""

    sink: TurnSink
    snapshot: TurnSnapshot

    async def say(self, *blocks: Block, state: TurnState = "running") -> None:
        head = self.snapshot
        self.snapshot = TurnSnapshot(
            turn_id=head.turn_id,
            message_id=head.message_id,
            session=head.session,
            prompt=head.prompt,
            revision=head.revision + 1,
            state=state,
            blocks=blocks,
        )
        show = self.sink.finish if self.snapshot.terminal else self.sink.update
        await show(self.snapshot)


@dataclass(slots=True)
class PlayedDoor:
    """Keeps what came in; refuses while ``full``; answers each control with its name.

    With ``echo`` every message is answered at once by a turn that repeats it.
    """

    channel: WebChannel
    echo: bool = False
    full: bool = False
    messages: list[InboundMessage] = field(default_factory=list)
    controls: list[ControlRequest] = field(default_factory=list)
    serving: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    events: EventBus = field(default_factory=EventBus)

    async def serve(self) -> None:
        with self.serving:
            await self.channel.run(self)

    async def publish(self, message: InboundMessage) -> None:
        if self.full:
            raise Rejected("the queue is full", hint="wait")
        self.messages.append(message)
        if self.echo:
            turn = await self.begin(message)
            await turn.say(TextBlock(message.text), state="completed")

    async def control(self, request: ControlRequest) -> ControlReply:
        self.controls.append(request)
        return Told(text=type(request.control).__name__)

    def watch(self, address: ChatAddress, message_id: str) -> AbstractContextManager[Watching]:
        return self.events.watch(address, message_id)

    async def begin(self, message: InboundMessage) -> PlayedTurn:
        snapshot = TurnSnapshot(
            turn_id=new_id(),
            message_id=message.id,
            session="default:web:main:d",
            revision=0,
            state="running",
            prompt=message.text,
        )
        sink = await self.channel.open_turn(message.address, snapshot)
        return PlayedTurn(sink, snapshot)

    async def received(self, count: int) -> InboundMessage:
        with anyio.fail_after(10):
            while len(self.messages) < count:  # noqa: ASYNC110 - a test may look often
                await anyio.sleep(0.01)
        return self.messages[count - 1]


@asynccontextmanager
async def serving(*, echo: bool = False) -> AsyncGenerator[tuple[PlayedDoor, Endpoint]]:
    listening = bind_socket("127.0.0.1", 0)
    port = listening.getsockname()[1]
    channel = WebChannel(listening, Access(token=TOKEN))
    door = PlayedDoor(channel, echo=echo)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(door.serve)
        yield door, Endpoint(host="127.0.0.1", port=port, pid=1, token=TOKEN)
        tasks.cancel_scope.cancel()
