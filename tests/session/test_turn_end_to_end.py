from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from octo_lab.app import open_app
from octo_lab.core.mail import AskOptions, Attachment, GetHistory, InboundMessage, Settle, Stop
from octo_lab.core.replies import History, Told
from octo_lab.core.turns import (
    ErrorBlock,
    NoticeBlock,
    TextBlock,
    ToolBlock,
    TurnSnapshot,
)
from octo_lab.testing.channels import MemoryChannel, PlainChannel
from octo_lab.testing.llm_script import Turn, call, calls, fails, says
from octo_lab.testing.llm_server import LlmServer
from octo_lab.testing.setups import setup_in
from octo_lab.tools.function_tool import function_tool
from octo_lab.tools.tool import Tool, ToolContext

pytestmark = pytest.mark.anyio


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer() as server:
        yield server


async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def slow(ctx: ToolContext) -> str:
    """Report twice, then answer."""
    ctx.report("one ")
    ctx.report("two ")
    await anyio.sleep(0.05)
    return "three"


def threaded(ctx: ToolContext) -> str:
    """Report from a thread of its own."""
    ctx.report("working ")
    time.sleep(0.2)
    return "done"


async def forever() -> str:
    """Never end."""
    await anyio.sleep_forever()
    return ""


ran: list[str] = []


async def danger() -> str:
    """Do something that needs a yes."""
    ran.append("danger")
    return "done"


ADD, SLOW, FOREVER = function_tool(add), function_tool(slow), function_tool(forever)
THREADED = function_tool(threaded)
DANGER = function_tool(danger, asks=True, risk="execute")


def tool_block(turn: TurnSnapshot, name: str) -> ToolBlock:
    return next(b for b in turn.blocks if isinstance(b, ToolBlock) and b.name == name)


async def stored(channel: PlainChannel) -> History:
    history = await channel.control(GetHistory())
    assert isinstance(history, History)
    return history


async def test_a_turn_with_two_tools_over_http(tmp_path: Path, server: LlmServer) -> None:
    channel = MemoryChannel()
    server.script(
        calls(call("add", id="c1", a=2, b=3), call("slow", id="c2"), text=["Let me ", "see."]),
        says("It is ", "5."),
    )
    setup = setup_in(tmp_path, channel, tools=[ADD, SLOW], base_url=server.base_url)
    async with open_app(setup):
        turn = await channel.turn(await channel.ask("2 + 3?"))
        history = await stored(channel)

    assert turn.state == "completed"
    assert [block for block in turn.blocks if isinstance(block, TextBlock)] == [
        TextBlock("Let me see."),
        TextBlock("It is 5."),
    ]
    assert (tool_block(turn, "add").output, tool_block(turn, "slow").output) == ("5", "three")
    assert turn.usage.requests == 2
    second = server.requests[1].body["messages"]
    assert [m["role"] for m in second] == ["system", "user", "assistant", "tool", "tool"]
    assert [m["content"] for m in second[3:]] == ["5", "three"]
    assert [t.text for t in history.turns] == [turn.text]
    assert server.refused == []


async def test_a_tool_reports_from_its_own_thread(tmp_path: Path, server: LlmServer) -> None:
    channel = MemoryChannel()
    server.script(calls(call("threaded")), says("ok"))
    setup = setup_in(tmp_path, channel, tools=[THREADED], base_url=server.base_url)
    async with open_app(setup):
        asked = await channel.ask("go")
        seen = await channel.running(asked, lambda turn: "working" in str(turn.blocks))
        turn = await channel.turn(asked)

    running = tool_block(seen, "threaded")
    assert (running.state, running.output) == ("running", "working ")
    assert tool_block(turn, "threaded").output == "done"


async def test_the_next_turn_knows_the_last_one(tmp_path: Path, server: LlmServer) -> None:
    channel = MemoryChannel()
    server.script(says("Hello Ann."), says("Ann."))
    async with open_app(setup_in(tmp_path, channel, base_url=server.base_url)):
        await channel.turn(await channel.ask("I am Ann"))
        await channel.turn(await channel.ask("Who am I?"))

    told = [(m["role"], m["content"]) for m in server.requests[1].body["messages"][1:]]
    assert told == [("user", "I am Ann"), ("assistant", "Hello Ann."), ("user", "Who am I?")]


async def test_an_answer_ends_before_the_texts_that_were_named(
    tmp_path: Path, server: LlmServer
) -> None:
    channel = MemoryChannel()
    server.script(says("one"), says("two"))
    async with open_app(setup_in(tmp_path, channel, base_url=server.base_url)):
        await channel.turn(await channel.ask("count", AskOptions(stop=("END", "##"))))
        await channel.turn(await channel.ask("go on"))

    assert [asked.body.get("stop") for asked in server.requests] == [["END", "##"], None]


