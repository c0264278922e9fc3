"""Recording and replaying through the door of a real runtime, against a real server."""

from __future__ import annotations

from pathlib import Path

import pytest

from octo_lab.app import open_app
from octo_lab.core.mail import UseCassette
from octo_lab.core.replies import ControlReply, Told
from octo_lab.core.turns import TextBlock
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.llm_server import LlmServer
from octo_lab.testing.setups import setup_in

pytestmark = pytest.mark.anyio


def text(reply: ControlReply) -> str:
    assert isinstance(reply, Told)
    return reply.text


async def test_the_end_of_a_recording_says_how_much_and_where(tmp_path: Path) -> None:
    channel, file = MemoryChannel(), tmp_path / "demo.json"
    async with (
        LlmServer() as server,
        open_app(setup_in(tmp_path, channel, base_url=server.base_url)),
    ):
        said = [text(await channel.control(UseCassette(mode="record", path=file.name)))]
        await channel.turn(await channel.ask("hello"))
        said.append(text(await channel.control(UseCassette(mode="off"))))
        said.append(text(await channel.control(UseCassette(mode="replay", path=file.name))))
        said.append(text(await channel.control(UseCassette(mode="off"))))
        said.append(text(await channel.control(UseCassette(mode="off"))))
    assert said == [
        "Recording model traffic to 'demo.json'.",
        "Recorded 1 request in 'demo.json'.",
        "Replaying 1 request from 'demo.json'.",
        "Replayed 0 requests from 'demo.json'; model traffic is live again.",
        "Model traffic is live: nothing is recorded or replayed.",
    ]
    assert file.exists()


async def test_a_file_that_is_no_cassette_ends_no_replay(tmp_path: Path) -> None:
    channel = MemoryChannel()
    (tmp_path / "notes.json").write_text("{}")
    async with (
        LlmServer() as server,
        open_app(setup_in(tmp_path, channel, base_url=server.base_url)),
    ):
        await channel.control(UseCassette(mode="record", path="demo.json"))
        await channel.turn(await channel.ask("hello"))
    async with open_app(setup_in(tmp_path / "new", channel := MemoryChannel())):
        await channel.control(UseCassette(mode="replay", path="../demo.json"))
        refused = await channel.control(UseCassette(mode="replay", path="../notes.json"))
        turn = await channel.turn(await channel.ask("hello"))
    assert "is no cassette" in str(refused)
    assert turn.blocks == (TextBlock("echo: hello"),)


async def test_a_recording_without_traffic_says_so(tmp_path: Path) -> None:
    channel, file = MemoryChannel(), tmp_path / "demo.json"
    async with open_app(setup_in(tmp_path, channel, model="offline")):
        await channel.control(UseCassette(mode="record", path=file.name))
        await channel.turn(await channel.ask("what time is it?"))
        said = text(await channel.control(UseCassette(mode="off")))
    assert said.startswith("Nothing was recorded in 'demo.json': no request went to a model")
    assert "offline helper sends none and needs no recording" in said
    assert not file.exists()
