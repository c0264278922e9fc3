"""The ``python`` tool: the agent computes in the user's namespace."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from IPython.core.interactiveshell import InteractiveShell
from pydantic import BaseModel, ConfigDict, Field

from octo_lab.notebook.bridge import Bridge
from octo_lab.notebook.capture import Capture, flush_figures
from octo_lab.notebook.run_code import run_program
from octo_lab.tools.model_tool import model_tool
from octo_lab.tools.tool import Tool, ToolContext, ToolResult


class PythonArgs(BaseModel):
    """What the tool takes."""

    model_config = ConfigDict(extra="forbid")

    code: str = Field(
        description="Python code, as in a notebook cell; the value of a last expression is shown."
    )


def python_tool(
    shell: InteractiveShell, bridge: Callable[[], Bridge], *, timeout: float = 120.0
) -> Tool:
    """The tool for one kernel; only turns that came from its notebook may use it."""

    async def python(ctx: ToolContext, args: PythonArgs) -> ToolResult:
        """Run Python code in the notebook's own namespace and return what it prints and shows.

        The person's variables, imports and functions are there, and what the code defines
        stays. Magics, top-level await and matplotlib figures work. input() and exit() do not.
        """
        ctx.changes.unseen(f"python: {args.code}")
        capture = Capture(shell)
        await bridge().call(flush_figures)  # the person's own belong to their cell
        await bridge().call(partial(run_program, shell, args.code, capture), capture.around)
        return ToolResult(text=capture.text or "Done; no output.", media=tuple(capture.media))

    return model_tool(
        python,
        PythonArgs,
        name="python",
        group="notebook",
        source="workspace",
        risk="execute",
        channels=frozenset({"notebook"}),
        asks=True,
        detail=lambda args: str(args.code),
        timeout=timeout,
    )
