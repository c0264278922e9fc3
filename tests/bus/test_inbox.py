from __future__ import annotations

import anyio
import pytest

from octo_lab.bus.bus import Bus
from octo_lab.bus.inbox import Inbox
from octo_lab.core.errors import Rejected
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import InboundMessage

pytestmark = pytest.mark.anyio


def said(text: str, chat_id: str = "1") -> InboundMessage:
    address = ChatAddress(channel="memory", chat_id=chat_id)
    return InboundMessage(address=address, sender_id="me", text=text)


async def test_chats_keep_order_run_side_by_side_and_stop_jumps_the_lane() -> None:
    handled: list[str] = []
    refused: list[str] = []
    gate = anyio.Event()

    async def handle(message: InboundMessage) -> None:
        if message.text.startswith("slow"):
            await gate.wait()
        handled.append(message.text)

    def refuse(message: InboundMessage, error: Rejected) -> None:
        refused.append(f"{message.text}: {error.message}")

    bus = Bus()
    async with anyio.create_task_group() as tasks:
        inbox = Inbox(tasks, handle, urgent=lambda m: m.text == "/stop", refuse=refuse, size=2)
        tasks.start_soon(inbox.run, bus.inbound)
        for text in ("slow", "second", "third", "fourth", "/stop"):
            await bus.publish(said(text))
            await anyio.wait_all_tasks_blocked()
        await bus.publish(said("other chat", "2"))
        await anyio.wait_all_tasks_blocked()
        before = list(handled)
        gate.set()
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    bus.close()

    assert before == ["/stop", "other chat"]
    assert handled == [*before, "slow", "second", "third"]
    assert refused == ["fourth: 2 messages already wait here"]
