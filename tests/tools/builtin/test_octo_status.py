from __future__ import annotations

from pathlib import Path

import pytest

from octo_lab.core.errors import ToolFailed
from octo_lab.tools.builtin.octo_status import status_tool
from octo_lab.tools.tool import ToolContext

pytestmark = pytest.mark.anyio

CTX = ToolContext(
    workspace=Path("/w"),
    channel="notebook",
    chat_id="c",
    session="s",
    turn_id="t",
    call_id="1",
    report=lambda line: None,
)


async def read(ctx: ToolContext) -> str:
    return f"model: offline/helper, seen from {ctx.channel}"


async def test_it_tells_what_the_runtime_reads() -> None:
    tool = status_tool(read)
    assert (tool.name, tool.risk) == ("octo_status", "read")
    assert await tool.run(CTX, tool.parse({})) == "model: offline/helper, seen from notebook"


def test_it_takes_no_arguments() -> None:
    with pytest.raises(ToolFailed, match="verbose is unknown"):
        status_tool(read).parse({"verbose": True})
