"""The tools ``shell`` and ``exec_session``, run for real without a sandbox."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from octo_lab.core.errors import ToolDenied, ToolFailed
from octo_lab.security.net.ports import WebRequest, WebResponse
from octo_lab.tools.builtin import exec_session, shell
from octo_lab.tools.exec_env import Executed
from octo_lab.tools.powers import Powers
from octo_lab.tools.registry import builtin_tools
from octo_lab.tools.sandbox.local import Home, LocalExec
from octo_lab.tools.sandbox.policy import SandboxPolicy
from octo_lab.tools.sandbox.programs import Programs
from octo_lab.tools.tool import Tool, ToolContext, ToolResult

pytestmark = pytest.mark.anyio


class NoWeb:
    async def fetch(self, request: WebRequest) -> WebResponse:
        raise ToolDenied("no web here")


@pytest.fixture
async def powers(tmp_path: Path) -> AsyncIterator[Powers]:
    home = Home(workspace=tmp_path, environ={"PATH": os.defpath}, policy=SandboxPolicy(mode="none"))
    env = LocalExec(home)
    env._warned = True
    async with anyio.create_task_group() as tasks:
        yield Powers(exec=env, web=NoWeb(), programs=Programs(env, tasks))
        tasks.cancel_scope.cancel()


async def used(tool: Tool, ctx: ToolContext, **arguments: object) -> str:
    result = await tool.run(ctx, tool.parse(arguments))
    return result.text if isinstance(result, ToolResult) else result


async def test_output_errors_and_the_code_are_told_apart(powers: Powers, ctx: ToolContext) -> None:
    tool = shell.tool(powers)

    both = await used(tool, ctx, command="echo out; echo err >&2; exit 3")
    silent = await used(tool, ctx, command="true")
    killed = await used(tool, ctx, command="kill -9 $$")
    late = await used(tool, ctx, command="echo begun; sleep 60", timeout_secs=1)

    assert both == "out\n[stderr]\nerr\n[exit code 3]"
    assert silent == "[exit code 0]"
    assert killed == "[ended by SIGKILL]"
    assert late == "begun\n[stopped after 1 s: it took too long]"


async def test_it_is_bash_in_the_workspace(powers: Powers, ctx: ToolContext) -> None:
    text = await used(shell.tool(powers), ctx, command='x=(a b); echo "${x[1]}"; pwd; echo {1..3}')

    assert text == f"b\n{ctx.workspace}\n1 2 3\n[exit code 0]"


async def test_a_command_is_run_as_it_is_written(powers: Powers, ctx: ToolContext) -> None:
    command = """cat <<'END'\n$HOME "quoted" 'too' \\n ü 漢\nEND\nprintf '%s|' "$@" $0"""

    text = await used(shell.tool(powers), ctx, command=command)

    assert text.splitlines()[0] == "$HOME \"quoted\" 'too' \\n ü 漢"


async def test_output_that_is_no_text_or_too_long_does_not_harm(
    powers: Powers, ctx: ToolContext
) -> None:
    tool = shell.tool(powers)

    odd = await used(tool, ctx, command=r"printf '\xff\x00\x1b[31m'")
    long = await used(tool, ctx, command="seq 100000; seq 100000 >&2")

    assert odd == "\ufffd\0\x1b[31m\n[exit code 0]"
    assert len(long) < 51_000
    assert long.startswith("1\n2\n")
    assert long.endswith("99999\n100000\n[exit code 0]")
    assert long.count("bytes omitted") == 2


async def test_the_turn_remembers_that_anything_may_have_changed(
    powers: Powers, ctx: ToolContext
) -> None:
    await used(shell.tool(powers), ctx, command="touch x")
    await used(exec_session.tool(powers), ctx, action="start", command="touch y")

    assert ctx.changes.unknown == ["shell: touch x", "exec_session: touch y"]


async def test_notes_about_the_run_are_for_the_model_too() -> None:
    ran = Executed(code=0, stdout=b"x\n", notes=("one", "two"))

    assert shell.shown(ran) == "x\n[one]\n[two]\n[exit code 0]"


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"command": ""},
        {"command": "x", "timeout_secs": 0},
        {"command": "x", "timeout_secs": 601},
        {"command": "x", "other": 1},
    ],
)
async def test_wrong_arguments_are_refused(powers: Powers, wrong: dict[str, object]) -> None:
    with pytest.raises(ToolFailed):
        shell.tool(powers).parse(wrong)


async def test_the_description_says_whether_there_is_a_network(powers: Powers) -> None:
    for make in (shell.tool, exec_session.tool):
        assert make(powers).description.endswith("There is no network.")
        assert "this machine's own servers" in make(replace(powers, network=True)).description


async def test_both_ask_run_programs_and_are_not_for_chat_apps(powers: Powers) -> None:
    for tool in (shell.tool(powers), exec_session.tool(powers)):
        assert (tool.asks, tool.risk, tool.source, tool.group) == (
            *(True, "execute", "workspace", "runtime"),
        )
        assert [tool.offered_to(name) for name in ("notebook", "terminal", "web", "telegram")] == [
            *(True, True, True, False)
        ]
        assert json.loads(json.dumps(dict(tool.schema)))["type"] == "object"
    command = shell.tool(powers)
    assert command.detail(command.parse({"command": "ls -l"})) == "ls -l"


async def test_powered_tools_are_there_where_powers_are(powers: Powers) -> None:
    tools = builtin_tools(powers)
    names = [tool.name for tool in tools]

    assert {"shell", "exec_session"} <= set(names)
    assert not [tool.name for tool in tools if "partial" in tool.description]
    assert len(set(names)) == len(names)
    assert not {"shell", "exec_session"} & {tool.name for tool in builtin_tools()}


async def test_a_program_is_started_written_to_read_and_ended(
    powers: Powers, ctx: ToolContext
) -> None:
    tool = exec_session.tool(powers)
    script = "echo ready; while read -r x; do echo got $x; done; sleep 300"

    assert await used(tool, ctx, action="start", command=script) == "ready\n[p1 runs]"
    assert await used(tool, ctx, action="write", name="p1", text="a\n") == "got a\n[p1 runs]"
    assert await used(tool, ctx, action="read", name="p1", wait_secs=0) == "[p1 runs]"
    assert await used(tool, ctx, action="list") == f"p1 runs: {script}"
    assert await used(tool, ctx, action="end", name="p1") == "[p1 ended]"
    assert await used(tool, ctx, action="list") == f"p1 ended: {script}"
    with pytest.raises(ToolFailed, match="'p1' runs no more: ended"):
        await used(tool, ctx, action="write", name="p1", text="b")


async def test_a_program_that_ends_by_itself_says_how(powers: Powers, ctx: ToolContext) -> None:
    tool = exec_session.tool(powers)

    assert await used(tool, ctx, action="start", command="exit 4") == "[p1 exit code 4]"
    started = await used(tool, ctx, action="start", command="cat; exit 5")
    closed = await used(tool, ctx, action="write", name="p2", text="last", close=True, wait_secs=9)

    assert started == "[p2 runs]"
    assert closed.startswith("last\n")


async def test_what_is_not_there_or_not_said_is_named(powers: Powers, ctx: ToolContext) -> None:
    tool = exec_session.tool(powers)

    with pytest.raises(ToolFailed, match="no command"):
        await used(tool, ctx, action="start", command=" ")
    with pytest.raises(ToolFailed, match="No program 'p9' here"):
        await used(tool, ctx, action="read", name="p9")
    with pytest.raises(ToolFailed, match="use shell"):
        await used(exec_session.tool(replace(powers, programs=None)), ctx, action="list")
    assert await used(tool, ctx, action="list") == "(none)"


async def test_a_person_is_told_what_is_done_to_which_program(powers: Powers) -> None:
    tool = exec_session.tool(powers)

    def told(**arguments: object) -> str:
        return tool.detail(tool.parse(arguments))

    assert told(action="start", command="ls") == "ls"
    assert told(action="write", name="p1", text="rm x\n") == "p1 ← rm x\n"
    assert told(action="end", name="p1") == "end p1"
    assert told(action="list") == "list"
