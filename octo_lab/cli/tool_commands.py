"""The commands ``octo tools``: what can be typed. Each imports its part when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from octo_lab.cli.options import Json, Workspace

tools_app = typer.Typer(help="The tools: list them, run one by hand.", no_args_is_help=True)
Back = Annotated[
    list[str] | None,
    typer.Argument(metavar="[N] [force]", help="How many calls; force overwrites newer changes."),
]
ToolName = Annotated[str, typer.Argument(help="Its name in the list of tools.")]


@tools_app.command("list")
def list_tools(as_json: Json = False, workspace: Workspace = None) -> None:
    """List the tools, what the policy says of each, and why one is not offered.

    judge: the arguments of a call decide whether it runs, asks or is denied.
    """
    from octo_lab.cli.boundary import guarded
    from octo_lab.cli.tools import list_tools as show

    raise typer.Exit(guarded(lambda: show(as_json=as_json, workspace=workspace), workspace))


@tools_app.command("show")
def show_tool(name: ToolName, as_json: Json = False, workspace: Workspace = None) -> None:
    """Show what a tool is for and what it takes."""
    from octo_lab.cli.boundary import guarded
    from octo_lab.cli.tools import show_tool as show

    raise typer.Exit(guarded(lambda: show(name, as_json=as_json, workspace=workspace), workspace))


@tools_app.command("call")
def call_tool(
    name: ToolName,
    arguments: Annotated[str, typer.Argument(help="A JSON object; - reads it from stdin.")] = "{}",
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Allow what would be asked about.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the decision, run nothing.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="PATH", help="Where pictures and files are kept."),
    ] = None,
    as_json: Json = False,
    workspace: Workspace = None,
) -> None:
    """Run one tool under the policy that holds for the agent.

    What it changes in files is shown, and `octo tools undo` takes it back.
    Exit code: 0 done, 1 failed or not allowed, 2 wrong usage.
    """
    from octo_lab.cli.boundary import guarded
    from octo_lab.cli.tool_call import CallOptions
    from octo_lab.cli.tool_call import call_tool as call
    from octo_lab.core.tool_mail import CallTool

    wanted = CallTool(name=name, arguments=arguments, yes=yes, dry=dry_run)
    options = CallOptions(as_json=as_json, out=out, workspace=workspace)
    raise typer.Exit(guarded(lambda: call(wanted, options), workspace))


@tools_app.command("undo")
def undo_call(words: Back = None, workspace: Workspace = None) -> None:
    """Take back what the last tool that was called changed in files: [N] [force]."""
    from octo_lab.cli.boundary import guarded
    from octo_lab.cli.tools import take_back

    raise typer.Exit(guarded(lambda: take_back("undo", words or [], workspace), workspace))


@tools_app.command("redo")
def redo_call(words: Back = None, workspace: Workspace = None) -> None:
    """Make again what was last taken back: [force]."""
    from octo_lab.cli.boundary import guarded
    from octo_lab.cli.tools import take_back

    raise typer.Exit(guarded(lambda: take_back("redo", words or [], workspace), workspace))
