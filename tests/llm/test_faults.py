"""Whatever happens on the way: a typed error or the whole answer, in time, in every dialect."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
import pytest

from octo_lab.core.errors import (
    OctoError,
    ProviderError,
    RateLimited,
    StreamCut,
    TimedOut,
    Unavailable,
)
from octo_lab.core.messages import ChatRequest, Message, ToolCall, ToolSpec
from octo_lab.core.stream import Done, StreamEvent, TextDelta, ToolCalled
from octo_lab.llm.asked import Dialect
from octo_lab.llm.http import HttpTimeouts, ModelHttp
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.wires.dialects import DIALECTS
from octo_lab.llm.wires.streaming import Streaming
from octo_lab.testing.faults import Fault, chatty, doubled, garbled, misnumbered
from octo_lab.testing.llm_script import Turn, call, calls, fails
from octo_lab.testing.llm_server import LlmServer
from octo_lab.testing.wires.registry import wire_of

pytestmark = pytest.mark.anyio
every_dialect = pytest.mark.parametrize("dialect", sorted(DIALECTS))

LIMIT = 20.0  # seconds; far more than any silence below, and less than for ever
SILENCE = 0.15
REQUEST = ChatRequest(
    messages=[Message(role="user", content="hi")],
    tools=[ToolSpec(name="f", description="", schema={"type": "object"})],
)
TEXT = ("Hel", "lo \U0001f419", " and more")
ANSWER = calls(call("f", path="a", deep={"b": [1, 2]}), text=TEXT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a stream came to: its whole answer, or the error it ended with."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    error: OctoError | None = None

    @property
    def whole(self) -> bool:
        made = [(c.name, c.arguments.replace(" ", "")) for c in self.calls]
        return (
            self.error is None
            and self.text == "".join(TEXT)
            and made == [("f", '{"path":"a","deep":{"b":[1,2]}}')]
        )


class Lab:
    """A client of one dialect and the server it asks."""

    def __init__(self, server: LlmServer, http: ModelHttp, dialect: Dialect) -> None:
        self.server = server
        base = server.base_url
        config = ProviderConfig(name="lab", model="m", http=http, base_url=base)
        self.provider = Streaming(config, DIALECTS[dialect])

    async def ask(self, turn: Turn) -> Outcome:
        self.server.script(turn)
        return await self.outcome()

    async def outcome(self) -> Outcome:
        events: list[StreamEvent] = []
        error: OctoError | None = None
        with anyio.fail_after(LIMIT):
            try:
                async for event in self.provider.stream(REQUEST):
                    events.append(event)
            except OctoError as exc:
                error = exc
        assert error is not None or isinstance(events[-1], Done)
        return Outcome(
            text="".join(e.text for e in events if isinstance(e, TextDelta)),
            calls=tuple(e.call for e in events if isinstance(e, ToolCalled)),
            error=error,
        )

    def pieces(self) -> list[bytes]:
        """The events of the answer as the server sends them."""
        path = urlsplit(self.server.requests[-1].path).path
        wire = wire_of(path)
        assert wire is not None
        return wire.pieces(ANSWER, self.server.requests[-1].body)


@pytest.fixture
async def lab(server: LlmServer, dialect: Dialect) -> AsyncGenerator[Lab]:
    async with ModelHttp(HttpTimeouts(connect=5, read=LIMIT)) as http:
        yield Lab(server, http, dialect)


@pytest.fixture
async def hasty(server: LlmServer, dialect: Dialect) -> AsyncGenerator[Lab]:
    """One that bears no silence."""
    async with ModelHttp(HttpTimeouts(connect=5, read=SILENCE)) as http:
        yield Lab(server, http, dialect)


def faulty(**what: Any) -> Turn:
    return replace(ANSWER, fault=Fault(**what))


HARMLESS = {
    "nothing": ANSWER,
    "a byte at a time": replace(ANSWER, split=1),
    "with pauses": replace(ANSWER, delay=0.01),
    "gzip": faulty(packed="gzip"),
    "deflate": faulty(packed="deflate"),
    "gzip, a byte at a time": replace(faulty(packed="gzip"), split=1),
    "trailers": faulty(trailers={"x-checksum": "1", "x-more": "2"}),
    "1xx": faulty(interim=(100, 103, 102)),
    "a slow head": faulty(head_delay=0.01),
    "a big head": replace(ANSWER, headers={"x-filler": "x" * 30_000}),
    "closed after": faulty(closes=True),
    "comments and pings": faulty(edit=chatty),
    "no content type": replace(ANSWER, headers={"content-type": ""}),
    "plain text": replace(ANSWER, headers={"content-type": "text/plain"}),
    "said to be JSON": replace(ANSWER, headers={"content-type": "application/json"}),
}


@every_dialect
@pytest.mark.parametrize("turn", HARMLESS.values(), ids=HARMLESS)
async def test_what_does_no_harm_gives_the_whole_answer(lab: Lab, turn: Turn) -> None:
    outcome = await lab.ask(turn)
    assert outcome.whole, outcome


@every_dialect
async def test_a_connection_that_closes_between_requests_is_no_error(lab: Lab) -> None:
    for _ in range(10):
        outcome = await lab.ask(faulty(closes=True))
        assert outcome.whole, outcome


@every_dialect
@pytest.mark.parametrize("way", ["cut", "reset"])
async def test_a_cut_at_any_place_is_never_taken_for_an_answer(lab: Lab, way: str) -> None:
    assert (await lab.ask(ANSWER)).whole
    size = sum(map(len, lab.pieces()))
    assert size > 300
    whole = 0
    for at in (0, 1, *range(2, size, max(1, size // 60)), size - 2, size - 1):
        outcome = await lab.ask(replace(ANSWER, cut=at) if way == "cut" else faulty(reset=at))
        whole += outcome.whole
        assert outcome.whole or isinstance(outcome.error, Unavailable), (at, outcome)
        assert "".join(TEXT).startswith(outcome.text)
    assert whole < 30  # only where what is missing comes after the last word


@every_dialect
async def test_a_stall_after_any_event_ends_in_time(hasty: Lab) -> None:
    assert (await hasty.ask(ANSWER)).whole
    for events in range(len(hasty.pieces()) + 1):
        outcome = await hasty.ask(faulty(stall=events))
        assert outcome.whole or isinstance(outcome.error, TimedOut), (events, outcome)


SIGNS_OF_LIFE = {
    "comment": b": still here\n\n",
    "blank": b"\r\n",
    "Anthropic": b'event: ping\ndata: {"type": "ping"}\n\n',
    "OpenAI": b'data: {"type":"keepalive","sequence_number":3}\n\n',
}


@every_dialect
@pytest.mark.parametrize("pings", SIGNS_OF_LIFE.values(), ids=SIGNS_OF_LIFE)
async def test_signs_of_life_without_an_answer_end_in_time(hasty: Lab, pings: bytes) -> None:
    for events in (0, 1, 2):
        outcome = await hasty.ask(faulty(stall=events, pings=pings))
        assert outcome.whole or isinstance(outcome.error, TimedOut), (events, outcome)


@every_dialect
async def test_an_event_without_an_end_is_refused_and_the_connection_closed(lab: Lab) -> None:
    endless = Turn(raw=b"data: " + b"x" * 17_000_000, hang=True)
    assert isinstance((await lab.ask(endless)).error, Unavailable)
    gone = await anyio.to_thread.run_sync(
        lab.server.wait_until, lambda: bool(lab.server.disconnects), 5.0
    )
    assert gone


@every_dialect
async def test_no_head_in_time_is_a_timeout(hasty: Lab) -> None:
    assert isinstance((await hasty.ask(replace(ANSWER, wait=SILENCE * 3))).error, TimedOut)


@every_dialect
async def test_a_page_of_a_web_site_is_no_answer(lab: Lab) -> None:
    page = Turn(raw=b"<html>Welcome</html>", headers={"content-type": "text/html"})
    assert isinstance((await lab.ask(page)).error, Unavailable)


@every_dialect
@pytest.mark.parametrize("size", [150_000, 2_000_000])
async def test_an_endless_head_is_refused(lab: Lab, size: int) -> None:
    huge = replace(ANSWER, headers={f"x-{n}": "x" * 1000 for n in range(size // 1000)})
    outcome = await lab.ask(huge)
    assert outcome.whole or isinstance(outcome.error, Unavailable), outcome


GARBAGE = {
    "no JSON": b"{ oops",
    "half a JSON": b'{"type": "content_block_delta", "delta": {"te',
    "a list": b"[1, 2]",
    "a number": b"7",
    "null": b"null",
    "bytes": b"\xff\xfe\x00",
    "deep": b'{"a":' * 5_000,
    "odd types": b'{"type": 7, "choices": 7, "delta": 7, "candidates": 7, "error": null}',
    "odd parts": b'{"choices": [7], "candidates": [7], "type": "content_block_delta", "delta": 7}',
    "huge": b'"' + b"x" * 2_000_000 + b'"',
}


@every_dialect
@pytest.mark.parametrize("data", GARBAGE.values(), ids=GARBAGE)
async def test_garbage_between_events_is_skipped_or_a_typed_error(lab: Lab, data: bytes) -> None:
    outcome = await lab.ask(faulty(edit=garbled(data)))
    assert outcome.whole or isinstance(outcome.error, ProviderError), outcome


@every_dialect
async def test_what_is_no_http_any_more_is_a_cut(lab: Lab) -> None:
    assert isinstance((await lab.ask(faulty(unframed=True))).error, StreamCut)


@every_dialect
async def test_doubled_events_end(lab: Lab) -> None:
    outcome = await lab.ask(faulty(edit=doubled))
    assert outcome.error is None or isinstance(outcome.error, ProviderError), outcome


@every_dialect
@pytest.mark.parametrize("index", [10**9, -1, 2**70, None, "0", 1.5, [], {}])
async def test_a_wrong_index_does_no_harm_or_is_a_typed_error(lab: Lab, index: object) -> None:
    outcome = await lab.ask(faulty(edit=misnumbered(index)))
    assert outcome.whole or isinstance(outcome.error, Unavailable), outcome


@every_dialect
async def test_a_busy_server_says_when_to_come_back(lab: Lab) -> None:
    busy = fails(429, "slow down", headers={"retry-after": "7", "x-ratelimit-reset": "1"})
    error = (await lab.ask(busy)).error
    assert isinstance(error, RateLimited)
    assert error.retry_after == 7


@every_dialect
async def test_while_nobody_listens_it_is_unavailable_and_then_works_again(lab: Lab) -> None:
    assert (await lab.ask(ANSWER)).whole
    away = lab.server.away()
    await anyio.to_thread.run_sync(away.__enter__)
    try:
        error = (await lab.outcome()).error
    finally:
        await anyio.to_thread.run_sync(away.__exit__, None, None, None)
    assert type(error) is Unavailable
    assert (await lab.ask(ANSWER)).whole


@every_dialect
async def test_an_error_whose_head_is_all_there_is(lab: Lab) -> None:
    outcome = await lab.ask(fails(503, "busy", cut=0))
    assert type(outcome.error) is Unavailable
    assert not isinstance(outcome.error, StreamCut)
