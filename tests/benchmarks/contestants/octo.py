"""octo_lab: the whole path of a message, from the door to the committed turn and its snapshot."""

from __future__ import annotations

import tempfile
from pathlib import Path

import anyio
from measure import arguments, measure, run

from octo_lab.app import Setup, open_app
from octo_lab.bus.ports import Door, LivePolicy, Presentation
from octo_lab.config.settings import ProviderSettings, Settings
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import AskOptions, InboundMessage, OutboundMessage
from octo_lab.core.turns import TurnSnapshot


class Nowhere:
    """A live channel without a display: it takes snapshots and waits for the last."""

    name = "notebook"

    def __init__(self) -> None:
        self.waiting: dict[str, anyio.Event] = {}
        self.ended: dict[str, TurnSnapshot] = {}

    async def run(self, door: Door) -> None:
        await anyio.sleep_forever()

    async def send(self, message: OutboundMessage) -> None:
        raise SystemExit(f"no turn: {message.text}")

    async def open_turn(self, address: ChatAddress, turn: TurnSnapshot) -> Nowhere:
        return self

    @property
    def live(self) -> LivePolicy:
        return LivePolicy()

    @property
    def presentation(self) -> Presentation:
        return Presentation()

    async def update(self, turn: TurnSnapshot) -> None:
        pass

    async def finish(self, turn: TurnSnapshot) -> None:
        self.ended[turn.message_id] = turn
        self.waiting.pop(turn.message_id).set()

    async def abort(self) -> None:
        pass


async def main() -> None:
    base_url, chunks, turns = arguments()
    channel = Nowhere()
    with tempfile.TemporaryDirectory() as folder:
        setup = Setup(
            settings=Settings(
                model=f"openai/chunks-{chunks}",
                providers={"openai": ProviderSettings(base_url=base_url)},
            ),
            workspace=Path(folder),
            data_folder=Path(folder) / "data",
            environ={},
            channels=[channel],
        )
        async with open_app(setup) as app:

            async def turn(number: int) -> str:
                address = ChatAddress(channel=channel.name, chat_id="bench")
                message = InboundMessage(
                    address=address,
                    sender_id="me",
                    text="hi",
                    options=AskOptions(session=f"bench {number}"),
                )
                done = channel.waiting[message.id] = anyio.Event()
                await app.door.publish(message)
                await done.wait()
                return channel.ended.pop(message.id).text

            await measure(turn, chunks, turns)


run(main)
