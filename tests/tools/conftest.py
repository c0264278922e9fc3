from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from octo_lab.core.errors import ToolFailed
from octo_lab.tools.tool import Tool, ToolContext, ToolResult

Use = Callable[..., Awaitable[str]]


@pytest.fixture
def ctx(tmp_path: Path) -> ToolContext:
    return ToolContext(
        workspace=tmp_path,
        channel="notebook",
        chat_id="c",
        session="s",
        turn_id="t",
        call_id="1",
        report=lambda line: None,
    )


@pytest.fixture
def use(ctx: ToolContext) -> Use:
    """Run a tool with arguments; a failure comes back as its message."""

    async def use_tool(tool: Tool, **arguments: Any) -> str:
        try:
            result = await tool.run(ctx, tool.parse(arguments))
        except ToolFailed as exc:
            return f"failed: {exc}"
        return result.text if isinstance(result, ToolResult) else result

    return use_tool
