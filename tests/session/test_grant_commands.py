from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from octo_lab.app import Setup, open_app
from octo_lab.config.settings import Settings, ToolSettings
from octo_lab.core.mail import AskOptions, GetCommands, OutboundMessage
from octo_lab.core.messages import ToolCall
from octo_lab.core.replies import CommandList
from octo_lab.core.stream import Done, StreamEvent, ToolCalled
from octo_lab.core.turns import ToolBlock, TurnSnapshot
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.providers import ScriptedProvider, says
from octo_lab.testing.setups import setup_in
from octo_lab.tools.function_tool import function_tool

pytestmark = pytest.mark.anyio

HEADLESS = AskOptions(headless=True)


async def danger() -> str:
    """Do it."""
    return "ran"


DANGER = function_tool(danger, name="python", asks=True, risk="execute")
SAFE = function_tool(danger, name="safe")
CALL: list[StreamEvent] = [
    ToolCalled(ToolCall(id="c", name="python", arguments="{}")),
    Done("tool_use"),
]


def asking(times: int) -> ScriptedProvider:
    return ScriptedProvider(*(step for _ in range(times) for step in (CALL, says("done"))))


def state(turn: TurnSnapshot) -> str:
    return next(block.state for block in turn.blocks if isinstance(block, ToolBlock))


async def command(channel: MemoryChannel, line: str) -> OutboundMessage:
    return await channel.message(await channel.ask(line))


async def run(channel: MemoryChannel, options: AskOptions = HEADLESS) -> str:
    return state(await channel.turn(await channel.ask("go", options)))


def setup(folder: Path, channel: MemoryChannel, turns: int) -> Setup:
    return setup_in(folder, channel, provider=asking(turns), tools=[DANGER, SAFE])


async def test_an_allowed_tool_runs_unasked_until_that_is_taken_back(tmp_path: Path) -> None:
    channel = MemoryChannel("notebook")
    async with open_app(setup(tmp_path, channel, 4)):
        nothing = await command(channel, "/allow")
        allowed = await command(channel, "/allow python")
        states = [await run(channel)]
        listed = await command(channel, "/allow")
        states.append(await run(channel, AskOptions(session="side", headless=True)))
        states.append(await run(channel, AskOptions()))
        taken = await command(channel, "/deny python")
        states.append(await run(channel))

    assert nothing.text.startswith("Nothing is allowed unasked. What asks: `shell`, ")
    assert nothing.text.endswith("`python`, `switch_model`, `configure_tool`.")
    assert allowed.text == listed.text == "`python` may run in this session until octo_lab closes."
    assert taken.text == "`python` is asked about again."
    assert states == ["ok", "denied", "ok", "denied"]


async def test_what_is_always_allowed_outlasts_the_runtime_until_it_is_taken_back(
    tmp_path: Path,
) -> None:
    said, states = [], []
    for lines in (["/allow always python"], ["/allow"], ["/deny python"], ["/allow"]):
        channel = MemoryChannel("terminal")
        async with open_app(setup(tmp_path, channel, 1)):
            said += [(await command(channel, line)).text for line in lines]
            states.append(await run(channel))

    assert said[:3] == [
        "`python` may always run in this workspace.",
        "`python` may always run in this workspace.",
        "`python` is asked about again.",
    ]
    assert states == ["ok", "ok", "denied", "denied"]


async def test_a_sort_of_commands_is_allowed_listed_and_taken_back(tmp_path: Path) -> None:
    channel = MemoryChannel("notebook")
    async with open_app(setup(tmp_path, channel, 1)):
        said = [
            (await command(channel, line)).text
            for line in (
                "/allow shell git status",
                "/allow python shell",
                "/allow",
                "/deny shell: git status",
                "/deny shell git status",
            )
        ]

    assert said == [
        "`shell: git status` may run in this session until octo_lab closes.",
        "`python`, `shell` may run in this session until octo_lab closes.",
        "`python`, `shell`, `shell: git status` may run in this session until octo_lab closes.",
        "`shell: git status` is asked about again.",
        "`shell: git status` was not allowed here",
    ]


async def test_one_call_is_allowed_as_it_is_written(tmp_path: Path) -> None:
    channel = MemoryChannel("notebook")
    async with open_app(setup(tmp_path, channel, 1)):
        for line in ("/allow shell: rm  -r 'a  b'", "/allow write_file: .git/config"):
            await command(channel, line)
        unknown = await command(channel, "/allow read_file: x")
        listed = await command(channel, "/allow")

    assert unknown.text == "No tool 'read_file' asks before it runs"
    assert listed.text == (
        "`shell: rm  -r 'a  b'`, `write_file: .git/config` may run in this session until "
        "octo_lab closes."
    )


async def test_a_grant_ends_with_the_runtime(tmp_path: Path) -> None:
    states = []
    for line in ("/allow python", "/allow"):
        channel = MemoryChannel("terminal")
        async with open_app(setup(tmp_path, channel, 1)):
            await command(channel, line)
            states.append(await run(channel))

    assert states == ["ok", "denied"]


async def test_what_cannot_be_allowed_says_why(tmp_path: Path) -> None:
    channel = MemoryChannel("notebook")
    settings = Settings(tools=ToolSettings(python="deny"))
    async with open_app(replace(setup(tmp_path, channel, 1), settings=settings)):
        answers = [
            await command(channel, line)
            for line in ("/allow safe", "/allow python", "/deny", "/deny python")
        ]
        denied = await run(channel)

    assert (answers[0].text, answers[0].failed) == ("No tool 'safe' asks before it runs", True)
    assert answers[0].hint.startswith("these do: shell, ")
    assert [(answer.text, answer.failed, answer.hint) for answer in answers[1:]] == [
        ("The settings deny 'python'", True, "change tools in .octo/config.json"),
        ("Deny which tool?", True, "list those that may run with `/allow`"),
        ("`python` was not allowed here", True, "list what is with `/allow`"),
    ]
    assert denied == "denied"


async def test_other_channels_have_no_such_commands(tmp_path: Path) -> None:
    channel = MemoryChannel("web")
    async with open_app(setup(tmp_path, channel, 1)):
        unknown = await command(channel, "/allow python")
        known = await channel.control(GetCommands())
        denied = await run(channel)

    assert isinstance(known, CommandList)
    assert not {"allow", "deny"} & {info.name for info in known.commands}
    assert (unknown.failed, unknown.text) == (True, "No command /allow")
    assert denied == "denied"
