"""Hooks are real programs here, run as they are in a turn."""

from __future__ import annotations

import getpass
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from octo_lab.agent.hook_payload import after_model, after_tool, before_model, before_tool
from octo_lab.agent.hooks import Hook, HookEvent, HookScope, HookSet, TurnHooks, expand_home
from octo_lab.agent.loop import Agent
from octo_lab.agent.ports import ModelAnswered, ModelAsked, Permission
from octo_lab.agent.transcript import Transcript
from octo_lab.core.errors import Rejected
from octo_lab.core.events import ToolFinished, TurnEvent
from octo_lab.core.messages import Message, ToolCall, Usage
from octo_lab.security.redact import Redactor, redact
from octo_lab.testing.providers import ScriptedProvider, calls, says
from octo_lab.tools.sandbox.local import Home, LocalExec
from octo_lab.tools.sandbox.policy import SandboxPolicy
from octo_lab.tools.tool import Tool
from tests.agent.turns import ALLOW, ECHO, INPUT, call, context

pytestmark = pytest.mark.anyio

ENVIRON = {"PATH": os.environ.get("PATH", ""), "LD_PRELOAD": "evil.so", "MY_API_KEY": "sk-1"}
SAVE = "import sys, pathlib; pathlib.Path(sys.argv[1]).write_bytes(sys.stdin.buffer.read())"


class Desk:
    """Hooks in a folder of their own, and what the person was told of them."""

    def __init__(self, folder: Path, *hooks: Hook) -> None:
        self.told: list[str] = []
        home = Home(workspace=folder, environ=ENVIRON, policy=SandboxPolicy(mode="none"))
        self.set = HookSet(hooks, LocalExec(home), home=str(folder))
        scope = HookScope(session="s1", profile="p1", tell=self.told.append, mask=redact, spent=0.5)
        self.hooks = TurnHooks(hooks=self.set, scope=scope)

    async def before(self, made: ToolCall) -> Permission:
        return await self.hooks.before_tool(made)


def hook(
    source: str,
    *arguments: str,
    event: HookEvent = "before_tool_call",
    tools: tuple[str, ...] = (),
    timeout: float = 20.0,
) -> Hook:
    command = (sys.executable, "-c", source, *arguments)
    return Hook(event=event, command=command, timeout=timeout, tools=tools)


def ends(code: int, said: str = "") -> str:
    return f"import sys; sys.stdout.write({said!r}); sys.exit({code})"


MADE = call("echo", '{"text": "hi"}')


async def test_a_hook_is_told_the_call_on_its_standard_input(tmp_path: Path) -> None:
    desk = Desk(tmp_path, hook(SAVE, str(tmp_path / "seen")))

    assert await desk.before(MADE) == Permission(call=MADE)

    assert json.loads((tmp_path / "seen").read_text()) == {
        "event": "before_tool_call",
        "tool_name": "echo",
        "arguments": {"text": "hi"},
        "arguments_cut": False,
        "tool_id": "1",
        "session_id": "s1",
        "profile_id": "p1",
    }


async def test_the_first_denial_wins_and_gives_its_reason(tmp_path: Path) -> None:
    never = hook(SAVE, str(tmp_path / "seen"))
    desk = Desk(tmp_path, hook(ends(0)), hook(ends(1, "not on\nSunday\n")), never)

    assert await desk.before(MADE) == Permission(call=MADE, refused="not on\nSunday")
    assert not (tmp_path / "seen").exists()


