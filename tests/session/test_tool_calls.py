from __future__ import annotations

from pathlib import Path

import pytest

from octo_lab.app import open_app
from octo_lab.core.messages import ToolCall
from octo_lab.core.replies import Told
from octo_lab.core.tool_mail import CallTool, GetTools, ToolAnswer, ToolList
from octo_lab.core.wire import control_json, decode_control, reply_json
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.providers import ScriptedProvider, calls, says
from octo_lab.testing.setups import setup_in
from octo_lab.tools.function_tool import function_tool
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
    assert "- danger: who speaks there may not use it" in shown.text.splitlines()
    assert "✓ runs unasked, ? asks, or what it is given decides, ✗ is denied" in shown.text


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
