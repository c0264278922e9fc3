from __future__ import annotations

from pathlib import Path

import pytest

from octo_lab.app import open_app
from octo_lab.core.mail import (
    AskOptions,
    EditSession,
    GetCommands,
    GetHistory,
    GetSessions,
    GetStatus,
    OutboundMessage,
    RunCommand,
    UseCassette,
)
from octo_lab.core.replies import CommandList, History, SessionList, Status, Told
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.llm_script import says as server_says
from octo_lab.testing.llm_server import LlmServer
from octo_lab.testing.providers import ScriptedProvider, says
from octo_lab.testing.setups import setup_in

pytestmark = pytest.mark.anyio


async def texts(channel: MemoryChannel, session: str = "") -> list[tuple[str, str]]:
    history = await channel.control(GetHistory(session=session))
    assert isinstance(history, History)
    return [(turn.prompt, turn.text) for turn in history.turns]


async def listed(channel: MemoryChannel, control: GetSessions, chat_id: str = "1") -> SessionList:
    found = await channel.control(control, chat_id=chat_id)
    assert isinstance(found, SessionList)
    return found


async def titles(channel: MemoryChannel, chat_id: str = "1") -> list[str]:
    return [info.title for info in (await listed(channel, GetSessions(), chat_id)).sessions]


async def command(channel: MemoryChannel, line: str) -> OutboundMessage:
    return await channel.message(await channel.ask(line))


def told(provider: ScriptedProvider, request: int = -1) -> list[str]:
    return [message.content for message in provider.requests[request].messages[1:]]


def numbered(count: int) -> ScriptedProvider:
    return ScriptedProvider(*(says(f"a{number}") for number in range(1, count + 1)))


async def test_asking_again_from_a_slot_replaces_the_turn_and_what_followed(
    tmp_path: Path,
) -> None:
    channel, provider = MemoryChannel(), numbered(5)
    async with open_app(setup_in(tmp_path, channel, provider=provider)):
        for text, slot in (("q1", "A"), ("q2", "B"), ("q3", "C"), ("q2 again", "B")):
            await channel.turn(await channel.ask(text, AskOptions(slot=slot)))
        asked = told(provider)
        path = await texts(channel)
        usual = await listed(channel, GetSessions())
        whole = await listed(channel, GetSessions(branches=True))
        kept = whole.sessions[-1]
        old = await texts(channel, kept.title)
        await channel.turn(await channel.ask("q4", AskOptions(slot="D")))
        after = await texts(channel)

    assert asked == ["q1", "a1", "q2 again"]
    assert path == [("q1", "a1"), ("q2 again", "a4")]
    assert old == [("q1", "a1"), ("q2", "a2"), ("q3", "a3")]
    assert after == [*path, ("q4", "a5")]
    assert ([info.title for info in usual.sessions], usual.earlier) == (["q1"], 1)
    assert [info.branch_of for info in whole.sessions] == ["", whole.sessions[0].session]
    assert (kept.title.startswith("q1 (before "), whole.earlier) == (True, 0)


async def test_earlier_versions_are_listed_when_they_are_asked_for(tmp_path: Path) -> None:
    channel, cell = MemoryChannel(), AskOptions(slot="A")
    async with open_app(setup_in(tmp_path, channel, provider=numbered(6))):
        for text in ("pears", "apples", "plums"):
            await channel.turn(await channel.ask(text, cell))
        await command(channel, "/new other")
        usual = (await command(channel, "/sessions")).text.splitlines()
        whole = (await command(channel, "/sessions all")).text.splitlines()
        found = (await command(channel, "/sessions all apples")).text.splitlines()
        hidden = await command(channel, "/sessions apples")
        await command(channel, f"/switch {found[0].split('`')[1]}")
        switched = (await command(channel, "/sessions")).text.splitlines()
        await channel.turn(await channel.ask("and now?"))
        promoted = await listed(channel, GetSessions())

    assert [line.split(" · ")[0] for line in usual] == [
        "- **other**",
        "- pears",
        "",
        "2 earlier versions: `/sessions all`",
    ]
    assert [line.split(" (before")[0].split(" · ")[0] for line in whole] == [
        "- **other**",
        "- pears",
        "  - pears",
        "  - pears",
    ]
    assert len(found) == 1
    assert hidden.text == ("No session says that.\n\n1 earlier version: `/sessions all apples`")
    assert [line.startswith("  - **pears (before ") for line in switched[:3]] == [
        False,
        False,
        True,
    ]
    assert [(info.current, info.branch_of) for info in promoted.sessions] == [
        (True, ""),
        (False, ""),
        (False, ""),
    ]
    assert promoted.earlier == 1


async def test_append_adds_a_turn_although_the_slot_is_the_same(tmp_path: Path) -> None:
    channel = MemoryChannel()
    async with open_app(setup_in(tmp_path, channel, provider=numbered(2))):
        for _ in range(2):
            await channel.turn(await channel.ask("q", AskOptions(slot="A", append=True)))
        path = await texts(channel)

    assert path == [("q", "a1"), ("q", "a2")]


