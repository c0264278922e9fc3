from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest

from octo_lab.app import Setup, open_app, setup_at
from octo_lab.config.place import find_place
from octo_lab.config.toolkit import OPTIONS
from octo_lab.config.trust import VARIABLE
from octo_lab.core.mail import RunCommand
from octo_lab.core.replies import Told
from octo_lab.core.turns import ToolBlock
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.http_server import HttpServer, json_reply
from octo_lab.testing.llm_script import call, calls, says
from octo_lab.testing.llm_server import LlmServer
from octo_lab.testing.setups import setup_in

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def no_blocking_calls() -> None:
    """Nothing to watch: small files of settings are looked at, and read anew, on the loop."""


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer() as server:
        yield server


@pytest.fixture
def config(tmp_path: Path, server: LlmServer) -> Path:
    """A workspace with a config file that has more in it than options of tools."""
    file = tmp_path / ".octo" / "config.json"
    file.parent.mkdir()
    values = {
        "model": "openai/scripted",
        "providers": {"openai": {"base_url": server.base_url, "api_key": "${A_KEY}"}},
        "web_search": {"engines": ["searxng"]},
    }
    file.write_text(json.dumps(values))
    file.chmod(0o640)
    return file


async def setup_of(config: Path, channel: MemoryChannel) -> Setup:
    return await anyio.to_thread.run_sync(_setup, config, channel)


def read(config: Path) -> Any:
    return json.loads(config.read_text())


def written(config: Path, **more: Any) -> bytes:
    """The file with more in it."""
    config.write_text(json.dumps({**read(config), **more}))
    return config.read_bytes()


def mode_of(config: Path) -> int:
    return config.stat().st_mode & 0o777


def hidden_beside(config: Path) -> list[str]:
    return [path.name for path in config.parent.iterdir() if path.name.startswith(".")]


def _setup(config: Path, channel: MemoryChannel) -> Setup:
    folder = config.parent.parent
    environ = {"A_KEY": "k", "OCTO_HOME": str(folder / "home"), "OCTO_LOCAL_DETECT": "off"}
    environ[VARIABLE] = "1"
    return setup_at(find_place(folder, environ), channels=(channel,))


async def typed(channel: MemoryChannel, line: str) -> Told:
    reply = await channel.control(RunCommand(line=line))
    assert isinstance(reply, Told)
    return reply


async def test_options_are_shown_set_and_taken_back(config: Path) -> None:
    channel = MemoryChannel("notebook")
    async with open_app(await setup_of(config, channel)):
        shown = await typed(channel, "/config")
        assert [line.split("`")[1] for line in shown.text.splitlines()] == list(OPTIONS)
        assert "- `web_search.count` = 5" in shown.text
        told = await typed(channel, "/config web_search.count 8")
        assert told.text == "`web_search.count` is 8 now."
        assert (await typed(channel, "/config web_search.count")).text == (
            "- `web_search.count` = 8"
        )
        kept = read(config)
        assert kept["web_search"] == {"engines": ["searxng"], "count": 8}
        assert kept["providers"]["openai"]["api_key"] == "${A_KEY}"
        assert mode_of(config) == 0o640
        back = await typed(channel, "/config web_search.count default")
        assert back.text == "`web_search.count` is 5 now."
    assert read(config)["web_search"] == {"engines": ["searxng"]}
    assert hidden_beside(config) == []


@pytest.mark.parametrize(
    ("line", "text", "hint"),
    [
        ("web_search.count 80", "web_search.count cannot be '80'", "less than or equal to 10"),
        ("web_fetch.extract_mode pdf", "web_fetch.extract_mode cannot be 'pdf'", "'markdown'"),
        ("web_serch.count 3", "No option of a tool is called 'web_serch.count'", "web_search.cou"),
        ("sandbox.mode none", "No option of a tool is called 'sandbox.mode'", "known: "),
        ("browser.executable /bin/sh", "No option of a tool is called", "known: "),
        ("web_search.urls {}", "No option of a tool is called 'web_search.urls'", ""),
    ],
)
async def test_what_does_not_fit_is_refused(config: Path, line: str, text: str, hint: str) -> None:
    channel = MemoryChannel("notebook")
    before = written(config)
    async with open_app(await setup_of(config, channel)):
        told = await typed(channel, f"/config {line}")
    assert told.failed
    assert told.text.startswith(text)
    assert hint in told.hint
    assert read(config) == json.loads(before)


async def test_what_the_agent_sets_is_asked_about_and_holds_at_once(
    config: Path, server: LlmServer
) -> None:
    found = {"results": [{"title": f"T{n}", "url": f"https://a.example/{n}"} for n in range(9)]}
    async with HttpServer({}, other=json_reply(found)) as engine:
        searching = {"engines": ["searxng"], "urls": {"searxng": engine.root}}
        allow = {"allow": [f"127.0.0.1:{engine.port}"]}
        written(config, web_search=searching, network=allow)
        server.script(
            calls(call("web_search", id="c1", query="x")),
            calls(call("configure_tool", id="c2", tool="web_search", option="count", value=2)),
            calls(call("web_search", id="c3", query="x")),
            calls(call("web_search", id="c4", query="x", count=3)),
            says("ok"),
        )
        channel = MemoryChannel("notebook")
        async with open_app(await setup_of(config, channel)):
            await typed(channel, "/allow configure_tool web_search.count")
            turn = await channel.turn(await channel.ask("do it"))
    outputs = [block.output for block in turn.blocks if isinstance(block, ToolBlock)]
    assert [output.count("https://a.example/") for output in outputs] == [5, 0, 2, 3]
    assert outputs[1] == "`web_search.count` is 2 now."


async def test_nothing_is_set_where_nobody_says_yes(config: Path, server: LlmServer) -> None:
    before = written(config, tools={"approval_seconds": 0.2})
    server.script(
        calls(call("configure_tool", id="c", tool="web_search", option="count", value=2)),
        says("ok"),
    )
    channel = MemoryChannel("notebook")
    async with open_app(await setup_of(config, channel)):
        turn = await channel.turn(await channel.ask("do it"))
    assert [block.state for block in turn.blocks if isinstance(block, ToolBlock)] == ["denied"]
    assert read(config) == json.loads(before)


async def test_a_runtime_without_files_says_so(tmp_path: Path) -> None:
    channel = MemoryChannel("notebook")
    async with open_app(setup_in(tmp_path, channel)):
        told = await typed(channel, "/config")
    assert (told.failed, told.text) == (
        True,
        "This octo_lab was not started from a config file",
    )


async def test_another_channel_has_no_such_command(tmp_path: Path) -> None:
    channel = MemoryChannel("telegram")
    async with open_app(setup_in(tmp_path, channel)):
        told = await typed(channel, "/config web_search.count 3")
    assert told.text == "No command /config"
