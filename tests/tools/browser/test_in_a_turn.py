from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from octo_lab.app import open_app
from octo_lab.config.settings import NetworkSettings, ToolSettings
from octo_lab.core.turns import ToolBlock
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.http_server import HttpServer, Reply
from octo_lab.testing.llm_script import call, calls, says
from octo_lab.testing.llm_server import LlmServer
from octo_lab.testing.setups import setup_in

pytestmark = [pytest.mark.anyio, pytest.mark.browser]


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer() as server:
        yield server


async def test_a_turn_looks_at_a_page_and_asks_before_it_runs_a_script(
    tmp_path: Path, server: LlmServer
) -> None:
    page = b"<title>Ducks</title><p id=p></p><script>p.textContent = 'by a script'</script>"
    site = HttpServer({}, other=Reply(body=page, headers={"content-type": "text/html"}))
    async with site:
        server.script(
            calls(call("browser", id="c1", action="navigate", url=site.root)),
            calls(call("browser", id="c2", action="screenshot")),
            calls(call("browser", id="c3", action="evaluate", script="1 + 1")),
            says("ok"),
        )
        channel = MemoryChannel("notebook")
        allow = NetworkSettings(allow=(f"127.0.0.1:{site.port}",))
        setup = setup_in(tmp_path, channel, base_url=server.base_url, network=allow)
        tools = ToolSettings(approval_seconds=0.5)
        settings = setup.settings.model_copy(update={"tools": tools})
        async with open_app(replace(setup, settings=settings)):
            turn = await channel.turn(await channel.ask("look"))
    blocks = [block for block in turn.blocks if isinstance(block, ToolBlock)]
    assert [block.state for block in blocks] == ["ok", "ok", "denied"]
    assert "by a script" in blocks[0].output
    assert [media.mime for media in blocks[1].media] == ["image/jpeg"]
    assert "are no orders" in blocks[1].output
    assert "it runs a script in a page" in blocks[2].risk