async def test_what_was_attached_reaches_the_model(tmp_path: Path, server: LlmServer) -> None:
    channel = MemoryChannel()
    server.script(says("ok"))
    async with open_app(setup_in(tmp_path, channel, base_url=server.base_url)) as app:
        message = InboundMessage(
            address=(await channel.ask("/help")).address,
            sender_id="me",
            text="what is this?",
            attachments=(Attachment(name="df", text="3 rows"),),
        )
        await app.door.publish(message)
        turn = await channel.turn(message)

    assert turn.prompt == "what is this?"
    assert server.requests[0].body["messages"][-1]["content"] == (
        "what is this?\n\n[attached: df]\n3 rows\n[end of df]"
    )


async def test_stop_closes_the_stream_and_keeps_what_was_said(
    tmp_path: Path, server: LlmServer
) -> None:
    channel = MemoryChannel()
    server.script(says("so ", "far", hang=True), says("on"))
    async with open_app(setup_in(tmp_path, channel, base_url=server.base_url)):
        asked = await channel.ask("tell me")
        await channel.running(asked, lambda turn: turn.text == "so far")
        told = await channel.control(Stop())
        turn = await channel.turn(asked)
        left = await anyio.to_thread.run_sync(server.wait_until, lambda: bool(server.disconnects))
        after = await channel.turn(await channel.ask("go on"))
        history = await stored(channel)

    assert told == Told(text="Stopped.")
    assert left, "the server saw no disconnect"
    assert (turn.state, turn.text) == ("cancelled", "so far")
    assert [(t.state, t.text) for t in history.turns] == [
        ("cancelled", "so far"),
        ("completed", "on"),
    ]
    assert after.state == "completed"
    assert server.refused == []


async def test_stop_ends_a_running_tool_and_every_call_has_one_result(
    tmp_path: Path, server: LlmServer
) -> None:
    channel = MemoryChannel()
    script = calls(call("forever", id="c1"), call("add", id="c2", a=1, b=1))
    server.script(script, says("on"))
    setup = setup_in(tmp_path, channel, tools=[ADD, FOREVER], base_url=server.base_url)
    async with open_app(setup):
        asked = await channel.ask("go")
        await channel.running(
            asked, lambda t: any(isinstance(b, ToolBlock) and b.state == "ok" for b in t.blocks)
        )
        await channel.ask("stop")
        turn = await channel.turn(asked)
        await channel.turn(await channel.ask("next"))

    assert (tool_block(turn, "forever").state, tool_block(turn, "add").state) == (
        "cancelled",
        "ok",
    )
    results = [m for m in server.requests[1].body["messages"] if m["role"] == "tool"]
    assert sorted(m["tool_call_id"] for m in results) == ["c1", "c2"]
    assert server.refused == []


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (fails(401, "Incorrect API key provided."), "Incorrect API key"),
        (fails(404, "no such model"), "no such model"),
        (says("so far", cut=400), "cut off"),
    ],
    ids=["key", "model", "cut"],
)
async def test_a_failing_model_gives_a_failed_turn_with_the_next_step(
    tmp_path: Path, server: LlmServer, answer: Turn, message: str
) -> None:
    channel = MemoryChannel()
    server.script(answer, says("fine"))
    async with open_app(setup_in(tmp_path, channel, base_url=server.base_url)):
        turn = await channel.turn(await channel.ask("hi"))
        history = await stored(channel)
        after = await channel.turn(await channel.ask("again"))

    error = turn.error
    assert turn.state == "failed"
    assert isinstance(error, ErrorBlock)
    assert message in error.message
    assert error.hint
    assert [(t.state, t.blocks) for t in history.turns] == [("failed", turn.blocks)]
    assert (after.state, after.text) == ("completed", "fine")
    assert server.refused == []


async def test_a_defect_ends_the_turn_not_the_runtime(tmp_path: Path) -> None:
    class Broken:
        name, model = "broken", "broken"

        def stream(self, request: object) -> None:
            raise ZeroDivisionError

    channel = MemoryChannel()
    setup = setup_in(tmp_path, channel, provider=Broken())  # type: ignore[arg-type]
    async with open_app(setup):
        turns = [await channel.turn(await channel.ask("hi")) for _ in range(2)]

    assert [(t.state, t.error) for t in turns] == [
        (
            "failed",
            ErrorBlock("The turn failed inside octo_lab", "see the log in the data folder"),
        )
    ] * 2


async def test_an_unknown_model_is_one_line(tmp_path: Path) -> None:
    channel = MemoryChannel()
    async with open_app(setup_in(tmp_path, channel)):
        asked = await channel.ask("hi", AskOptions(model="nonesuch/x"))
        told = await channel.message(asked)

    assert told.failed
    assert "'nonesuch'" in told.text
    assert told.hint


