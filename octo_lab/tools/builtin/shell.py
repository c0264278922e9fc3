"""The tool ``shell``: one command line, run in the workspace inside the sandbox."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from octo_lab.tools.command_policy.families import families
from octo_lab.tools.command_policy.judge import judge_command, steers
from octo_lab.tools.command_policy.place import Place
from octo_lab.tools.exec_env import Executed, Execution, Lookout
from octo_lab.tools.model_tool import model_tool
from octo_lab.tools.powers import Powers
from octo_lab.tools.sandbox.words import how_it_ended
from octo_lab.tools.tool import Tool, ToolContext, ToolResult

CHANNELS = frozenset({"notebook", "terminal", "web"})
LONGEST = 600
_OUTPUT = 50_000
_GRACE = 30.0
_DESCRIPTION = (
    "Run a command with bash in the workspace, in a sandbox: it sees the workspace and the "
    "system's programs, nothing else of this machine, and can write in the workspace alone. "
    "/tmp does not last, and nothing goes on in the background: exec_session is for that. "
    "At most 50 KB of output are given, the beginning and the end."
)
NETWORK = {
    True: "The network can be reached, this machine's own servers included.",
    False: "There is no network.",
}


class ShellArgs(BaseModel):
    model_config = ConfigDict(extra="forbid")

    command: str = Field(min_length=1, description="What bash is to run.")
    timeout_secs: int = Field(
        default=120, ge=1, le=LONGEST, description="It is stopped after so many seconds."
    )


def shell_argv(command: str) -> tuple[str, ...]:
    """Bash where there is one, without anybody's start-up files."""
    script = 'if command -v bash >/dev/null; then exec bash --norc -c "$1"; fi; eval "$1"'
    return ("/bin/sh", "-c", script, "sh", command)


async def shell(powers: Powers, ctx: ToolContext, args: ShellArgs) -> ToolResult:
    await ctx.changes.unseen(f"shell: {args.command}")
    ran = await powers.exec.exec(
        Execution(
            argv=shell_argv(args.command),
            timeout=float(args.timeout_secs),
            output=_OUTPUT // 2,
            report=ctx.report,
            steers=steers(args.command, place_of(powers, ctx.workspace)),
            lookout=Lookout(
                names=ctx.screen.private,
                opened=lambda name: ctx.taint.mark(f"shell read {name!r}"),
            ),
        )
    )
    return ToolResult(text=shown(ran))


def shown(ran: Executed) -> str:
    """Both streams and how it ended; ``[…]`` lines are not the program's own."""
    out, err = (stream.decode(errors="replace").rstrip("\n") for stream in (ran.stdout, ran.stderr))
    parts = [
        out,
        f"[stderr]\n{err}" if err else "",
        *(f"[{note}]" for note in ran.notes),
        f"[{how_it_ended(ran)}]",
    ]
    return "\n".join(part for part in parts if part)


def place_of(powers: Powers, workspace: Path) -> Place:
    """Where commands run, for the command policy: a sandbox without network is walls enough, once
    it is known that it works.
    """
    home = powers.environ.get("HOME") or str(workspace)
    return Place(workspace=str(workspace), home=home, walls=powers.walls())


def tool(powers: Powers) -> Tool:
    made = model_tool(
        partial(shell, powers),
        ShellArgs,
        name="shell",
        group="runtime",
        source="workspace",
        risk="execute",
        channels=CHANNELS,
        asks=True,
        detail=lambda args: args.command,
        judge=lambda args, workspace: judge_command(args.command, place_of(powers, workspace)),
        scopes=lambda args, workspace: families(args.command, place_of(powers, workspace)),
        timeout=LONGEST + _GRACE,
        output=_OUTPUT + 2000,
        offline=powers.walls,
        ready=powers.ready,
    )
    return replace(made, description=f"{_DESCRIPTION} {NETWORK[powers.network]}")
