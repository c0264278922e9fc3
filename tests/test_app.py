from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from octo_lab.app import open_app, setup_from
from octo_lab.bus.ports import Door
from octo_lab.config.settings import Settings
from octo_lab.config.trust import VARIABLE
from octo_lab.core.errors import ConfigError, Rejected, StorageError, UsageError
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import AskOptions, GetHistory, GetSessions, GetStatus, InboundMessage
from octo_lab.core.replies import History, SessionList, Status, Told
from octo_lab.core.turns import TextBlock, TurnSnapshot
from octo_lab.session.commands import Command, CommandCall
from octo_lab.testing.channels import MemoryChannel, MemorySink
from octo_lab.testing.llm_script import says as server_says
from octo_lab.testing.llm_server import LlmServer
from octo_lab.testing.providers import ScriptedProvider, says
from octo_lab.testing.setups import setup_in

pytestmark = pytest.mark.anyio


async def test_a_question_is_answered_stored_and_shown(tmp_path: Path) -> None:
    channel = MemoryChannel()
    provider = ScriptedProvider(says("Hel", "lo"))
    async with open_app(setup_in(tmp_path, channel, provider=provider)):
        turn = await channel.turn(await channel.ask("Hi there"))
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


async def test_what_was_stored_is_there_after_a_restart(tmp_path: Path) -> None:
    provider = ScriptedProvider(says("one"), says("two"))
    for text in ("first", "second"):
        channel = MemoryChannel()
        async with open_app(setup_in(tmp_path, channel, provider=provider)):
            await channel.turn(await channel.ask(text))

    assert [m.content for m in provider.requests[1].messages[1:]] == ["first", "one", "second"]


async def test_an_error_of_the_block_leaves_the_app_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="mine"):
        async with open_app(setup_in(tmp_path)):
            raise UsageError("mine")


async def test_a_data_folder_that_cannot_be_used_is_one_clear_error(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "octo_lab.db").write_bytes(b"this is no database" * 100)

    with pytest.raises(StorageError) as caught:
        async with open_app(setup_in(tmp_path)):
            raise AssertionError("opened")

    assert caught.value.hint


async def test_a_channel_can_be_added_while_the_app_runs(tmp_path: Path) -> None:
    channel = MemoryChannel("late")
    async with open_app(setup_in(tmp_path, provider=ScriptedProvider(says("hi")))) as app:
        app.add_channel(channel)
        turn = await channel.turn(await channel.ask("hello"))

    assert turn.text == "hi"


async def test_a_channel_that_fails_leaves_the_others_running(tmp_path: Path) -> None:
    class Broken(MemoryChannel):
        async def run(self, door: Door) -> None:
            raise ZeroDivisionError

    channel = MemoryChannel()
    setup = setup_in(tmp_path, Broken("broken"), channel, provider=ScriptedProvider(says("hi")))
    async with open_app(setup):
        turn = await channel.turn(await channel.ask("hello"))

    assert turn.text == "hi"


async def test_a_closed_app_takes_nothing(tmp_path: Path) -> None:
    async with open_app(setup_in(tmp_path)) as app:
        door = app.door
    message = InboundMessage(
        address=ChatAddress(channel="memory", chat_id="1"), sender_id="me", text="hi"
    )

    with pytest.raises(Rejected, match="closing"):
        await door.publish(message)


async def test_closing_does_not_wait_for_a_channel_that_hangs(tmp_path: Path) -> None:
    class Hanging(MemoryChannel):
        async def open_turn(self, address: ChatAddress, turn: TurnSnapshot) -> MemorySink:
            await anyio.sleep_forever()
            raise AssertionError

    channel = Hanging()
    provider = ScriptedProvider(says("hi"))
    with anyio.fail_after(20):
        async with open_app(setup_in(tmp_path, channel, provider=provider)):
            await channel.ask("hello")
            await anyio.wait_all_tasks_blocked()
    again = MemoryChannel()
    async with open_app(setup_in(tmp_path, again)):
        history = await again.control(GetHistory())

    assert isinstance(history, History)
    assert [turn.prompt for turn in history.turns] == ["hello"]


async def test_commands_can_be_joined(tmp_path: Path) -> None:
    async def run(call: CommandCall) -> Told:
        return Told(text=f"pong {call.args}")

    ping = Command(name="ping", summary="answer", run=run)
    channel = MemoryChannel()
    setup = setup_in(tmp_path, channel, commands=[ping])
    async with open_app(setup):
        answer = await channel.message(await channel.ask("/ping 1"))

    assert answer.text == "pong 1"


def test_a_setup_is_read_from_the_files_around_a_folder(tmp_path: Path) -> None:
    (tmp_path / ".octo").mkdir()
    (tmp_path / ".octo" / "config.json").write_text(json.dumps({"model": "openai/x"}))
    (tmp_path / "deep" / "er").mkdir(parents=True)

    setup = setup_from(start=tmp_path / "deep" / "er", environ={"A": "1", VARIABLE: "1"})

    assert setup.settings == Settings(model="openai/x")
    assert (setup.workspace, setup.data_folder) == (tmp_path, tmp_path / ".octo")
    assert setup.environ["A"] == "1"


def test_a_wrong_setting_names_its_file_and_key(tmp_path: Path) -> None:
    (tmp_path / ".octo").mkdir()
    (tmp_path / ".octo" / "config.json").write_text(json.dumps({"modle": "x"}))

    with pytest.raises(ConfigError, match="'modle'"):
        setup_from(start=tmp_path, environ={})


@pytest.fixture
def proxy() -> Iterator[LlmServer]:
    with LlmServer(server_says("hi")) as server:
        yield server


async def test_the_proxy_of_the_setup_carries_the_model_traffic(
    proxy: LlmServer, tmp_path: Path
) -> None:
    channel = MemoryChannel()
    setup = setup_in(tmp_path, channel, base_url="http://model.example/v1")
    environ = {"HTTP_PROXY": proxy.base_url.removesuffix("/v1")}
    async with open_app(replace(setup, environ=environ)):
        turn = await channel.turn(await channel.ask("hello"))

    asked = [request.path for request in proxy.requests]
    assert (turn.text, asked) == ("hi", ["http://model.example/v1/chat/completions"])


async def test_workspaces_of_one_data_folder_keep_their_chats_apart(tmp_path: Path) -> None:
    """Equal chat ids of two workspaces: neither current dialog, nor names, nor lists mix."""
    folders = tmp_path / "one", tmp_path / "two"
    listed: list[list[tuple[str, bool]]] = []
    prompts: list[list[str]] = []
    for question, folder in (("q1", folders[0]), ("q2", folders[1]), ("q3", folders[0])):
        channel = MemoryChannel()
        setup = setup_in(folder, channel, provider=ScriptedProvider(says("a"), says("b")))
        async with open_app(replace(setup, data_folder=tmp_path / "data")):
            await channel.turn(await channel.ask(question))
            await channel.turn(await channel.ask("named", AskOptions(session="side")))
            sessions = await channel.control(GetSessions())
            history = await channel.control(GetHistory())
            side = await channel.control(GetHistory(session="side"))
        assert isinstance(sessions, SessionList)
        assert isinstance(history, History)
        assert isinstance(side, History)
        listed.append(sorted((info.title, info.current) for info in sessions.sessions))
        prompts.append([turn.prompt for turn in (*history.turns, *side.turns)])

    assert listed == [
        [("q1", True), ("side", False)],
        [("q2", True), ("side", False)],
        [("q1", True), ("side", False)],
    ]
    assert prompts == [["q1", "named"], ["q2", "named"], ["q1", "q3", "named", "named"]]
