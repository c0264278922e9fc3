from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from octo_lab.app import open_app
from octo_lab.config.settings import ToolSettings
from octo_lab.core.messages import ToolCall
from octo_lab.core.replies import ControlReply, Told
from octo_lab.core.tool_mail import CallTool, GetProgress, GetTools, ToolAnswer, ToolList
from octo_lab.core.wire import control_json, decode_control, reply_json
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.providers import ScriptedProvider, calls, says
from octo_lab.testing.setups import setup_in
from octo_lab.tools.function_tool import function_tool
from octo_lab.tools.tool import Tool, ToolContext
from octo_lab.web.decode import read_reply

pytestmark = pytest.mark.anyio


class Danger:
    """A tool that asks, and counts its runs."""

    def __init__(self) -> None:
        self.runs = 0
        self.tool = function_tool(self.run, name="danger", asks=True, risk="execute")

    async def run(self) -> str:
        """Do it."""
        self.runs += 1
        return "done"


async def test_what_asks_runs_only_with_a_yes_or_a_grant(tmp_path: Path) -> None:
    danger, channel = Danger(), MemoryChannel("notebook")
    setup = setup_in(tmp_path, channel, provider=ScriptedProvider(), tools=[danger.tool])
    async with open_app(setup):
        asked = await channel.control(CallTool(name="danger"))
        dry = await channel.control(CallTool(name="danger", yes=True, dry=True))
        assert danger.runs == 0
        yes = await channel.control(CallTool(name="danger", yes=True))
        await channel.message(await channel.ask("/allow danger"))
        granted = await channel.control(CallTool(name="danger"))

    assert asked == dry
    assert asked == ToolAnswer(name="danger", decision="ask", reason="it runs a program")
    assert isinstance(yes, ToolAnswer)
    assert isinstance(granted, ToolAnswer)
    assert (yes.state, yes.text, granted.state, danger.runs) == ("ok", "done", "ok", 2)


async def test_what_would_carry_a_key_or_what_was_read_away_is_asked_about(
    tmp_path: Path,
) -> None:
    said: list[str] = []

    async def tell(text: str) -> str:
        """Tell everybody."""
        said.append(text)
        return "told"

    def secrets() -> str:
        """Read what is private."""
        return "quiet"

    tools = [
        function_tool(tell, risk="network"),
        function_tool(secrets, source="private", risk="read"),
    ]
    provider = ScriptedProvider(calls(ToolCall(id="1", name="secrets", arguments="{}")), says("ok"))
    channel = MemoryChannel("notebook")
    async with open_app(setup_in(tmp_path, channel, provider=provider, tools=tools)):
        plain = await channel.control(CallTool(name="tell", arguments='{"text": "hi"}', dry=True))
        key = '{"text": "sk-abcdefghijklmnop1234567890"}'
        keyed = await channel.control(CallTool(name="tell", arguments=key))
        await channel.turn(await channel.ask("read it"))
        after = await channel.control(CallTool(name="tell", arguments='{"text": "hi"}'))

    decided = [one.decision for one in (plain, keyed, after) if isinstance(one, ToolAnswer)]
    assert (decided, said) == (["allow", "ask", "ask"], [])


async def test_a_chat_app_is_offered_no_tool_that_changes_or_runs(tmp_path: Path) -> None:
    danger, channel = Danger(), MemoryChannel("telegram")
    setup = setup_in(tmp_path, channel, provider=ScriptedProvider(), tools=[danger.tool])
    async with open_app(setup):
        listed = await channel.control(GetTools())
        denied = await channel.control(CallTool(name="danger", yes=True))
        shown = await channel.message(await channel.ask("/tools"))

    assert isinstance(listed, ToolList)
    offered = {info.name for info in listed.tools if not info.why_not}
    assert {"read_file", "grep"} <= offered
    assert not {"danger", "shell", "exec_session", "write_file", "edit_file"} & offered
    assert isinstance(denied, ToolAnswer)
    assert (denied.decision, denied.state, danger.runs) == ("deny", "", 0)
    assert "- `danger`: who speaks there may not use it" in shown.text.splitlines()


