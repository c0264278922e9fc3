"""The command ``octo``: what can be typed.

Each command imports its part when it runs, so that ``octo --help`` and completion are quick.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Literal, TextIO

from octo_lab.cli.interrupt import exit_on_interrupt, no_traceback

with no_traceback():
    import typer

    from octo_lab.cli.options import Json, Workspace
    from octo_lab.cli.tool_commands import tools_app

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
kernel_app = typer.Typer(help="The Octo kernel for Jupyter.", no_args_is_help=True)
app.add_typer(kernel_app, name="kernel")
providers_app = typer.Typer(invoke_without_command=True)
app.add_typer(providers_app, name="providers")
app.add_typer(tools_app, name="tools")

Model = Annotated[
    str | None, typer.Option("--model", "-m", help="provider/model, or a model's own name.")
]
Session = Annotated[
    str | None,
    typer.Option("--session", "-s", help="Go on in this session; it is made if new."),
]
_PROMPT = "The prompt; - reads stdin. One that begins with a dash goes behind --."
_TASK = "The task; - reads stdin. One that begins with a dash goes behind --."
Tools = Annotated[
    list[str] | None,
    typer.Option(
        "--tools",
        "-t",
        metavar="PATTERN",
        help="Allow only these tools: names, or web_*, with commas.",
    ),
]
Timeout = Annotated[
    float | None, typer.Option(min=0.001, metavar="SECONDS", help="Stop after that time.")
]


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"octo_lab {version('octo_lab')}")
        raise typer.Exit


@app.callback()
def octo(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """The AI agent that lives in your Jupyter kernel."""


@app.command()
def run(  # noqa: PLR0913 - one parameter for each option
    words: Annotated[list[str] | None, typer.Argument(metavar="PROMPT...", help=_PROMPT)] = None,
    model: Model = None,
    session: Session = None,
    tools: Tools = None,
    no_tools: Annotated[bool, typer.Option("--no-tools", help="Allow no tools.")] = False,
    timeout: Timeout = None,
    as_json: Json = False,
    stream: Annotated[
        bool | None,
        typer.Option("--stream/--no-stream", help="Print the answer as it comes, or whole."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the answer.")] = False,
    workspace: Workspace = None,
) -> None:
    """Ask once and print the answer.

    The answer goes to stdout, tools and errors to stderr. A gateway on the data folder
    answers, else this process does. Exit code: 0 answered, 1 failed, 2 wrong usage,
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
    raise typer.Exit(guarded(lambda: ask(words or [], options), workspace))


@app.command()
def task(  # noqa: PLR0913 - one parameter for each option
    words: Annotated[list[str] | None, typer.Argument(metavar="TASK...", help=_TASK)] = None,
    kind: Annotated[
        Literal["plan", "code", "review", "test"],
        typer.Option(help="Make a plan, change code, review a diff, run a test command."),
    ] = "code",
    file: Annotated[
        list[Path] | None,
        typer.Option("--file", "-f", metavar="PATH", help="A file that matters; any number."),
    ] = None,
    model: Model = None,
    tools: Tools = None,
    timeout: Timeout = None,
    as_json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the result.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Ids, results and tokens, too.")
    ] = False,
    workspace: Workspace = None,
) -> None:
    """Do one task and print its result.

    The result goes to stdout, progress to stderr. A task has a session of its own and runs in
    this process. Exit code: 0 done, 1 not done, 2 wrong usage, 124 out of time, 130 stopped.
    """
    from octo_lab.cli.boundary import guarded
    from octo_lab.cli.task import TaskOptions, do_task

    options = TaskOptions(
        kind=kind,
        files=tuple(file or ()),
        model=model,
        tools=tuple(tools) if tools else None,
        timeout=timeout,
        as_json=as_json,
        quiet=quiet,
        verbose=verbose,
        workspace=workspace,
    )
    raise typer.Exit(guarded(lambda: do_task(words or [], options), workspace))


@app.command()
def chat(model: Model = None, session: Session = None, workspace: Workspace = None) -> None:
    """Talk on a screen: stream, tools, approvals, sessions."""
    from octo_lab.cli.boundary import guarded
    from octo_lab.cli.chat.start import chat as talk

    raise typer.Exit(
        guarded(lambda: talk(model=model, session=session, workspace=workspace), workspace)
    )


@app.command()
def gateway(  # noqa: PLR0913 - one parameter for each option
    workspace: Workspace = None,
    config: Annotated[
        Path | None, typer.Option(help="A config file in place of the workspace's.")
    ] = None,
    channels: Annotated[str, typer.Option(help="Channels, separated by commas.")] = "web",
    host: Annotated[str, typer.Option(help="Address to listen on; empty: the settings'.")] = "",
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="First port to try.")] = None,
    run_for: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="0: until stopped.")
    ] = 0.0,
    log_level: Annotated[str, typer.Option(help="DEBUG, INFO, WARNING or ERROR.")] = "INFO",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to save the notebook.")
    ] = None,
    kernel: Annotated[str, typer.Option("--kernel", "-k", help="The Jupyter kernel.")] = "octo",
) -> None:
    """Answer other processes until stopped.

    It runs the notebook `notebooks/gateway.ipynb`, as papermill does with `--engine octo`: the
    options below are the notebook's parameters.
    """
    from octo_lab.cli.boundary import guarded
    from octo_lab.cli.gateway import GatewayOptions, run_gateway_command

    options = GatewayOptions(
        workspace=workspace,
        config=config,
        channels=channels,
        host=host,
        port=port,
        run_for=run_for,
        log_level=log_level,
        output=output,
        kernel=kernel,
    )
    raise typer.Exit(guarded(lambda: run_gateway_command(options), workspace))


