"""Which tools are offered, and what may be demanded of them."""

from __future__ import annotations

from collections.abc import Sequence

from octo_lab.core.errors import UsageError
from octo_lab.core.messages import ChatRequest, OneTool, ToolChoice, ToolSpec
from octo_lab.llm.hints import ModelHints


def offered(request: ChatRequest, hints: ModelHints) -> tuple[Sequence[ToolSpec], ToolChoice]:
    """The tools and the choice that a server can be told; without tools nothing is demanded.

    Where one tool cannot be demanded by name, it is the only one offered; where none can be
    forbidden, none is offered. Raises UsageError when a tool is demanded that is not there.
    """
    tools, choice = request.tools, request.tool_choice
    if not tools or not hints.tools:
        return (), "auto"
    if isinstance(choice, OneTool):
        wanted = demanded(request, choice.name)
        if hints.tool_choice != "name":
            tools, choice = (wanted,), "required"
    if hints.tool_choice == "auto":
        return (() if choice == "none" else tools), "auto"
    return tools, choice


def demanded(request: ChatRequest, name: str) -> ToolSpec:
    """The one tool that must be called; raises UsageError when it is not offered."""
    found = next((tool for tool in request.tools if tool.name == name), None)
    if found is None:
        known = ", ".join(tool.name for tool in request.tools)
        raise UsageError(f"The demanded tool {name!r} is not offered", hint=f"offered: {known}")
    return found
