from __future__ import annotations

from pathlib import Path

import pytest

from octo_lab.app import open_app
from octo_lab.gateway.tally import Tallied, Tally
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.llm_script import fails, says
from octo_lab.testing.llm_server import LlmServer
from octo_lab.testing.setups import setup_in

pytestmark = pytest.mark.anyio


async def test_commands_are_neither_messages_nor_errors(tmp_path: Path) -> None:
    channel, tally = MemoryChannel(), Tally()
    async with LlmServer(says("hi"), fails(400, "no")) as server:
        setup = setup_in(tmp_path, Tallied(channel, tally), base_url=server.base_url)
        async with open_app(setup):
            await channel.turn(await channel.ask("hello"))
            for text in ("/stop", "stop", "/nonesuch"):
                assert (await channel.message(await channel.ask(text))).failed
            await channel.turn(await channel.ask("again"))
    assert (tally.messages, tally.turns, tally.errors) == (2, 2, 1)