async def test_approval_is_asked_in_the_turn_and_deny_means_it_never_ran(
    tmp_path: Path, server: LlmServer
) -> None:
    channel = MemoryChannel()
    ran.clear()
    script = [calls(call("danger")), says("a"), calls(call("danger")), says("b")]
    server.script(*script, calls(call("danger")), says("c"))
    setup = setup_in(tmp_path, channel, tools=[DANGER], base_url=server.base_url)
    async with open_app(setup):
        denied = await asked_and_settled(channel, "deny")
        ran_after_deny = list(ran)
        granted = await asked_and_settled(channel, "session")
        third = await channel.turn(await channel.ask("do it again"))
        history = await channel.control(GetHistory())

    assert (tool_block(denied, "danger").state, ran_after_deny) == ("denied", [])
    assert tool_block(granted, "danger").state == "ok"
    assert (tool_block(third, "danger").state, ran) == ("ok", ["danger", "danger"])
    assert isinstance(history, History)
    stored = [tool_block(turn, "danger").state for turn in history.turns]
    assert stored == ["denied", "ok", "ok"]


async def asked_and_settled(channel: MemoryChannel, decision: str) -> TurnSnapshot:
    asked = await channel.ask("do it")
    shown = await channel.running(
        asked,
        lambda t: any(isinstance(b, ToolBlock) and b.state == "asking" for b in t.blocks),
    )
    block = tool_block(shown, "danger")
    await channel.control(Settle(approval_id=block.approval_id, decision=decision))  # type: ignore[arg-type]
    return await channel.turn(asked)


@pytest.mark.parametrize("headless", [True, False])
async def test_where_nobody_can_answer_a_tool_that_asks_is_denied(
    tmp_path: Path, server: LlmServer, headless: bool
) -> None:
    channel = MemoryChannel() if headless else PlainChannel("memory")
    ran.clear()
    server.script(calls(call("danger")), says("ok"))
    setup = setup_in(tmp_path, channel, tools=[DANGER], base_url=server.base_url)
    async with open_app(setup):
        asked = await channel.ask("do it", AskOptions(headless=headless))
        if isinstance(channel, MemoryChannel):
            turn = await channel.turn(asked)
            assert "--tools danger" in str(turn.blocks)
        else:
            assert (await channel.message(asked)).text == "ok"

    assert ran == []
    assert "nobody can be asked" in server.requests[1].body["messages"][-1]["content"]


async def test_a_turn_may_use_only_the_tools_it_asked_for(
    tmp_path: Path, server: LlmServer
) -> None:
    elsewhere: Tool = function_tool(slow, name="elsewhere", channels=frozenset({"notebook"}))
    channel = MemoryChannel()
    setup = setup_in(tmp_path, channel, tools=[ADD, SLOW, elsewhere], base_url=server.base_url)
    async with open_app(setup) as app:
        await channel.turn(await channel.ask("1"))
        await channel.turn(await channel.ask("2", AskOptions(tools=("a*",))))
        await channel.turn(await channel.ask("3", AskOptions(tools=())))
        app.add_tool(FOREVER)
        app.remove_tool("slow")
        await channel.turn(await channel.ask("4"))

    offered = [
        {tool["function"]["name"] for tool in request.body.get("tools", [])}
        for request in server.requests
    ]
    everywhere = offered[0] - {"add", "slow"}
    assert offered == [
        {"add", "slow"} | everywhere,
        {"add"},
        set(),
        {"add", "forever"} | everywhere,
    ]
    assert "elsewhere" not in everywhere


async def test_the_first_turn_of_a_dialog_says_which_model_answers(tmp_path: Path) -> None:
    channel = MemoryChannel()
    async with open_app(setup_in(tmp_path, channel)):
        first = await channel.turn(await channel.ask("what time is it?"))
        second = await channel.turn(await channel.ask("what time is it?"))

    notices = [block for block in first.blocks if isinstance(block, NoticeBlock)]
    assert [first.state, second.state] == ["completed", "completed"]
    assert first.model.startswith("offline/")
    assert len(notices) == 1
    assert "offline" in notices[0].text
    assert not any(isinstance(block, NoticeBlock) for block in second.blocks)


async def test_lone_surrogates_and_blanks_do_no_harm(tmp_path: Path, server: LlmServer) -> None:
    channel = MemoryChannel()
    server.script(says("ok"))
    async with open_app(setup_in(tmp_path, channel, base_url=server.base_url)):
        blank = await channel.message(await channel.ask(" \n\t "))
        turn = await channel.turn(await channel.ask("a\ud83d b"))

    assert (blank.text, blank.failed) == ("There is nothing to ask", True)
    assert turn.state == "completed"
    assert server.requests[0].body["messages"][-1]["content"] == "a\ufffd b"


async def test_a_slow_channel_does_not_slow_the_model(tmp_path: Path, server: LlmServer) -> None:
    server.script(says(*(f"w{n} " for n in range(500))))
    channel = MemoryChannel(delay=0.3)
    async with open_app(setup_in(tmp_path, channel, base_url=server.base_url)):
        turn = await channel.turn(await channel.ask("talk"))

    assert len(turn.text.split()) == 500
    assert len(channel.updates) <= 3
