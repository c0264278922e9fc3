"""The command ``octo``: what can be typed. Each command imports its part when it runs, so
that ``octo --help`` and completion answer at once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="The AI agent that lives in your Jupyter kernel.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Workspace = Annotated[
    Path | None,
    typer.Option("--workspace", "-C", help="Work in this folder instead of the current one."),
]
Model = Annotated[
    str | None, typer.Option("--model", "-m", help="provider/model, or a model's own name.")
]


@app.command()
def run(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="PROMPT...", help="The prompt; - reads stdin.")
    ] = None,
    model: Model = None,
    session: Annotated[
        str | None,
        typer.Option("--session", "-s", help="Go on in this session; it is made if new."),
    ] = None,
    tools: Annotated[
        list[str] | None, typer.Option("--tools", "-t", help="Allow only these tools (pattern).")
    ] = None,
    no_tools: Annotated[bool, typer.Option("--no-tools", help="Allow no tools.")] = False,
    timeout: Annotated[
        float | None, typer.Option(min=0.001, help="Stop after so many seconds.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
    stream: Annotated[
        bool | None,
        typer.Option("--stream/--no-stream", help="Print the answer as it comes.", show_default=""),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only the answer.")] = False,
    workspace: Workspace = None,
) -> None:
    """Ask once and print the answer.

    The answer goes to stdout, tools and errors to stderr. With a gateway on the data folder
    it answers, else this process does. Exit code: 0 answered, 1 failed, 2 wrong usage,
    124 out of time, 130 stopped.
    """
    from octo_lab.cli.boundary import guarded
    from octo_lab.cli.run import RunOptions
    from octo_lab.cli.run import run as ask

    options = RunOptions(
        model=model,
        session=session,
        tools=() if no_tools else tuple(tools) if tools else None,
        timeout=timeout,
        as_json=as_json,
        stream=stream,
        quiet=quiet,
        workspace=workspace,
    )
    raise typer.Exit(guarded(lambda: ask(words or [], options)))


def main() -> None:
    """The entry point. A terminal that cannot show a character gets another, not an error."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    app()