async def test_clear_empties_the_context_and_keeps_the_rows(tmp_path: Path) -> None:
    channel, provider = MemoryChannel(), numbered(3)
    async with open_app(setup_in(tmp_path, channel, provider=provider)):
        await channel.turn(await channel.ask("q1"))
        answer = await command(channel, "/clear")
        await channel.turn(await channel.ask("q2"))
        asked = told(provider)
        await channel.turn(await channel.ask("q3"))
        path = await texts(channel)

    assert not answer.failed
    assert asked == ["q2"]
    assert told(provider) == ["q2", "a2", "q3"]
    assert path == [("q1", "a1"), ("q2", "a2"), ("q3", "a3")]


async def test_new_opens_a_dialog_and_switch_goes_back(tmp_path: Path) -> None:
    channel, provider = MemoryChannel(), numbered(3)
    async with open_app(setup_in(tmp_path, channel, provider=provider)):
        await channel.turn(await channel.ask("first question\nwith more"))
        new = await command(channel, "/new Second topic")
        await channel.turn(await channel.ask("q2"))
        shown = await command(channel, "/sessions")
        back = await command(channel, "/switch first question")
        await channel.turn(await channel.ask("q3"))
        lost = await command(channel, "/switch nowhere")

    assert new.text == "New session 'Second topic'."
    assert [line.split(" · ")[0] for line in shown.text.splitlines()] == [
        "- **Second topic**",
        "- first question",
    ]
    assert back.text == "Now in 'first question'."
    assert told(provider, 1) == ["q2"]
    assert told(provider) == ["first question\nwith more", "a1", "q3"]
    assert (lost.text, lost.failed, lost.hint) == (
        "No session named 'nowhere'",
        True,
        "list them with `/sessions`",
    )


async def test_a_named_dialog_is_made_once_and_does_not_become_the_current_one(
    tmp_path: Path,
) -> None:
    channel, provider = MemoryChannel(), numbered(3)
    async with open_app(setup_in(tmp_path, channel, provider=provider)):
        await channel.turn(await channel.ask("q1"))
        await channel.turn(await channel.ask("q2", AskOptions(session="side")))
        await channel.turn(await channel.ask("q3", AskOptions(session="side")))
        side, current = await texts(channel, "side"), await texts(channel)

    assert side == [("q2", "a2"), ("q3", "a3")]
    assert current == [("q1", "a1")]


async def test_any_text_makes_a_title(tmp_path: Path) -> None:
    channel = MemoryChannel()
    async with open_app(setup_in(tmp_path, channel, provider=numbered(1))):
        await command(channel, "/new a\ud83d\nsecond line")
        await channel.turn(await channel.ask("q", AskOptions(session="x" * 500)))
        blank = await channel.control(EditSession(session="a\ufffd", title="  "))
        named = await titles(channel)

    assert named == [f"{'x' * 119}…", "a\ufffd"]
    assert blank == Told(text="A session needs a title", failed=True)


async def test_chats_have_their_own_dialogs(tmp_path: Path) -> None:
    channel = MemoryChannel()
    async with open_app(setup_in(tmp_path, channel, provider=numbered(2))):
        await channel.turn(await channel.ask("q1", chat_id="1"))
        await channel.turn(await channel.ask("q2", chat_id="2"))

        assert await titles(channel, chat_id="1") == ["q1"]
        assert await titles(channel, chat_id="2") == ["q2"]


async def test_a_dialog_can_be_renamed_archived_and_deleted(tmp_path: Path) -> None:
    channel = MemoryChannel()
    async with open_app(setup_in(tmp_path, channel, provider=numbered(2))):
        await channel.turn(await channel.ask("q1"))
        await command(channel, "/new")
        await channel.turn(await channel.ask("q2"))
        edits = [
            await channel.control(EditSession(session="q1", title="Better")),
            await channel.control(EditSession(session="Better", archived=True)),
        ]
        without = await titles(channel)
        edits.append(await channel.control(EditSession(session="Better", archived=False)))
        edits.append(await channel.control(EditSession(session="q2", deleted=True)))
        left, current = await titles(channel), await texts(channel)
        wrong = await channel.control(EditSession(session="Better"))

    assert [reply.text for reply in edits if isinstance(reply, Told)] == [
        "Renamed to 'Better'.",
        "Archived.",
        "Back from the archive.",
        "Deleted.",
    ]
    assert (without, left) == (["q2"], ["Better"])
    assert current == [("q1", "a1")]
    assert wrong == Told(text="One of title, archived and deleted must be set", failed=True)


