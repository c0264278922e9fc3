"""The tools of this kernel: its own, and the functions a person made tools with ``@ol.tool``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from IPython.core.interactiveshell import InteractiveShell

from octo_lab.notebook.bridge import Bridge
from octo_lab.notebook.channel import NotebookChannel
from octo_lab.notebook.private_variables import PrivateVariables
from octo_lab.notebook.propose_cell import propose_cell_tool
from octo_lab.notebook.python_tool import python_tool
from octo_lab.notebook.variable_tools import variable_tools
from octo_lab.tools.function_tool import ToolDecorator, tool_decorator
from octo_lab.tools.tool import Tool


class TakesTools(Protocol):
    """A running app."""

    def add_tool(self, tool: Tool) -> None: ...


class Toolkit:
    """Collects tools before the runtime starts, and hands over later ones at once.

    A function of the notebook runs on the main thread, with the person's objects; defining it
    again replaces the tool.
    """

    def __init__(self, shell: InteractiveShell, bridge: Callable[[], Bridge]) -> None:
        self._shell = shell
        self._bridge = bridge
        self._functions: dict[str, Tool] = {}
        self._join: Callable[[Tool], None] | None = None
        self.private = PrivateVariables(shell)
        self.tool: ToolDecorator = tool_decorator(
            self._register,
            call=self._on_main_thread,
            call_async=self._on_main_thread,
            group="notebook",
            risk="execute",  # nobody knows what a person's function does
            channels=frozenset({"notebook"}),
        )

    def all(self, channel: NotebookChannel, *, timeout: float) -> tuple[Tool, ...]:
        """The tools to start with; ``channel`` is where their turns are shown."""
        own = python_tool(self._shell, self._bridge, self.private, timeout=timeout)
        looking = variable_tools(self._shell, self._bridge, self.private)
        proposing = propose_cell_tool(self._shell, self._bridge, channel.proposals, channel.cell_of)
        return (own, *looking, proposing, *self._functions.values())

    def join(self, add: Callable[[Tool], None]) -> None:
        """From now on a new tool is added with ``add``."""
        self._join = add

    def leave(self) -> None:
        self._join = None

    def _register(self, tool: Tool) -> None:
        self._functions[tool.name] = tool
        if self._join is not None:
            self._join(tool)

    def _on_main_thread(self, function: Callable[[], Any]) -> Awaitable[Any]:
        return self._bridge().call(function)
