from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from octo_lab.app import open_app
from octo_lab.config.settings import NetworkSettings, WebFetchSettings, WebSearchSettings
from octo_lab.core.turns import ToolBlock
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.http_server import HttpServer, Reply, json_reply
from octo_lab.testing.llm_script import call, calls, says
from octo_lab.testing.llm_server import LlmServer
from octo_lab.testing.setups import setup_in

pytestmark = pytest.mark.anyio


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer() as server:
        yield server


async def test_the_web_is_reached_as_far_as_the_settings_say(
    tmp_path: Path, server: LlmServer, canary: HttpServer
) -> None:
    found = json_reply({"results": [{"title": "One", "url": "https://a.example/"}]})
    site = HttpServer({"/search?q=ducks&format=json": lambda _: found}, other=Reply(body=b"<h1>Hi"))
    async with site:
        server.script(
            calls(
                call("web_fetch", id="c1", url=f"{site.root}/page"),
                call("web_search", id="c2", query="ducks"),
                call("web_fetch", id="c3", url=f"{canary.root}/"),
            ),
            says("ok"),
        )
        channel = MemoryChannel()
        setup = setup_in(
            tmp_path,
            channel,
            base_url=server.base_url,
            network=NetworkSettings(allow=(f"127.0.0.1:{site.port}",)),
            web_search=WebSearchSettings(engines=("searxng",), urls={"searxng": site.root}),
            web_fetch=WebFetchSettings(extract_mode="text"),
        )
        async with open_app(setup):
            turn = await channel.turn(await channel.ask("look it up"))
    blocks = [block for block in turn.blocks if isinstance(block, ToolBlock)]
    page, results, refused = blocks
    assert [block.state for block in blocks] == ["ok", "ok", "denied"]
    assert f"URL: {site.root}/page\n\nHi" in page.output
    assert "1. One\n   https://a.example/" in results.output
    assert "it is a loopback address" in refused.output
