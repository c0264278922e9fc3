from __future__ import annotations

from pathlib import Path

import pytest

from octo_lab.app import Setup, open_app
from octo_lab.config.settings import Settings
from octo_lab.core.mail import GetHistory, GetStatus, History, Status
from octo_lab.core.turns import TextBlock
from octo_lab.llm.provider import Provider
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.providers import ScriptedProvider, says

pytestmark = pytest.mark.anyio


def setup(folder: Path, channel: MemoryChannel, provider: Provider) -> Setup:
    return Setup(
        settings=Settings(),
        workspace=folder,
        data_folder=folder / "data",
        environ={},
        channels=[channel],
        provider=provider,
    )


async def test_a_question_is_answered_stored_and_shown(tmp_path: Path) -> None:
    channel = MemoryChannel()
    provider = ScriptedProvider(says("Hel", "lo"))
    async with open_app(setup(tmp_path, channel, provider)):
        asked = await channel.ask("Hi there")
        turn = await channel.turn(asked)
        history = await channel.control(GetHistory())
        status = await channel.control(GetStatus())

    assert (turn.state, turn.blocks, turn.prompt) == (
        "completed",
        (TextBlock("Hello"),),
        "Hi there",
    )
    assert isinstance(history, History)
    assert [(t.turn_id, t.state, t.text) for t in history.turns] == [
        (turn.turn_id, "completed", "Hello")
    ]
    assert history.title == "Hi there"
    assert isinstance(status, Status)
    assert (status.title, status.model, status.running) == ("Hi there", "script", 0)
