"""The ``python`` tool: the agent computes in the user's namespace."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
from IPython.core.interactiveshell import InteractiveShell
from pydantic import BaseModel, ConfigDict, Field

from octo_lab.notebook.bridge import Bridge
from octo_lab.notebook.capture import Capture, flush_figures
from octo_lab.notebook.private_variables import SCOPE, PrivateVariables
from octo_lab.notebook.run_code import run_program
from octo_lab.tools.exec_env import Lookout
from octo_lab.tools.model_tool import model_tool
from octo_lab.tools.sandbox.lines import NewestLines
from octo_lab.tools.sandbox.opened import looking_out
from octo_lab.tools.tool import Tool, ToolContext, ToolResult
from octo_lab.tools.verdict import Verdict

REPORT_SECONDS = 0.25


class PythonArgs(BaseModel):
    """What the tool takes."""

    model_config = ConfigDict(extra="forbid")

    code: str = Field(
        description="Python code, as in a notebook cell; the value of a last expression is shown."
    )


def python_tool(
    shell: InteractiveShell,
    bridge: Callable[[], Bridge],
    private: PrivateVariables,
    *,
    timeout: float = 120.0,
) -> Tool:
    """The tool for one kernel; only turns that came from its notebook may use it.

    Code that may reach a private variable is asked about on its own, and marks the conversation.
    """

    async def python(ctx: ToolContext, args: PythonArgs) -> ToolResult:
        """Run Python code in the notebook's own namespace and return what it prints and shows.

        The person's variables, imports and functions are there, and what the code defines
        stays. Magics, top-level await and matplotlib figures work. input() and exit() do not.
        """
        await ctx.changes.unseen(f"python: {args.code}")
        if name := private.in_code(args.code, ctx.screen.private.variables):
            ctx.taint.mark(f"python may have read {name!r}")
        capture = Capture(shell)
        await bridge().call(flush_figures)  # the person's own belong to their cell
        run = partial(run_program, shell, args.code, capture)
        async with _looking_out(ctx):
            await _reporting(bridge().call(run, capture.around), capture.stdout.lines, ctx.report)
        return ToolResult(text=capture.text or "Done; no output.", media=tuple(capture.media))

    def judge(args: PythonArgs, workspace: Path) -> Verdict | None:
        name = private.in_code(args.code)
        return Verdict("ask", f"it may read {name!r}, which is private") if name else None

    def scopes(args: PythonArgs, workspace: Path) -> tuple[str, ...]:
        return (SCOPE,) if private.in_code(args.code) else ()

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
        judge=judge,
        scopes=scopes,
        timeout=timeout,
    )


@asynccontextmanager
async def _looking_out(ctx: ToolContext) -> AsyncGenerator[None]:
    """Marks the conversation when a private file is opened meanwhile."""
    names, taint, after = ctx.screen.private, ctx.taint, ExitStack()
    lookout = Lookout(names=names, opened=lambda name: taint.mark(f"python read {name!r}"))
    try:
        await anyio.to_thread.run_sync(after.enter_context, looking_out(lookout, ctx.workspace))
        yield
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(after.close)  # which waits for the system


async def _reporting(
    work: Awaitable[None], lines: NewestLines, report: Callable[[str], None]
) -> None:
    """Await the work; meanwhile the newest lines of what it prints are shown."""
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_report, lines, report)
        try:
            await work
        except Exception as exc:  # noqa: BLE001 - raised below, where no group wraps it
            failure = exc
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure


async def _report(lines: NewestLines, report: Callable[[str], None]) -> None:
    while True:
        await anyio.sleep(REPORT_SECONDS)
        for line in lines.take():
            report(line)
