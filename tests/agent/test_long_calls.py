"""A call of a tool takes its time to arrive, and nothing of it can be shown before it is whole."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from octo_lab.agent.loop import Agent
from octo_lab.agent.patience import Patience
from octo_lab.agent.transcript import Transcript
from octo_lab.core.errors import TimedOut
from octo_lab.core.messages import Message
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.wires.anthropic.wire import ANTHROPIC
from octo_lab.llm.wires.chat.wire import CHAT
from octo_lab.llm.wires.responses.wire import RESPONSES
from octo_lab.llm.wires.streaming import Streaming
from octo_lab.llm.wires.wire import Wire
from octo_lab.testing.llm_script import Turn, call, calls, says
from octo_lab.testing.llm_server import LlmServer
from tests.agent.turns import ALLOW, ECHO, INPUT, context

pytestmark = pytest.mark.anyio

SHORT = Patience(base=0.6, most=0.6, between=0.6)


async def answered(wire: Wire, *script: Turn) -> Sequence[Message]:
    kept: list[Message] = []

    async def keep(step: Sequence[Message]) -> None:
        kept.extend(step)

    async with LlmServer() as server:
        server.script(*script)
        http = ModelHttp()
        config = ProviderConfig(name="p", model="m", http=http, base_url=server.base_url)
        agent = Agent(
            provider=Streaming(config, wire),
            tools=[ECHO],
            approver=ALLOW,
            context=context,
            patience=SHORT,
        )
        try:
            await agent.run(INPUT, Transcript(), lambda event: None, keep)
        finally:
            await http.aclose()
    return kept


@pytest.mark.parametrize(
    "wire", [CHAT, ANTHROPIC, RESPONSES], ids=["chat", "anthropic", "responses"]
)
async def test_a_long_call_is_waited_for_while_its_pieces_come(wire: Wire) -> None:
    long = call("echo", text="x" * 80)

    kept = await answered(wire, calls(long, delay=0.1), says("ok"))

    assert kept[1].content == "x" * 80


async def test_a_server_that_falls_silent_within_a_call_is_given_up() -> None:
    with pytest.raises(TimedOut, match="sent nothing for"):
        await answered(CHAT, calls(call("echo", text="x" * 80), delay=5.0))
