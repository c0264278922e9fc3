from __future__ import annotations

import json
from typing import Any

import pytest

from octo_lab.core.errors import BadRequest, ProviderError, RateLimited, Unavailable
from octo_lab.core.messages import ChatRequest, Effort, Message, Usage
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.provider import collect
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.providers.openrouter import ENTRY
from octo_lab.llm.secret import Secret
from octo_lab.testing.llm_script import Turn, fails
from octo_lab.testing.llm_server import LlmServer

pytestmark = pytest.mark.anyio

HI = Message(role="user", content="hi")
PART = {"type": "reasoning.text", "index": 0, "text": "hm", "signature": "s"}


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


THOUGHT = Turn(
    events=[
        chunk(reasoning="hm", reasoning_details=[PART]),
        chunk("stop", content="so"),
        {"choices": [], "usage": {"prompt_tokens": 4, "completion_tokens": 2, "cost": 0.5}},
    ]
)


async def ask(server: LlmServer, http: ModelHttp, request: ChatRequest) -> tuple[Message, Usage]:
    config = ProviderConfig(
        name="openrouter",
        model="openai/gpt-5",
        http=http,
        base_url=server.base_url,
        api_key=Secret("k"),
    )
    return await collect(ENTRY.open(config).stream(request))


@pytest.mark.parametrize(
    ("effort", "said"),
    [("high", {"effort": "high"}), ("minimal", {"effort": "minimal"}), (None, None)],
)
async def test_the_request_says_who_asks_and_how_much_to_think(
    server: LlmServer, http: ModelHttp, effort: Effort | None, said: object
) -> None:
    await ask(server, http, ChatRequest(messages=[HI], effort=effort))
    received = server.requests[0]
    assert received.headers["http-referer"].startswith("https://")
    assert (received.headers["x-title"], received.headers["authorization"]) == (
        "octo_lab",
        "Bearer k",
    )
    assert (received.body.get("reasoning"), "reasoning_effort" in received.body) == (said, False)


async def test_thinking_goes_back_verbatim_and_the_price_is_kept(
    server: LlmServer, http: ModelHttp
) -> None:
    server.script(THOUGHT)
    answer, usage = await ask(server, http, ChatRequest(messages=[HI]))
    assert (answer.content, answer.reasoning, usage.dollars) == ("so", "hm", 0.5)
    await ask(server, http, ChatRequest(messages=[HI, answer, HI]))
    assert server.requests[1].body["messages"][1] == {
        "role": "assistant",
        "content": "so",
        "reasoning_details": [PART],
    }


RAW = json.dumps({"error": {"message": "messages: odd", "type": "invalid_request_error"}})


@pytest.mark.parametrize(
    ("turn", "kind"),
    [
        (
            Turn(events=[chunk(content="so"), {"error": {"code": 429, "message": "slow"}}]),
            RateLimited,
        ),
        (
            Turn(
                events=[
                    {
                        **chunk("error", content=""),
                        "error": {"code": 502, "message": "Provider disconnected"},
                    }
                ]
            ),
            Unavailable,
        ),
        (
            Turn(
                events=[
                    {"choices": [{"delta": {}, "finish_reason": "error", "error": {"code": 400}}]}
                ]
            ),
            BadRequest,
        ),
        (fails(404, "No endpoints found that support this"), BadRequest),
        (
            Turn(
                status=400,
                raw=json.dumps(
                    {"error": {"code": 400, "message": "Provider", "metadata": {"raw": RAW}}}
                ).encode(),
            ),
            BadRequest,
        ),
    ],
)
async def test_an_error_is_typed_wherever_it_comes(
    server: LlmServer, http: ModelHttp, turn: Turn, kind: type[ProviderError]
) -> None:
    server.script(turn)
    with pytest.raises(ProviderError) as caught:
        await ask(server, http, ChatRequest(messages=[HI]))
    assert type(caught.value) is kind
