"""Providers over the protocol server, for the tests of layers."""

from __future__ import annotations

from contextlib import aclosing

from octo_lab.core.messages import ChatRequest, Message
from octo_lab.core.stream import StreamEvent
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.provider import Provider
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.secret import Secret
from octo_lab.llm.wires.chat.wire import CHAT
from octo_lab.llm.wires.streaming import Streaming
from octo_lab.testing.llm_server import LlmServer

KEY = Secret("sk-test-0123456789abcdef")


def asked(text: str = "hi", temperature: float | None = 0.0) -> ChatRequest:
    return ChatRequest(messages=[Message(role="user", content=text)], temperature=temperature)


def lab(server: LlmServer, http: ModelHttp, model: str = "m") -> Streaming:
    config = ProviderConfig(
        name="lab", model=model, http=http, base_url=server.base_url, api_key=KEY
    )
    return Streaming(config, CHAT)


async def events(provider: Provider, request: ChatRequest) -> list[StreamEvent]:
    async with aclosing(provider.stream(request)) as stream:
        return [event async for event in stream]
