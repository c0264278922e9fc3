"""An answer that is asked for in one piece, in each dialect."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from octo_lab.core.messages import ChatRequest, Message
from octo_lab.llm.hints import ModelHints
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.wires.anthropic.validate import request_problem as anthropic_problem
from octo_lab.llm.wires.anthropic.wire import ANTHROPIC
from octo_lab.llm.wires.chat.validate import request_problem as chat_problem
from octo_lab.llm.wires.chat.wire import CHAT
from octo_lab.llm.wires.gemini.wire import GEMINI
from octo_lab.llm.wires.responses.validate import request_problem as responses_problem
from octo_lab.llm.wires.responses.wire import RESPONSES
from octo_lab.llm.wires.wire import Wire

STREAMED = ChatRequest(messages=[Message(role="user", content="hi")])


def written(wire: Wire, request: ChatRequest) -> tuple[str, dict[str, object]]:
    config = ProviderConfig(name="p", model="m", http=ModelHttp(), base_url="http://x")
    asked = wire.write(request, config, ModelHints())
    return asked.url, json.loads(asked.body)


@pytest.mark.parametrize(
    ("wire", "problem"),
    [
        (CHAT, chat_problem),
        (RESPONSES, responses_problem),
        (ANTHROPIC, anthropic_problem),
    ],
)
def test_the_body_says_so(wire: Wire, problem: object) -> None:
    url, body = written(wire, replace(STREAMED, streamed=False))
    streamed = written(wire, STREAMED)

    assert (body["stream"], streamed[1]["stream"], url) == (False, True, streamed[0])
    assert "stream_options" not in body
    assert callable(problem)
    assert problem(body) is None


def test_gemini_is_asked_elsewhere() -> None:
    url, body = written(GEMINI, replace(STREAMED, streamed=False))

    assert url == "http://x/models/m:generateContent"
    assert written(GEMINI, STREAMED) == ("http://x/models/m:streamGenerateContent?alt=sse", body)