async def test_the_tools_are_shown_under_what_becomes_of_their_calls(tmp_path: Path) -> None:
    channel = MemoryChannel("notebook")
    setup = setup_in(tmp_path, channel, provider=ScriptedProvider())
    tools = ToolSettings(rules={"get_time": "deny"})
    settings = setup.settings.model_copy(update={"tools": tools})
    async with open_app(replace(setup, settings=settings)):
        shown = await channel.message(await channel.ask("/tools"))

    lists = dict(part.split("\n\n- ", 1) for part in re.split(r"\n\n(?!- )", shown.text))
    under = {
        head: {row.split("`")[1] for row in rows.split("\n- ")} for head, rows in lists.items()
    }
    assert list(under)[:4] == [
        "Run unasked:",
        "Run or ask, depending on what they are to do:",
        "Ask first:",
        "Denied:",
    ]
    unasked, depends, asks, denied, *_ = under.values()
    assert "read_file" in unasked
    assert "write_file" in depends
    assert "configure_tool" in asks
    assert denied == {"get_time"}


async def test_an_unknown_tool_and_arguments_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    channel = MemoryChannel("notebook")
    async with open_app(setup_in(tmp_path, channel, provider=ScriptedProvider())):
        unknown = await channel.control(CallTool(name="gerp"))
        unfit = await channel.control(CallTool(name="grep", arguments='{"x": 1}'))

    assert unknown == Told(text="No tool named 'gerp'", failed=True, hint="did you mean 'grep'?")
    assert isinstance(unfit, Told)
    assert (unfit.failed, "pattern is missing" in unfit.text) == (True, True)


@pytest.mark.parametrize("control", [GetTools(), CallTool(name="x", arguments="{}", yes=True)])
def test_the_controls_cross_the_wire(control: GetTools | CallTool) -> None:
    sent = control_json(control)

    assert decode_control(sent["name"], sent["args"]) == control


async def test_the_replies_cross_the_wire(tmp_path: Path) -> None:
    channel = MemoryChannel("notebook")
    async with open_app(setup_in(tmp_path, channel, provider=ScriptedProvider())):
        replies = [
            await channel.control(GetTools()),
            await channel.control(CallTool(name="get_time")),
        ]

    assert [read_reply(reply_json(reply)) for reply in replies] == replies


async def test_pictures_cross_the_wire(tmp_path: Path) -> None:
    data = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
    (tmp_path / "p.png").write_bytes(data)
    channel = MemoryChannel("notebook")
    async with open_app(setup_in(tmp_path, channel, provider=ScriptedProvider())):
        wanted = CallTool(name="read_file", arguments='{"path": "p.png"}')
        answer = await channel.control(wanted)

    assert isinstance(answer, ToolAnswer)
    assert [media.data for media in answer.media] == [data]
    assert read_reply(json.loads(json.dumps(reply_json(answer)))) == answer


async def test_what_a_running_call_has_said_can_be_asked_for(tmp_path: Path) -> None:
    said, go = anyio.Event(), anyio.Event()
    answers: list[ControlReply] = []

    async def tell(ctx: ToolContext, args: object) -> str:
        ctx.report("one\n")
        ctx.report("two\n")
        said.set()
        await go.wait()
        return "done"

    tool = Tool(
        name="tell",
        description="",
        schema={"type": "object"},
        parse=dict,
        run=tell,
        group="runtime",
        source="own",
    )
    channel = MemoryChannel("notebook")

    async def call() -> None:
        answers.append(await channel.control(CallTool(name="tell", id="x")))

    setup = setup_in(tmp_path, channel, provider=ScriptedProvider(), tools=[tool])
    async with open_app(setup), anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        await said.wait()
        for seen in (0, 4, 99):
            answers.append(await channel.control(GetProgress(id="x", seen=seen)))
        answers.append(await channel.control(GetProgress(id="another")))
        go.set()

    told = [answer.text for answer in answers if isinstance(answer, (Told, ToolAnswer))]
    assert told == ["one\ntwo\n", "two\n", "", "", "done"]
