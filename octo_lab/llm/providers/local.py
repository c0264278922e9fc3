"""A model of one's own: any GGUF file, run by llama.cpp on this machine."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace

import anyio.to_thread

from octo_lab.core.errors import StreamCut
from octo_lab.core.messages import ChatRequest
from octo_lab.core.stream import Done, Remarked, StreamEvent, TextDelta, ToolCalled
from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.local.answer import AnswerText
from octo_lab.llm.local.desk import ModelDesk
from octo_lab.llm.local.process import MIB, ModelSpec, read_spec
from octo_lab.llm.local.transcript import emulates, spoken
from octo_lab.llm.provider import Events
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.secret import Secret
from octo_lab.llm.wires.chat.wire import CHAT
from octo_lab.llm.wires.streaming import Streaming

NAME = "local"
BLIND = (("vision", False),)


class Local:
    """Loads the file at the first request; the model lives as long as the connections do.

    A tool call is written as JSON that a schema enforces; stop sequences hold where no tools are
    offered.
    """

    name = NAME

    def __init__(self, config: ProviderConfig) -> None:
        self.model = config.model
        self.config = config

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        asked = spoken(request)
        spec = await self._spec()
        if spec and not self._desk.holds(spec):
            yield Remarked(_loading(spec))
        async with self._server(spec) as server:
            events = _called(server, asked) if emulates(request) else server.stream(asked)
            async with aclosing(events):
                async for event in events:
                    yield event

    @property
    def _desk(self) -> ModelDesk:
        return self.config.http.companion(ModelDesk)

    async def _spec(self) -> ModelSpec | None:
        """What is to be loaded; None when a cassette answers."""
        if self.config.http.replaying:
            return None
        own, policy = self.config.context_window, self.config.local
        policy = replace(policy, context=own or policy.context)
        return await anyio.to_thread.run_sync(read_spec, self.model, policy)

    @asynccontextmanager
    async def _server(self, spec: ModelSpec | None) -> AsyncGenerator[Streaming]:
        if spec is None:
            yield self._at(self.config.base_url, None)
            return
        async with self._desk.serving(spec) as server:
            yield self._at(f"{server.address}/v1", server.key)

    def _at(self, base_url: str, key: Secret | None) -> Streaming:
        hints = (*self.config.hints, *BLIND)
        config = replace(self.config, base_url=base_url, api_key=key, hints=hints)
        return Streaming(config, CHAT)


def _loading(spec: ModelSpec) -> str:
    return f"loading the model {spec.name} ({spec.file.size / MIB:,.0f} MiB) …"


async def _called(inner: Streaming, request: ChatRequest) -> Events:
    """The answer's text as it comes, or the call it turns out to be."""
    reader = AnswerText()
    async with aclosing(inner.stream(request)) as events:
        async for event in events:
            match event:
                case TextDelta(piece):
                    if text := reader.feed(piece):
                        yield TextDelta(text)
                case Done():
                    for last in _end(reader, event):
                        yield last
                case _:
                    yield event


def _end(reader: AnswerText, done: Done) -> list[StreamEvent]:
    ending = reader.close()
    if ending.call:
        return [ToolCalled(ending.call), Done("tool_use")]
    if not ending.whole and done.reason != "max_tokens":
        raise StreamCut("The local model ended its answer before it was whole", hint="ask again")
    return [*([TextDelta(ending.text)] if ending.text else []), done]


ENTRY = ProviderEntry(name=NAME, needs_key=False, create=Local)
