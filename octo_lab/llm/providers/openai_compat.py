"""The OpenAI chat-completions wire, shared by every compatible server."""

from __future__ import annotations

from octo_lab.core.errors import Unavailable
from octo_lab.core.messages import ChatRequest
from octo_lab.core.stream import StreamEvent
from octo_lab.llm.chat_reader import ChatReader
from octo_lab.llm.chat_request import request_bytes
from octo_lab.llm.client import HttpCall, HttpReply
from octo_lab.llm.entry import ProviderConfig
from octo_lab.llm.errors import shown
from octo_lab.llm.hints import model_hints
from octo_lab.llm.provider import Events

# How long usage, [DONE] and the end of the body may still take after the answer is whole.
TAIL_SECONDS = 2.0
MAX_JSON = 8_388_608
_PATH = "/chat/completions"


class OpenAICompatible:
    """Streams from any ``/chat/completions`` endpoint."""

    def __init__(self, config: ProviderConfig) -> None:
        self.name = config.name
        self.model = config.model
        self._config = config
        self._hints = model_hints(config.model)

    async def stream(self, request: ChatRequest) -> Events:
        key = self._config.api_key
        reader = ChatReader(self.name, key)
        async with self._config.http.stream(self._call(request)) as reply:
            if "json" in reply.content_type:
                for event in await self._whole(reply, reader):
                    yield event
            else:
                async for part in reply.parts:
                    for event in reader.feed(part):
                        yield event
                    if reader.finish or reader.ended:
                        break
                for part in await reply.rest(TAIL_SECONDS):
                    for event in reader.feed(part):
                        yield event
            events = self._close(reader, reply)
        for event in events:
            yield event

    def _call(self, request: ChatRequest) -> HttpCall:
        config = self._config
        key = config.api_key
        return HttpCall(
            provider=self.name,
            model=self.model,
            url=endpoint(config.base_url),
            body=request_bytes(request, self.model, self._hints),
            headers={"authorization": f"Bearer {key.reveal()}"} if key else {},
            api_key=key,
        )

    async def _whole(self, reply: HttpReply, reader: ChatReader) -> list[StreamEvent]:
        """The answer of a server that does not stream although asked to, or only says so."""
        body = bytearray()
        async for part in reply.parts:
            body += part
            if len(body) > MAX_JSON:
                raise Unavailable(f"The answer of {self.name!r} is too long")
        if body.lstrip().startswith((b"{", b"[")):
            return reader.read_whole(bytes(body))
        return reader.feed(bytes(body))

    def _close(self, reader: ChatReader, reply: HttpReply) -> list[StreamEvent]:
        if not reader.begun and "event-stream" in reply.content_type:
            raise Unavailable(
                f"{self.name!r} ended its answer before it began",
                hint="try again; if it stays so, is the base URL right?",
            )
        if not reader.begun:
            kind = shown(reply.content_type or "nothing", self._config.api_key)
            raise Unavailable(
                f"{self.name!r} answered no event stream, but {kind!r}",
                hint="is the base URL right? it usually ends in /v1",
            )
        return reader.close()


def endpoint(base_url: str, path: str = _PATH) -> str:
    """Where to ask: also for the whole address, as documentations print it, or one with a query."""
    place, mark, query = base_url.partition("?")
    place = place.rstrip("/").removesuffix(_PATH).rstrip("/")
    return f"{place}{path}{mark}{query}"
