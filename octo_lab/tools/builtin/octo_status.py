"""The tool ``octo_status``: the state of the runtime, told by whoever runs it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pydantic import BaseModel, ConfigDict

from octo_lab.tools.model_tool import model_tool
from octo_lab.tools.tool import Tool, ToolContext


class StatusArgs(BaseModel):
    """Takes nothing."""

    model_config = ConfigDict(extra="forbid")


def status_tool(read: Callable[[ToolContext], Awaitable[str]]) -> Tool:
    """The tool over ``read``, which tells the state as seen from the chat of the call."""

    async def octo_status(ctx: ToolContext, args: StatusArgs) -> str:
        """Tell the state of octo_lab: model, session, tokens, tools, folders."""
        return await read(ctx)

    return model_tool(
        octo_status, StatusArgs, name="octo_status", group="info", source="own", timeout=10.0
    )
