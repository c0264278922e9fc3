from __future__ import annotations

import pytest

from octo_lab.core.keys import ChatAddress
from octo_lab.core.replies import CommandInfo, Told
from octo_lab.session.abort import abort_reply
from octo_lab.session.commands import Command, CommandCall, Commands, is_command

HERE = ChatAddress(channel="notebook", chat_id="1")


async def said(call: CommandCall) -> Told:
    return Told(text=f"<{call.args}>")


NEW = Command(name="new", usage="[title]", summary="open a dialog", run=said, aliases=("n",))
STOP = Command(name="stop", summary="stop it", run=said, bypass=True)
OWNER = Command(name="admin", summary="owner only", run=said, channels=frozenset({"terminal"}))


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("/new My title", "<My title>"),
        ("/NEW   My title ", "<My title>"),
        ("/n x", "<x>"),
        ("/new", "<>"),
        ("  /new\nTwo lines", "<Two lines>"),
    ],
)
@pytest.mark.anyio
async def test_a_line_finds_its_command(line: str, answer: str) -> None:
    assert await Commands([NEW, STOP]).run(line, HERE, "me") == Told(text=answer)


@pytest.mark.anyio
async def test_an_unknown_command_is_one_line_with_the_next_step() -> None:
    commands = Commands([NEW, STOP])
    mistyped = await commands.run("/nwe", HERE, "me")
    unknown = await commands.run("/frobnicate it", HERE, "me")

    assert mistyped == Told(text="No command /nwe", failed=True, hint="did you mean /new?")
    assert unknown == Told(text="No command /frobnicate", failed=True, hint="/help lists them")


@pytest.mark.anyio
async def test_help_is_made_of_the_commands_of_the_channel() -> None:
    told = await Commands([NEW, OWNER]).run("/help", HERE, "me")

    assert told == Told(
        text="- `/new [title]` or `/n`: open a dialog\n- `/help` or `/?`: show this list"
    )


@pytest.mark.anyio
async def test_a_command_of_another_channel_does_not_exist_here() -> None:
    commands = Commands([OWNER])
    there = ChatAddress(channel="terminal", chat_id="1")

    assert (await commands.run("/admin x", HERE, "me")).failed
    assert await commands.run("/admin x", there, "me") == Told(text="<x>")


def test_commands_can_be_listed() -> None:
    assert Commands([NEW]).infos("notebook")[0] == CommandInfo(
        name="new", usage="/new [title]", summary="open a dialog", aliases=("n",)
    )


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/new", True),
        ("/nothing like it", True),
        ("/?", True),
        ("/tmp/a", False),
        ("/etc/hosts is what?", False),
        ("/readme.md explain", False),
        ("/", False),
        ("// comment", False),
        ("what does /new do", False),
    ],
)
def test_a_path_is_no_command(text: str, command: bool) -> None:
    assert is_command(text) is command


def test_only_some_commands_jump_the_lane() -> None:
    commands = Commands([NEW, STOP])

    assert commands.bypasses("/stop", "notebook")
    assert not commands.bypasses("/new", "notebook")
    assert not commands.bypasses("stop", "notebook")


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("stop", "🛑 Stopped."),
        ("  STOP ", "🛑 Stopped."),
        ("停止", "🛑 已停止。"),
        ("Стоп", "🛑 Остановлено."),
        ("बंद करो", "🛑 रोक दिया गया।"),
        ("Arrête", "🛑 Arrêté."),
        ("wait", None),
        ("exit", None),
        ("para", None),
        ("stop the server please", None),
        ("", None),
    ],
)
def test_an_abort_word_counts_only_alone(text: str, reply: str | None) -> None:
    assert abort_reply(text) == reply
