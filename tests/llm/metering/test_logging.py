from __future__ import annotations

import logging
from contextlib import aclosing
from itertools import count

import pytest

from octo_lab.core.errors import RateLimited
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.metering.logging import Logging
from octo_lab.llm.metering.middleware import Layered
from octo_lab.llm.provider import collect
from octo_lab.testing.llm_script import fails, says
from octo_lab.testing.llm_server import LlmServer
from tests.llm.metering.asking import KEY, asked, lab

pytestmark = pytest.mark.anyio


def logged(server: LlmServer, http: ModelHttp) -> Layered:
    ticks = count(0.0, 1.5)

    def clock() -> float:
        return next(ticks)

    return Layered(lab(server, http), [Logging(clock=clock)], clock=clock)


async def test_a_request_and_its_end_are_logged_without_their_words(
    server: LlmServer, http: ModelHttp, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "octo_lab.llm")
    server.script(says("my secret answer"))
    await collect(logged(server, http).stream(asked("my secret question")))
    records = [(r.levelname, r.getMessage()) for r in caplog.records if r.name == "octo_lab.llm"]
    assert records == [
        ("DEBUG", "lab/m: asked with 1 messages and 0 tools"),
        ("INFO", "lab/m: end_turn after 1.50 s, 10 tokens in, 5 out"),
    ]
    assert "secret" not in caplog.text
    assert KEY.reveal() not in caplog.text


async def test_a_failure_is_logged_by_its_kind(
    server: LlmServer, http: ModelHttp, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "octo_lab.llm")
    server.script(fails(429, "my secret limit"))
    with pytest.raises(RateLimited):
        await collect(logged(server, http).stream(asked()))
    assert [r.getMessage() for r in caplog.records if r.name == "octo_lab.llm"] == [
        "lab/m: failed (rate_limited) after 1.50 s"
    ]


async def test_a_stream_that_its_reader_closed_was_stopped(
    server: LlmServer, http: ModelHttp, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "octo_lab.llm")
    server.script(says("a", hang=True, done=False, finish="", usage=None))
    async with aclosing(logged(server, http).stream(asked())) as stream:
        await anext(stream)
    assert [r.getMessage() for r in caplog.records if r.name == "octo_lab.llm"] == [
        "lab/m: stopped after 1.50 s"
    ]
