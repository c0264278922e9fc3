from __future__ import annotations

from collections.abc import AsyncGenerator

import anyio
import pytest

from octo_lab.bus.bus import CLOSING, Bus
from octo_lab.core.errors import Rejected, UsageError
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import ControlRequest, GetStatus, InboundMessage, RunCommand
from octo_lab.core.replies import ControlReply, Told
from octo_lab.core.tool_mail import CallTool

pytestmark = pytest.mark.anyio

HERE = ChatAddress(channel="memory", chat_id="1")


@pytest.fixture
async def bus() -> AsyncGenerator[Bus]:
    bus = Bus(size=2, controls=2, deadline=5.0)
    yield bus
    bus.close()


def said(text: str) -> InboundMessage:
    return InboundMessage(address=HERE, sender_id="me", text=text)


def command(line: str) -> ControlRequest:
    return ControlRequest(address=HERE, control=RunCommand(line=line))


async def echo(request: ControlRequest) -> ControlReply:
    assert isinstance(request.control, RunCommand)
    return Told(text=request.control.line)


async def test_a_full_queue_rejects_visibly(bus: Bus) -> None:
    await bus.publish(said("1"))
    await bus.publish(said("2"))

    with pytest.raises(Rejected, match="its queue is full"):
        await bus.publish(said("3"))

    assert [(await bus.inbound.receive()).text for _ in range(2)] == ["1", "2"]


async def test_a_closed_bus_rejects(bus: Bus) -> None:
    bus.close()

    with pytest.raises(Rejected, match="closing"):
        await bus.publish(said("1"))
    with pytest.raises(Rejected, match="closing"):
        await bus.control(command("x"))


async def test_each_control_gets_exactly_its_own_reply(bus: Bus) -> None:
    replies: dict[str, ControlReply] = {}

    async def ask(line: str) -> None:
        replies[line] = await bus.control(command(line))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(bus.serve_controls, echo)
        async with anyio.create_task_group() as asking:
            asking.start_soon(ask, "a")
            asking.start_soon(ask, "b")
        tasks.cancel_scope.cancel()

    assert replies == {"a": Told(text="a"), "b": Told(text="b")}


async def test_only_so_many_controls_run_at_once(bus: Bus) -> None:
    running: list[int] = [0, 0]
    gate = anyio.Event()

    async def slow(request: ControlRequest) -> ControlReply:
        running[0] += 1
        running[1] = max(running)
        await gate.wait()
        running[0] -= 1
        return Told(text="")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(bus.serve_controls, slow)
        async with anyio.create_task_group() as asking:
            for _ in range(4):
                asking.start_soon(bus.control, command("x"))
                await anyio.wait_all_tasks_blocked()
            gate.set()
        tasks.cancel_scope.cancel()

    assert running == [0, 2]


async def test_a_failing_control_is_answered_in_words(bus: Bus) -> None:
    async def fail(request: ControlRequest) -> ControlReply:
        if isinstance(request.control, GetStatus):
            raise ZeroDivisionError
        raise UsageError("no such session", hint="see /sessions")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(bus.serve_controls, fail)
        expected = await bus.control(command("x"))
        defect = await bus.control(ControlRequest(address=HERE, control=GetStatus()))
        tasks.cancel_scope.cancel()

    assert expected == Told(text="no such session", failed=True, hint="see /sessions")
    assert defect == Told(
        text="This failed inside octo_lab",
        failed=True,
        hint="see the log in the data folder",
    )


async def test_a_control_that_takes_too_long_is_answered() -> None:
    bus = Bus(deadline=0.01)

    async def hang(request: ControlRequest) -> ControlReply:
        await anyio.sleep_forever()
        raise AssertionError

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(bus.serve_controls, hang)
        reply = await bus.control(command("x"))
        tasks.cancel_scope.cancel()
    bus.close()

    assert reply == Told(text="No answer within 0 s", failed=True)


@pytest.mark.parametrize(("control", "left"), [(CallTool(name="shell"), 0), (GetStatus(), 1)])
async def test_a_tool_ends_when_nobody_waits_for_it_any_more(
    bus: Bus, control: CallTool | GetStatus, left: int
) -> None:
    running = 0

    async def hang(request: ControlRequest) -> ControlReply:
        nonlocal running
        running += 1
        try:
            await anyio.sleep_forever()
        finally:
            running -= 1
        raise AssertionError

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(bus.serve_controls, hang)
        async with anyio.create_task_group() as asking:
            asking.start_soon(bus.control, ControlRequest(address=HERE, control=control))
            await anyio.wait_all_tasks_blocked()
            assert running == 1
            asking.cancel_scope.cancel()
        await anyio.wait_all_tasks_blocked()
        assert running == left
        tasks.cancel_scope.cancel()


async def test_closing_answers_what_runs_and_what_waits(bus: Bus) -> None:
    replies: list[ControlReply] = []

    async def hang(request: ControlRequest) -> ControlReply:
        await anyio.sleep_forever()
        raise AssertionError

    async def ask() -> None:
        replies.append(await bus.control(command("x")))

    async with anyio.create_task_group() as asking, anyio.create_task_group() as tasks:
        tasks.start_soon(bus.serve_controls, hang)
        for _ in range(4):
            asking.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()

    assert replies == [CLOSING] * 4
