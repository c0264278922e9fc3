"""Messages that were collected are all stored with their turn, should the process die."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import anyio.to_thread
import pytest

from octo_lab.app import open_app
from octo_lab.core.messages import Media
from octo_lab.storage.database import open_database
from octo_lab.storage.history import TurnRecord, load_turns
from octo_lab.storage.sessions import list_sessions
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.providers import ScriptedProvider, says
from octo_lab.testing.setups import setup_in

pytestmark = pytest.mark.anyio

COLLECTING = """
import sys
from pathlib import Path
import anyio
from octo_lab.app import open_app
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import Attachment, GetStatus, InboundMessage
from octo_lab.core.messages import Media
from octo_lab.core.stream import Done, TextDelta
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.setups import setup_in

class Held:
    name = model = "held"

    def __init__(self):
        self.go = anyio.Event()

    async def stream(self, request):
        yield TextDelta("begun")
        if request.messages[-1].content != "a":
            print("answering", flush=True)
            await anyio.sleep_forever()
        await self.go.wait()
        yield Done("end_turn")

def message(text):
    picture = Media(mime="image/png", data=text.encode(), name=f"{text}.png")
    return InboundMessage(
        address=ChatAddress(channel="memory", chat_id="1"),
        sender_id="me",
        text=text,
        id=f"id of {text}",
        attachments=(Attachment(name=f"{text}.png", media=(picture,)),),
    )

async def main():
    channel, provider = MemoryChannel(), Held()
    session = {"queue_mode": "collect"}
    setup = setup_in(Path(sys.argv[1]), channel, provider=provider, session=session)
    async with open_app(setup) as app:
        await channel.running(await channel.ask("a"), lambda turn: bool(turn.text))
        for text in ("b", "c", "d"):
            await app.door.publish(message(text))
        while (await channel.control(GetStatus())).waiting < 3:
            pass
        provider.go.set()
        await anyio.sleep_forever()

anyio.run(main)
"""


def killed_while_it_answers(folder: Path) -> None:
    argv = [sys.executable, "-c", COLLECTING, str(folder)]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == b"answering\n"
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=10)


async def stored(folder: Path) -> list[TurnRecord]:
    async with open_database(folder / "data" / "octo_lab.db") as database:
        [session] = await database.read(lambda db: list_sessions(db, None))
        return await database.read(lambda db: load_turns(db, session.id, context_only=False))


async def test_a_crash_loses_none_of_the_messages_that_were_collected(tmp_path: Path) -> None:
    await anyio.to_thread.run_sync(killed_while_it_answers, tmp_path)
    channel, provider = MemoryChannel(), ScriptedProvider(says("I saw all."))
    async with open_app(setup_in(tmp_path, channel, provider=provider)):
        await channel.turn(await channel.ask("go on"))

    _, collected, _ = await stored(tmp_path)
    said = collected.messages[0]
    assert (collected.turn.state, collected.turn.message_id) == ("interrupted", "id of b")
    assert collected.turn.also == ("id of c", "id of d")
    assert said.content == (
        "b\n[attached to this: b.png]"
        "\n---\nQueued #1: c\n[attached to this: c.png]"
        "\n---\nQueued #2: d\n[attached to this: d.png]"
    )
    assert said.media == tuple(
        Media(mime="image/png", data=text.encode(), name=f"{text}.png") for text in "bcd"
    )
    assert said.content in [message.content for message in provider.requests[0].messages]
