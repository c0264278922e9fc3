from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from octo_lab.app import open_app
from octo_lab.config.settings import ToolSettings
from octo_lab.core.mail import GetHistory, OutboundMessage, RunCommand
from octo_lab.core.messages import Media
from octo_lab.core.replies import History, Told
from octo_lab.core.turns import ToolBlock, TurnSnapshot
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.llm_script import call, calls, says
from octo_lab.testing.llm_server import LlmServer
from octo_lab.testing.setups import setup_in

pytestmark = pytest.mark.anyio

KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"


class FilesChannel(MemoryChannel):
    """One that takes files."""

    largest_file = 1000


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer() as server:
        yield server


async def told(
    folder: Path,
    server: LlmServer,
    channel: MemoryChannel,
    *used: tuple[str, dict[str, Any]],
    text: str = "do it",
    tools: ToolSettings = ToolSettings(),
) -> tuple[TurnSnapshot, list[ToolBlock]]:
    """A turn in which the model makes these calls, one after another."""
    script = [calls(call(name, id=f"c{n}", **args)) for n, (name, args) in enumerate(used)]
    server.script(*script, says("ok"))
    setup = setup_in(folder, channel, base_url=server.base_url)
    # With servers of one's own under two names, no third name is known.
    two = dict.fromkeys(("openai", "vllm"), setup.settings.providers["openai"])
    settings = setup.settings.model_copy(update={"tools": tools, "providers": two})
    setup = replace(setup, settings=settings)
    async with open_app(setup):
        turn = await channel.turn(await channel.ask(text))
    return turn, [block for block in turn.blocks if isinstance(block, ToolBlock)]


def sent_files(channel: MemoryChannel) -> list[OutboundMessage]:
    return [message for message in channel.sent if message.media]


async def test_a_file_is_sent_to_the_chat_of_the_turn(tmp_path: Path, server: LlmServer) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "ducks.csv").write_bytes(b"a,b\n1,2\n")
    channel = FilesChannel("notebook")
    used = ("send_file", {"path": "out/ducks.csv", "caption": "All ducks"})
    turn, (block,) = await told(tmp_path, server, channel, used)
    assert (block.state, block.output) == ("ok", "Sent 'ducks.csv' (8 bytes, text/csv).")
    (message,) = sent_files(channel)
    assert message.media == (Media(mime="text/csv", data=b"a,b\n1,2\n", name="ducks.csv"),)
    assert (message.text, message.turn_id) == ("All ducks: ducks.csv (8 bytes)", turn.turn_id)
    assert message.address.chat_id == "1"


async def test_a_file_that_was_sent_is_shown_with_its_turn_later_and_no_model_gets_it(
    tmp_path: Path, server: LlmServer
) -> None:
    data = b"\x89PNG\r\n\x1a\n" + bytes(50)
    (tmp_path / "plot.png").write_bytes(data)
    _, (live,) = await told(
        tmp_path, server, FilesChannel("notebook"), ("send_file", {"path": "plot.png"})
    )
    again = FilesChannel("notebook")
    server.script(says("It was."))
    async with open_app(setup_in(tmp_path, again, base_url=server.base_url)):
        history = await again.control(GetHistory())
        await again.turn(await again.ask("was it sent?"))

    assert live.media == ()  # it came as a message
    assert isinstance(history, History)
    [stored] = [block for block in history.turns[0].blocks if isinstance(block, ToolBlock)]
    assert stored.media == (Media(mime="image/png", data=data, name="plot.png", sent=True),)
    assert str(tmp_path) not in repr(history)
    sent = [json.dumps(request.body["messages"]) for request in server.requests]
    assert not [text for text in sent if "data:image" in text or "image_url" in text]
    assert "Sent 'plot.png'" in sent[-1]


