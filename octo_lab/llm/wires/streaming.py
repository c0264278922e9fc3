"""The provider that every dialect shares: it does the I/O, the wire knows the words."""

from __future__ import annotations

from octo_lab.core.errors import Unavailable
from octo_lab.core.messages import ChatRequest
from octo_lab.core.stream import StreamEvent
from octo_lab.llm.errors import shown
from octo_lab.llm.hints import model_hints
from octo_lab.llm.http import HttpCall, HttpReply
from octo_lab.llm.provider import Events
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.wires.wire import AnswerReader, Wire

# How long usage, the last event and the end of the body may still take after the answer is whole.
TAIL_SECONDS = 2.0
MAX_JSON = 8_388_608
_WHOLE_ADDRESS = ("/chat/completions", "/responses", "/messages", "/models")


class Streaming:
    """Streams the answers of one model from a server that speaks ``wire``."""

    def __init__(self, config: ProviderConfig, wire: Wire) -> None:
        self.name = config.name
        self.model = config.model
        self.config = config
        self.wire = wire
        self._hints = model_hints(config.model, config.hints)

    async def stream(self, request: ChatRequest) -> Events:
        reader = self.wire.read(request, self.config)
        async with self.config.http.stream(self._call(request)) as reply:
            if "json" in reply.content_type:
                for event in await self._whole(reply, reader):
                    yield event
            else:
                async for part in reply.parts:
                    for event in reader.feed(part):
                        yield event
                    if reader.whole:
                        break
                for part in await reply.rest(TAIL_SECONDS):
                    for event in reader.feed(part):
                        yield event
            events = self._close(reader, reply)
        for event in events:
            yield event

    def _call(self, request: ChatRequest) -> HttpCall:
        config, key = self.config, self.config.api_key
        asked = self.wire.write(request, config, self._hints)
        return HttpCall(
            provider=self.name,
            model=self.model,
            url=asked.url,
            body=asked.body,
            headers={**asked.headers, **(self.wire.authorize(key.reveal()) if key else {})},
            api_key=key,
        )

    async def _whole(self, reply: HttpReply, reader: AnswerReader) -> list[StreamEvent]:
        """The answer of a server that does not stream although asked to, or only says so."""
        body = bytearray()
        async for part in reply.parts:
            body += part
            if len(body) > MAX_JSON:
                raise Unavailable(f"The answer of {self.name!r} is too long")
        if body.lstrip().startswith((b"{", b"[")):
            return reader.read_whole(bytes(body))
        return reader.feed(bytes(body))

    def _close(self, reader: AnswerReader, reply: HttpReply) -> list[StreamEvent]:
        if not reader.begun and "event-stream" in reply.content_type:
            raise Unavailable(
                f"{self.name!r} ended its answer before it began",
                hint="try again; if it stays so, is the base URL right?",
            )
        if not reader.begun:
            kind = shown(reply.content_type or "nothing", self.config.api_key)
            raise Unavailable(
                f"{self.name!r} answered no event stream, but {kind!r}",
                hint="is the base URL right? it usually ends in /v1",
            )
        return reader.close()


def endpoint(base_url: str, path: str) -> str:
    """Where to ask: also for a whole address, as documentations print it, or one with a query."""
    place, mark, query = base_url.partition("?")
    place = place.rstrip("/")
    for end in _WHOLE_ADDRESS:
        place = place.removesuffix(end).rstrip("/")
    if path.startswith("/v1/"):
        place = place.removesuffix("/v1").rstrip("/")
    return f"{place}{path}{mark}{query}"
