"""What an answer took is counted also where it ends in an error: vendors bill it all the same."""

from __future__ import annotations

from contextlib import aclosing

import pytest

from octo_lab.core.errors import ContentFiltered, ProviderError, StreamCut
from octo_lab.core.messages import ChatRequest, Message, Usage
from octo_lab.core.stream import Done, StreamEvent, UsageReported
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.provider import Events
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.wires.dialects import DIALECTS
from octo_lab.llm.wires.streaming import Streaming
from octo_lab.llm.wires.wire import Wire
from octo_lab.testing.llm_script import Turn, fails, says
from octo_lab.testing.llm_server import LlmServer

pytestmark = pytest.mark.anyio

REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])
REFUSED = {"anthropic": "refusal"}  # how a dialect says it, where not as most do


async def failed(
    http: ModelHttp, server: LlmServer, wire: Wire, answer: Turn
) -> tuple[list[Usage], ProviderError]:
    server.script(answer)
    config = ProviderConfig(name="lab", model="m", http=http, base_url=server.base_url)
    seen: list[StreamEvent] = []
    with pytest.raises(ProviderError) as caught:
        await listen(Streaming(config, wire).stream(REQUEST), seen)
    assert not any(isinstance(event, Done) for event in seen)
    return [event.usage for event in seen if isinstance(event, UsageReported)], caught.value


async def listen(answer: Events, seen: list[StreamEvent]) -> None:
    async with aclosing(answer) as events:
        async for event in events:
            seen.append(event)


@pytest.mark.parametrize(("dialect", "wire"), DIALECTS.items(), ids=list(DIALECTS))
async def test_a_filtered_answer_is_counted(
    http: ModelHttp, server: LlmServer, dialect: str, wire: Wire
) -> None:
    answer = says("I", finish=REFUSED.get(dialect, "content_filter"), usage=(10, 5, 3))
    usages, error = await failed(http, server, wire, answer)
    assert isinstance(error, ContentFiltered)
    assert [(u.input_tokens, u.output_tokens, u.cached_tokens) for u in usages] == [(10, 5, 3)]
    assert [usage.requests for usage in usages] == [1]


async def test_an_answer_that_broke_off_is_counted_as_far_as_its_server_said(
    http: ModelHttp, server: LlmServer
) -> None:
    answer = says("a", "b", finish="", done=False, usage=(10, 5, 0))
    usages, error = await failed(http, server, DIALECTS["anthropic"], answer)
    assert isinstance(error, StreamCut)
    assert [usage.input_tokens for usage in usages] == [10]


async def test_a_failed_response_is_counted(http: ModelHttp, server: LlmServer) -> None:
    answer = says("a", finish="failed", usage=(10, 5, 0))
    usages, _ = await failed(http, server, DIALECTS["responses"], answer)
    assert [usage.input_tokens for usage in usages] == [10]


async def test_a_refused_request_took_nothing(http: ModelHttp, server: LlmServer) -> None:
    assert (await failed(http, server, DIALECTS["chat"], fails(400, "no")))[0] == []