@pytest.mark.parametrize(
    ("path", "why"),
    [
        (".octo/config.json", "private to octo_lab"),
        ("data/octo_lab.db", "private to octo_lab"),
        ("../x", "leads outside the workspace"),
        ("/etc/passwd", "is outside the workspace"),
        ("link", "link"),
        ("large.bin", "at most 1.0 kB go"),
        ("gone", "does not exist"),
    ],
)
async def test_what_is_private_outside_or_too_large_is_not_sent(
    tmp_path: Path, server: LlmServer, path: str, why: str
) -> None:
    (tmp_path / ".octo").mkdir()
    (tmp_path / ".octo" / "config.json").write_text("{}")
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "large.bin").write_bytes(b"x" * 1001)
    channel = FilesChannel("notebook")
    _, (block,) = await told(tmp_path, server, channel, ("send_file", {"path": path}))
    assert block.state == "error"
    assert why in block.output
    assert sent_files(channel) == []


async def test_a_channel_that_takes_no_files_is_named(tmp_path: Path, server: LlmServer) -> None:
    (tmp_path / "a.txt").write_text("x")
    channel = MemoryChannel("notebook")
    _, (block,) = await told(tmp_path, server, channel, ("send_file", {"path": "a.txt"}))
    assert block.output == (
        "Error: The channel 'notebook' cannot show files "
        "(say where the file is, or tell what is in it)"
    )


async def test_no_key_leaves_the_machine_with_a_file(tmp_path: Path, server: LlmServer) -> None:
    (tmp_path / "notes.txt").write_text(f"the key is {KEY}")
    used = ("send_file", {"path": "notes.txt"})
    far, near = FilesChannel("telegram"), FilesChannel("notebook")
    _, (block,) = await told(tmp_path, server, far, used)
    assert (block.state, sent_files(far)) == ("denied", [])
    _, (block,) = await told(tmp_path, server, near, used)
    assert (block.state, len(sent_files(near))) == ("ok", 1)


async def test_after_private_data_a_file_leaves_the_machine_only_with_a_yes(
    tmp_path: Path, server: LlmServer
) -> None:
    (tmp_path / ".env").write_text("PLAIN=1")
    (tmp_path / "a.txt").write_text("x")
    read = ("read_file", {"path": ".env"})
    send = ("send_file", {"path": "a.txt"})
    tools = ToolSettings(approval_seconds=0.5)
    far, near = FilesChannel("telegram"), FilesChannel("notebook")
    _, blocks = await told(tmp_path, server, far, read, send, tools=tools)
    assert (blocks[-1].state, sent_files(far)) == ("denied", [])
    _, blocks = await told(tmp_path, server, near, read, send, tools=tools)
    assert (blocks[-1].state, len(sent_files(near))) == ("ok", 1)


async def test_the_model_can_be_switched_from_inside(tmp_path: Path, server: LlmServer) -> None:
    channel = MemoryChannel("notebook")
    used = ("switch_model", {"model": "openai/other"})
    server.script(calls(call(used[0], id="c1", **used[1])), says("ok"), says("again"))
    setup = setup_in(tmp_path, channel, base_url=server.base_url)
    async with open_app(setup):
        reply = await channel.control(RunCommand(line="/allow switch_model openai/other"))
        assert isinstance(reply, Told)
        assert not reply.failed
        first = await channel.turn(await channel.ask("switch"))
        await channel.turn(await channel.ask("and now?"))
    (block,) = [block for block in first.blocks if isinstance(block, ToolBlock)]
    now = "This session now uses `openai/other`, its running turn from the next step on."
    assert (block.state, block.output) == ("ok", now)
    assert first.model == "openai/other"
    models = [received.body["model"] for received in server.requests]
    assert models == ["scripted", "other", "other"]


async def test_switching_asks_and_an_unknown_model_comes_with_near_names(
    tmp_path: Path, server: LlmServer
) -> None:
    allowed = ToolSettings(rules={"switch_model": "allow"})
    asking = ToolSettings(approval_seconds=0.2)
    used = ("switch_model", {"model": "opnai/scripted"})
    _, (block,) = await told(tmp_path, server, MemoryChannel("notebook"), used, tools=allowed)
    assert block.state == "error"
    assert "did you mean" in block.output
    assert "openai" in block.output
    _, (block,) = await told(tmp_path, server, MemoryChannel("notebook"), used, tools=asking)
    assert block.state == "denied"
