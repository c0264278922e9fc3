"""The tool ``exec_session``: programs that go on running between calls."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from octo_lab.core.errors import ToolFailed
from octo_lab.tools.builtin.shell import CHANNELS, NETWORK, place_of, shell_argv
from octo_lab.tools.command_policy.families import families
from octo_lab.tools.command_policy.judge import judge_command
from octo_lab.tools.model_tool import model_tool
from octo_lab.tools.powers import Powers
from octo_lab.tools.sandbox.programs import Program, Programs
from octo_lab.tools.tool import Tool, ToolContext
from octo_lab.tools.verdict import Verdict

_FIRST_SECONDS = 1.0
_DESCRIPTION = (
    "Start a program that goes on running (a server, a debugger, an interactive shell), write to "
    "it, read its new output, end it. It runs in the sandbox that `shell` uses, without a "
    "terminal. It is ended when nobody has used it for half an hour."
)


class ExecSessionArgs(BaseModel):
    model_config = ConfigDict(extra="forbid")

    action: Literal["start", "read", "write", "end", "list"]
    command: str = Field(default="", description="For start: what bash is to run.")
    name: str = Field(default="", description="For read, write, end: the name that start gave.")
    text: str = Field(default="", description="For write: the text; a line ends with a newline.")
    close: bool = Field(default=False, description="For write: nothing more will be written.")
    wait_secs: float = Field(
        default=2.0, ge=0, le=60, description="For read and write: how long to wait for output."
    )


async def exec_session(powers: Powers, ctx: ToolContext, args: ExecSessionArgs) -> str:
    programs = powers.programs
    if programs is None:
        raise ToolFailed("No program can go on running here", hint="use shell")
    match args.action:
        case "start":
            return await _start(programs, ctx, args)
        case "list":
            return "\n".join(map(_line, programs.of(ctx.session))) or "(none)"
    program = programs.get(ctx.session, args.name)
    match args.action:
        case "write":
            await ctx.changes.unseen(f"exec_session {program.name}: {args.text}")
            _write(program, args)
        case "end":
            await programs.end(program)
            return await _news(programs, program, 0.0, ctx)
    return await _news(programs, program, args.wait_secs, ctx)


async def _start(programs: Programs, ctx: ToolContext, args: ExecSessionArgs) -> str:
    if not args.command.strip():
        raise ToolFailed("There is no command to start", hint="give one as `command`")
    await ctx.changes.unseen(f"exec_session: {args.command}")
    program = programs.start(
        ctx.session, args.command, shell_argv(args.command), ".", private=ctx.screen.private
    )
    return await _news(programs, program, _FIRST_SECONDS, ctx)


def _write(program: Program, args: ExecSessionArgs) -> None:
    if program.state == "ended":
        raise ToolFailed(f"{program.name!r} runs no more: {program.end}", hint="start it anew")
    program.typed.write(args.text.encode(errors="replace"))
    if args.close:
        program.typed.close()


async def _news(programs: Programs, program: Program, seconds: float, ctx: ToolContext) -> str:
    output = (await programs.read(program, seconds)).decode(errors="replace").rstrip("\n")
    ctx.taint.mark_all(f"exec_session read {name!r}" for name in list(program.opened))
    return "\n".join(part for part in (output, f"[{_state(program)}]") if part)


def _line(program: Program) -> str:
    return f"{_state(program)}: {program.command}"


def _state(program: Program) -> str:
    return f"{program.name} {program.end if program.state == 'ended' else 'runs'}"


def _detail(args: ExecSessionArgs) -> str:
    match args.action:
        case "start":
            return args.command
        case "write":
            return f"{args.name} ← {args.text}"
    return f"{args.action} {args.name}".rstrip()


def _judge(powers: Powers, args: ExecSessionArgs, workspace: Path) -> Verdict:
    match args.action:
        case "start":
            return judge_command(args.command, place_of(powers, workspace))
        case "write":
            return Verdict("ask", f"it types into the program {args.name!r}")
    return Verdict("allow", "it looks at programs that were allowed")


def _scopes(powers: Powers, args: ExecSessionArgs, workspace: Path) -> tuple[str, ...]:
    match args.action:
        case "start":
            return families(args.command, place_of(powers, workspace))
        case "write":
            return (f"write {args.name}",)
    return (args.action,)


def tool(powers: Powers) -> Tool:
    made = model_tool(
        partial(exec_session, powers),
        ExecSessionArgs,
        name="exec_session",
        group="runtime",
        source="workspace",
        risk="execute",
        channels=CHANNELS,
        asks=True,
        detail=_detail,
        judge=partial(_judge, powers),
        scopes=partial(_scopes, powers),
        offline=powers.walls,
        ready=powers.ready,
    )
    return replace(made, description=f"{_DESCRIPTION} {NETWORK[powers.network]}")
