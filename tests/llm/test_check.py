from __future__ import annotations

import pytest

from octo_lab.core.errors import AuthRejected, ProviderError, TimedOut
from octo_lab.core.messages import Usage
from octo_lab.llm.check import MAX_TOKENS, QUESTION, check
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.secret import Secret
from octo_lab.llm.wires.chat.wire import CHAT
from octo_lab.llm.wires.streaming import Streaming
from octo_lab.testing.llm_script import Turn, fails, says
from octo_lab.testing.llm_server import LlmServer

pytestmark = pytest.mark.anyio


def asked(server: LlmServer, http: ModelHttp, key: str = "sk-right") -> Streaming:
    config = ProviderConfig(
        name="lab", model="m", http=http, base_url=server.base_url, api_key=Secret(key)
    )
    return Streaming(config, CHAT)


async def test_an_answer_is_timed_and_counted(server: LlmServer, http: ModelHttp) -> None:
    server.script(says("rea", "dy\n"))
    found = await check(asked(server, http))
    assert (found.answer, found.error) == ("ready", None)
    assert found.usage == Usage(input_tokens=10, output_tokens=5, requests=1)
    assert found.first is not None
    assert found.first <= found.seconds
    body = server.requests[0].body
    assert (body["messages"], body["max_tokens"]) == (
        [{"role": "user", "content": QUESTION}],
        MAX_TOKENS,
    )


async def test_a_refusal_is_a_result_and_asked_once(http: ModelHttp) -> None:
    async with LlmServer(api_key="sk-right") as server:
        found = await check(asked(server, http, "sk-wrong"))
        assert isinstance(found.error, AuthRejected)
        assert len(server.requests) == 1


async def test_a_busy_server_is_not_asked_again(server: LlmServer, http: ModelHttp) -> None:
    server.script(fails(503, "busy"))
    found = await check(asked(server, http))
    assert "503" in str(found.error)
    assert len(server.requests) == 1


async def test_silence_and_an_empty_answer_are_failures(server: LlmServer, http: ModelHttp) -> None:
    server.script(Turn(wait=30), says(""))
    assert isinstance((await check(asked(server, http), 0.2)).error, TimedOut)
    found = await check(asked(server, http))
    assert isinstance(found.error, ProviderError)
    assert found.error.hint == "does this model chat?"


async def test_thinking_counts_as_an_answer(server: LlmServer, http: ModelHttp) -> None:
    server.script(Turn(reasoning=["hm"], text=[]))
    assert (await check(asked(server, http))).error is None