async def test_the_model_of_a_dialog_can_be_chosen(tmp_path: Path) -> None:
    channel = MemoryChannel()
    async with open_app(setup_in(tmp_path, channel)):
        shown = await channel.control(RunCommand(line="/model"))
        chosen = await channel.control(RunCommand(line="/model ollama/other"))
        status = await channel.control(GetStatus())
        wrong = await channel.control(RunCommand(line="/model nonesuch/x"))
        keyless = await channel.control(RunCommand(line="/model openai/gpt-4o"))

    assert isinstance(shown, Told)
    assert shown.text.startswith("`offline/helper` answers.\n\nNo model is configured")
    assert chosen == Told(text="This session now uses `ollama/other`.")
    assert isinstance(status, Status)
    assert (status.provider, status.model) == ("ollama", "other")
    assert isinstance(wrong, Told)
    assert isinstance(keyless, Told)
    assert (wrong.failed, wrong.text) == (True, "No provider named 'nonesuch'")
    assert (keyless.failed, keyless.text) == (True, "No key for 'openai'")


async def test_commands_are_the_same_typed_and_as_controls(tmp_path: Path) -> None:
    channel = MemoryChannel()
    async with open_app(setup_in(tmp_path, channel, provider=numbered(1))):
        typed = await command(channel, "/help")
        control = await channel.control(RunCommand(line="/help"))
        known = await channel.control(GetCommands())
        unknown = await command(channel, "/frobnicate")
        path = await channel.turn(await channel.ask("/tmp/a is what?"))

    assert control == Told(text=typed.text)
    assert isinstance(known, CommandList)
    assert {"new", "clear", "stop", "sessions", "switch", "help", "model", "status"} <= {
        info.name for info in known.commands
    }
    assert (unknown.failed, unknown.text) == (True, "No command /frobnicate")
    assert path.text == "a1"


async def test_status_says_what_a_turn_would_work_with(tmp_path: Path) -> None:
    channel = MemoryChannel()
    async with open_app(setup_in(tmp_path, channel, provider=numbered(1))):
        empty = await channel.control(GetStatus())
        await channel.turn(await channel.ask("q1"))
        status = await channel.control(GetStatus())
        text = await command(channel, "/status")

    assert isinstance(empty, Status)
    assert isinstance(status, Status)
    assert empty.session == ""
    assert {layer.name for layer in empty.layers} == {"base", "tools"}
    assert status.title == "q1"
    assert status.layers[-1].name == "conversation"
    assert status.context_tokens == sum(layer.tokens for layer in status.layers)
    assert status.channels == ("memory",)
    assert status.workspace == str(tmp_path)
    assert "- model: scripted/script" in text.text


async def test_nothing_to_stop_is_said(tmp_path: Path) -> None:
    channel = MemoryChannel()
    async with open_app(setup_in(tmp_path, channel, provider=numbered(0))):
        answers = [await command(channel, line) for line in ("/stop", "stop")]

    assert [(a.text, a.failed) for a in answers] == [("Nothing is running here.", True)] * 2


@pytest.fixture
def server() -> object:
    with LlmServer(server_says("from the ", "model")) as server:
        yield server


async def test_a_recorded_turn_is_replayed_without_a_model(
    tmp_path: Path, server: LlmServer
) -> None:
    channel = MemoryChannel()
    async with open_app(setup_in(tmp_path, channel, base_url=server.base_url)):
        await channel.control(UseCassette(mode="record", path="demo.cassette"))
        recorded = await channel.turn(await channel.ask("hi"))
        await channel.control(UseCassette(mode="off"))
    other = MemoryChannel()
    async with open_app(setup_in(tmp_path / "other", other)) as app:
        assert app.setup.environ == {}
        reply = await other.control(
            UseCassette(mode="replay", path=str(tmp_path / "demo.cassette"))
        )
        replayed = await other.turn(await other.ask("hi"))

    assert reply == Told(text=f"Replaying 1 request from '{tmp_path / 'demo.cassette'}'.")
    assert (recorded.text, replayed.text) == ("from the model", "from the model")
    assert len(server.requests) == 1


async def test_a_command_works_on_the_dialog_it_names(tmp_path: Path) -> None:
    channel = MemoryChannel()
    there = AskOptions(session="there")

    async def said(line: str, options: AskOptions = AskOptions()) -> str:
        return (await channel.message(await channel.ask(line, options))).text

    async with open_app(setup_in(tmp_path, channel, provider=numbered(2))):
        await channel.turn(await channel.ask("q1"))
        await channel.turn(await channel.ask("q2", there))
        chosen = await said("/queue steer", there)
        modes = [await said("/queue", there), await said("/queue")]
        cleared = await said("/clear", there)
        unknown = await said("/compact", AskOptions(session="nowhere"))
        control = await channel.control(RunCommand(line="/queue", session="there"))
        status = await said("/status", there)
        here = await titles(channel)

    assert modes[0] == chosen
    assert control == Told(text=chosen)
    assert modes[1].startswith("`followup`")
    assert cleared.startswith("The context is empty now")
    assert unknown == "No session named 'nowhere'"
    assert "there" in status
    assert here == ["there", "q1"]
