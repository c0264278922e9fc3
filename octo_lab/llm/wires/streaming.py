"""The provider that every dialect shares: it does the I/O, the wire knows the words."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing

from octo_lab.core.errors import BadRequest, ProviderError, Unavailable
from octo_lab.core.messages import ChatRequest
from octo_lab.core.stream import Remarked, StreamEvent, UsageReported
from octo_lab.llm.errors import error_from_text, shown
from octo_lab.llm.hints import model_hints
from octo_lab.llm.http import HttpCall, HttpReply
from octo_lab.llm.provider import Events
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.wires.quiet import Quiet
from octo_lab.llm.wires.trial import Trial
from octo_lab.llm.wires.wire import AnswerReader, Wire

logger = logging.getLogger(__name__)

# How long usage, the last event and the end of the body may still take after the answer is whole.
TAIL_SECONDS = 2.0
MAX_JSON = 8_388_608
MAX_HEAD = 2000
_WHOLE_ADDRESS = ("/chat/completions", "/responses", "/messages", "/models")


class Streaming:
    """Streams the answers of one model from a server that speaks ``wire``.

    A request that the server refuses for a reason it names is asked again in the way it wants,
    which is remembered; nothing is asked again once an answer has begun. What an answer took is
    reported also where it ends in an error.
    """

    def __init__(self, config: ProviderConfig, wire: Wire) -> None:
        self.name = config.name
        self.model = config.model
        self.config = config
        self.wire = wire
        self._hints = model_hints(config.model, config.hints)
        self._unexplained: str | None = None

    async def stream(self, request: ChatRequest) -> Events:
        trial = Trial(request=request, hints=self._hints, unexplained=self._unexplained)
        visible = False
        while True:
            reader = self.wire.read(trial.request, self.config)
            try:
                async with aclosing(self._answer(trial, reader)) as batches:
                    async for events in batches:
                        if events and not visible:
                            visible = True
                            self._remember(trial)
                        for event in events:
                            yield event
                return
            except ProviderError as exc:
                if spent := reader.spent:  # no answer came of it, but it is paid for
                    yield UsageReported(spent)
                remark = trial.after(exc) if isinstance(exc, BadRequest) and not visible else None
                if remark is None:
                    raise
                logger.debug("%s/%s: asked again after %r", self.name, self.model, exc.message)
            if remark:
                yield Remarked(f"{self.name}/{self.model} {remark}.")

    def _remember(self, trial: Trial) -> None:
        """What an answer has proved right."""
        self._hints = trial.hints
        self._unexplained = trial.unexplained if trial.plain else None

    async def _answer(
        self, trial: Trial, reader: AnswerReader
    ) -> AsyncGenerator[list[StreamEvent], None]:
        """The events of one answer, as they come together."""
        head = bytearray()
        quiet = Quiet(self.name, self.config.http.patience)
        async with self.config.http.stream(self._call(trial)) as reply:
            if "json" in reply.content_type:
                yield await self._whole(reply, reader)
            else:
                async for part in reply.parts:
                    if not reader.begun and len(head) < MAX_HEAD:
                        head += part
                    events = reader.feed(part)
                    if events:
                        quiet.end()
                        yield events
                    else:
                        quiet.hear(part)
                    if reader.whole:
                        break
                for part in await reply.rest(TAIL_SECONDS):
                    yield reader.feed(part)
            events = self._close(reader, reply, bytes(head))
        yield events

    def _call(self, trial: Trial) -> HttpCall:
        config, key = self.config, self.config.api_key
        asked = self.wire.write(trial.request, config, trial.hints)
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

    def _close(self, reader: AnswerReader, reply: HttpReply, head: bytes) -> list[StreamEvent]:
        said = "" if reader.begun else head.decode("utf-8", "replace")
        if refused := error_from_text(self.name, said, self.config.api_key):
            raise refused
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