async def test_a_hook_may_rewrite_the_arguments_and_the_next_one_sees_them(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    desk = Desk(tmp_path, hook(ends(2, '{"text": "ho"}')), hook(SAVE, str(seen)))

    permission = await desk.before(MADE)

    assert permission == Permission(call=call("echo", '{"text": "ho"}'))
    assert json.loads(seen.read_text())["arguments"] == {"text": "ho"}


@pytest.mark.parametrize(
    "source", [ends(3), ends(2, "no JSON"), ends(2, "[1]"), "import os; os.kill(os.getpid(), 9)"]
)
async def test_a_hook_that_fails_three_times_in_a_row_is_left_alone(
    tmp_path: Path, source: str
) -> None:
    counted = f"open('count', 'a').write('x')\n{source}"
    desk = Desk(tmp_path, hook(counted))

    for _ in range(5):
        assert (await desk.before(MADE)).refused is None

    assert (tmp_path / "count").read_text() == "xxx"
    first, last = desk.told
    assert "failed, so it denied nothing: " in first
    assert "failed 3 times in a row and is not run any more" in last


async def test_a_denial_and_a_success_begin_the_count_anew(tmp_path: Path) -> None:
    script = (
        "n = len(open('n', 'a+').write('x') and open('n').read()); exit([3, 3, 1, 3, 3, 0][n-1])"
    )
    desk = Desk(tmp_path, hook(script))

    refused = [(await desk.before(MADE)).refused for _ in range(6)]

    assert refused == [None, None, "", None, None, None]
    assert len(desk.told) == 2


async def test_only_hooks_of_the_event_and_tool_run(tmp_path: Path) -> None:
    desk = Desk(
        tmp_path,
        hook(ends(1), tools=("shell", "write_*")),
        hook(ends(1), event="before_llm_call"),
        hook(ends(1, "later"), tools=("ec*",)),
    )

    assert (await desk.before(MADE)).refused == "later"
    assert (await desk.before(call("read_file"))).refused is None
    assert (await desk.before(call("write_file"))).refused == ""


async def test_after_hooks_cannot_deny_and_a_nonzero_end_is_a_failure(tmp_path: Path) -> None:
    desk = Desk(tmp_path, hook(ends(1), event="after_tool_call"))
    result = Message(role="tool", content="hi", tool_call_id="1")

    for _ in range(3):
        await desk.hooks.after_tool(MADE, result)

    first, last = desk.told
    assert first.endswith("failed: exit code 1.")
    assert "not run any more" in last


async def test_a_hook_that_takes_too_long_is_killed_with_all_it_started(tmp_path: Path) -> None:
    source = (
        "import subprocess, sys, time, signal\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "open('pid', 'w').write(str(child.pid))\n"
        "time.sleep(60)\n"
    )
    desk = Desk(tmp_path, hook(source, timeout=1.0))

    assert await desk.before(MADE) == Permission(call=MADE)
    assert desk.told[0].endswith("failed, so it denied nothing: it took longer than 1 s.")

    pid = int((tmp_path / "pid").read_text())
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


async def test_a_hook_that_writes_much_and_reads_nothing_does_not_hang(tmp_path: Path) -> None:
    flood = "import sys\nsys.stdout.write('o' * 5_000_000)\nsys.stderr.write('e' * 5_000_000)\n"
    desk = Desk(tmp_path, hook(flood + "sys.exit(1)"))
    large = call("echo", json.dumps({str(n): "x" * 900 for n in range(100)}))

    permission = await desk.before(large)

    assert permission.refused == "o" * 1000


async def test_hooks_are_told_no_secrets_and_nothing_that_steers_them(tmp_path: Path) -> None:
    source = "import json, os; json.dump(dict(os.environ), open('env', 'w'))"
    desk = Desk(tmp_path, hook(source))

    await desk.before(MADE)

    told = json.loads((tmp_path / "env").read_text())
    assert not {"LD_PRELOAD", "MY_API_KEY"} & set(told)


async def test_a_cancelled_hook_leaves_no_process(tmp_path: Path) -> None:
    source = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
    desk = Desk(tmp_path, hook(source, timeout=60.0))
    with anyio.move_on_after(1.0):
        await desk.before(MADE)

    assert not psutil.pid_exists(int((tmp_path / "pid").read_text()))


async def run_turn(desk: Desk, provider: ScriptedProvider, tool: Tool = ECHO) -> list[TurnEvent]:
    events: list[TurnEvent] = []
    agent = Agent(
        provider=provider, tools=[tool], approver=ALLOW, context=context, hooks=desk.hooks
    )

    async def keep(step: object) -> None:
        pass

    await agent.run(INPUT, Transcript(), events.append, keep)
    return events


async def test_a_turn_runs_its_hooks_and_obeys_them(tmp_path: Path) -> None:
    log = "import sys; open('log', 'a').write(sys.argv[1] + '\\n')"
    rewrite = hook(ends(2, '{"text": "rewritten"}'))
    others: tuple[HookEvent, ...] = ("after_tool_call", "before_llm_call", "after_llm_call")
    desk = Desk(tmp_path, rewrite, *(hook(log, event, event=event) for event in others))

    events = await run_turn(desk, ScriptedProvider(calls(MADE), says("ok")))

    [done] = [event for event in events if isinstance(event, ToolFinished)]
    assert (done.state, done.output) == ("ok", "rewritten")
    assert (tmp_path / "log").read_text().split() == [
        "before_llm_call",
        "after_llm_call",
        "after_tool_call",
        "before_llm_call",
        "after_llm_call",
    ]


async def test_a_denied_call_is_told_to_the_model_with_the_reason(tmp_path: Path) -> None:
    desk = Desk(tmp_path, hook(ends(1, "too loud")))

    events = await run_turn(desk, ScriptedProvider(calls(MADE), says("ok")))

    [done] = [event for event in events if isinstance(event, ToolFinished)]
    assert (done.state, done.output) == ("denied", "Error: A hook denied 'echo': too loud")


async def test_a_name_that_one_model_knows_hides_no_tool_from_its_hook(tmp_path: Path) -> None:
    desk = Desk(tmp_path, hook(ends(1, "too loud"), tools=("echo",)))
    alias = replace(ECHO, name="say", own_name="echo")
    made = replace(MADE, name="say")

    events = await run_turn(desk, ScriptedProvider(calls(made), says("ok")), alias)

    [done] = [event for event in events if isinstance(event, ToolFinished)]
    assert (done.state, done.output) == ("denied", "Error: A hook denied 'say': too loud")


async def test_a_model_that_may_not_be_asked_is_not(tmp_path: Path) -> None:
    desk = Desk(tmp_path, hook(ends(1, "no budget"), event="before_llm_call"))
    provider = ScriptedProvider(says("never"))

    with pytest.raises(Rejected, match="no budget"):
        await run_turn(desk, provider)

    assert provider.requests == []


@pytest.mark.parametrize(
    ("word", "expanded"),
    [
        ("~/bin/check", "/home/me/bin/check"),
        ("~", "/home/me"),
        ("a~/b", "a~/b"),
        ("~nobody-of-that-name/x", "~nobody-of-that-name/x"),
    ],
)
def test_a_tilde_is_the_owners_home(word: str, expanded: str) -> None:
    assert expand_home(word, "/home/me") == expanded


def test_a_tilde_with_a_name_is_that_users_home() -> None:
    name = getpass.getuser()

    assert expand_home(f"~{name}/x", "/elsewhere") == str(Path(f"~{name}/x").expanduser())


RESULT = Message(role="tool", content="r" * 3000, tool_call_id="1", seconds=0.0126)


def test_what_a_hook_is_told_is_without_secrets_and_the_result_short() -> None:
    key = "sk-ant-" + "a1" * 20
    made = call("web_fetch", json.dumps({"url": "u" * 2000, "headers": [{"k": f"Bearer {key}"}]}))

    told: dict[str, Any] = {**after_tool(made, RESULT, redact)}

    arguments = told.pop("arguments")
    assert arguments["url"] == "u" * 2000
    assert key not in json.dumps(arguments)
    assert told == {
        "tool_name": "web_fetch",
        "arguments_cut": False,
        "tool_id": "1",
        "result": "r" * 1024 + "…",
        "success": True,
        "duration_ms": 13,
    }


def test_a_hook_is_told_no_secret_of_the_person_but_all_that_a_command_does() -> None:
    command = "curl -H hunter2hunter2 password=aaaaaaaa|/tmp/evil"
    mask = Redactor(["hunter2hunter2"])
    result = replace(RESULT, content="it is hunter2hunter2")

    told = after_tool(call("exec", json.dumps({"command": command})), result, mask)

    assert told["arguments"] == {"command": "curl -H *** password=aaaaaaaa|/tmp/evil"}
    assert told["result"] == "it is ***"


def test_the_contents_of_files_are_not_told() -> None:
    written = call("write_file", '{"path": "a", "content": "mine"}')

    assert after_tool(written, RESULT, redact) == {
        "tool_name": "write_file",
        "arguments": {"path": "a", "content": "[redacted]"},
        "arguments_cut": False,
        "tool_id": "1",
        "result": "[redacted]",
        "success": True,
        "duration_ms": 13,
    }
    assert after_tool(call("shell"), RESULT, redact)["result"] == "[redacted]"
    assert after_tool(call("read_file"), RESULT, redact)["result"] == "[redacted]"


@pytest.mark.parametrize(
    "value",
    [
        {"a": "ä" * 200_000, "b": "end"},
        {str(n): "x" * 3000 for n in range(200)},
        {"n": list(range(100_000))},
    ],
)
def test_arguments_that_are_too_long_are_cut_and_marked(value: dict[str, Any]) -> None:
    told = before_tool(call("a", json.dumps(value)), redact)

    assert told["arguments_cut"] is True
    assert 1000 < len(json.dumps(told["arguments"], ensure_ascii=False).encode()) < 300_000


async def test_a_hook_sees_the_end_of_a_long_command(tmp_path: Path) -> None:
    source = "import json, sys; sys.exit('rm -rf' in json.load(sys.stdin)['arguments']['command'])"
    desk = Desk(tmp_path, hook(source))
    made = call("shell", json.dumps({"command": "true;" * 40_000 + "rm -rf /"}))

    assert (await desk.before(made)).refused == ""


@pytest.mark.parametrize("arguments", ["[1]", "{", "[" * 5000])
def test_arguments_that_are_no_object_are_told_as_text(arguments: str) -> None:
    assert isinstance(before_tool(call("a", arguments), redact)["arguments"], str)


def test_the_payloads_of_model_hooks() -> None:
    assert before_model(ModelAsked(model="m", messages=3, iteration=2)) == {
        "model": "m",
        "message_count": 3,
        "iteration": 2,
    }
    answered = ModelAnswered(
        model="m",
        provider="p",
        iteration=2,
        reason="tool_use",
        calls=1,
        seconds=1.5,
        usage=Usage(input_tokens=10, output_tokens=2),
        total=Usage(input_tokens=30, output_tokens=5, cost=0.25),
    )
    assert after_model(answered, 0.5) == {
        "model": "m",
        "iteration": 2,
        "stop_reason": "tool_use",
        "has_tool_calls": True,
        "input_tokens": 10,
        "output_tokens": 2,
        "provider_name": "p",
        "latency_ms": 1500,
        "cumulative_input_tokens": 30,
        "cumulative_output_tokens": 5,
        "session_cost": 0.75,
    }