@app.command()
def init(workspace: Workspace = None) -> None:
    """Make this folder a workspace: sessions, data and settings live in its .octo/."""
    from octo_lab.cli.boundary import guarded
    from octo_lab.cli.init import init_workspace

    raise typer.Exit(guarded(lambda: init_workspace(workspace), workspace))


@app.command()
def trust(
    folder: Annotated[Path | None, typer.Argument(help="Another folder than this one.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    listing: Annotated[bool, typer.Option("--list", help="List what you trust.")] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="Trust it no more.")] = False,
    workspace: Workspace = None,
) -> None:
    """Show what this workspace's settings and .env ask for, and let them have it.

    Until you do, and after every change of it, that is left out.
    """
    from octo_lab.cli.boundary import guarded
    from octo_lab.cli.trust import TrustOptions
    from octo_lab.cli.trust import trust as allow

    place = folder or workspace
    options = TrustOptions(workspace=place, yes=yes, listing=listing, revoke=revoke)
    raise typer.Exit(guarded(lambda: allow(options), place))


@app.command()
def status(as_json: Json = False, workspace: Workspace = None) -> None:
    """Show the model, the session, the tools and the folders."""
    from octo_lab.cli.boundary import guarded
    from octo_lab.cli.look import show_status

    raise typer.Exit(guarded(lambda: show_status(as_json=as_json, workspace=workspace), workspace))


@app.command()
def sessions(
    query: Annotated[str, typer.Argument(help="Only those with this in title or text.")] = "",
    everywhere: Annotated[
        bool, typer.Option("--all", "-a", help="Also those of notebooks, the web and single runs.")
    ] = False,
    as_json: Json = False,
    workspace: Workspace = None,
) -> None:
    """List the sessions of octo chat and of octo run -s."""
    from octo_lab.cli.boundary import guarded
    from octo_lab.cli.look import show_sessions

    raise typer.Exit(
        guarded(
            lambda: show_sessions(
                query, everywhere=everywhere, as_json=as_json, workspace=workspace
            ),
            workspace,
        )
    )


@app.command()
def models(as_json: Json = False, workspace: Workspace = None) -> None:
    """List the models of the connected servers."""
    from octo_lab.cli.boundary import guarded
    from octo_lab.cli.providers import show_models

    raise typer.Exit(guarded(lambda: show_models(as_json=as_json, workspace=workspace), workspace))


@providers_app.callback()
def providers(context: typer.Context, as_json: Json = False, workspace: Workspace = None) -> None:
    """Show where models can come from: keys (masked), base URLs, and who set them."""
    if context.invoked_subcommand:
        return
    from octo_lab.cli.boundary import guarded
    from octo_lab.cli.providers import show_providers

    raise typer.Exit(
        guarded(lambda: show_providers(as_json=as_json, workspace=workspace), workspace)
    )


@providers_app.command("test")
def check_provider(
    name: Annotated[str, typer.Argument(help="A provider, or provider/model.")],
    as_json: Json = False,
    workspace: Workspace = None,
) -> None:
    """Ask a provider one real question; explain a failure."""
    from octo_lab.cli.boundary import guarded
    from octo_lab.cli.providers import show_check

    raise typer.Exit(
        guarded(lambda: show_check(name, as_json=as_json, workspace=workspace), workspace)
    )


@app.command()
def context(as_json: Json = False, workspace: Workspace = None) -> None:
    """Show what fills the model's window: prompt layers, tools, conversation."""
    from octo_lab.cli.boundary import guarded
    from octo_lab.cli.context import show_context

    raise typer.Exit(guarded(lambda: show_context(as_json=as_json, workspace=workspace), workspace))


@app.command()
def router(as_json: Json = False, workspace: Workspace = None) -> None:
    """Show how the models that share the work are doing: latency, errors, cost."""
    from octo_lab.cli.boundary import guarded
    from octo_lab.cli.router import show_router

    raise typer.Exit(guarded(lambda: show_router(as_json=as_json, workspace=workspace), workspace))


@app.command()
def doctor(as_json: Json = False, workspace: Workspace = None) -> None:
    """Check what octo_lab needs on this machine."""
    from octo_lab.cli.boundary import guarded
    from octo_lab.cli.doctor import show_doctor

    raise typer.Exit(guarded(lambda: show_doctor(as_json=as_json, workspace=workspace), workspace))


@kernel_app.command()
def install(
    user: Annotated[bool, typer.Option("--user", help="For you, in every environment.")] = False,
    sys_prefix: Annotated[
        bool, typer.Option("--sys-prefix", help="For this environment (the default).")
    ] = False,
    prefix: Annotated[Path | None, typer.Option(metavar="DIR", help="Below this folder.")] = None,
    name: Annotated[str, typer.Option(help="The kernel's name.")] = "octo",
) -> None:
    """Install the kernelspec, so that Jupyter lists the Octo kernel."""
    from octo_lab.cli.boundary import guarded
    from octo_lab.cli.kernel import install_kernel

    places = {"--user": user, "--sys-prefix": sys_prefix, "--prefix": prefix is not None}
    chosen = [option for option, given in places.items() if given]
    raise typer.Exit(guarded(lambda: install_kernel(chosen, prefix=prefix, name=name)))


def _nothing(mode: Literal["r", "w"]) -> TextIO:
    """The null device, open as long as the process."""
    return os.fdopen(os.open(os.devnull, os.O_RDWR), mode, closefd=False)


def main() -> None:
    """The entry point. A terminal that cannot show a character gets another, not an error.

    A standard stream that was closed beforehand is as good as empty.
    """
    sys.stdin = sys.stdin or _nothing("r")
    sys.stdout = sys.stdout or _nothing("w")
    sys.stderr = sys.stderr or _nothing("w")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    exit_on_interrupt()
    app()
