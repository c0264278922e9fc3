from __future__ import annotations

import pytest

from octo_lab.core.errors import QuotaExceeded
from octo_lab.core.messages import ChatRequest, Message
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.provider import collect
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.resilience.retry import Retrying
from octo_lab.llm.wires.chat.wire import CHAT
from octo_lab.llm.wires.streaming import Streaming
from octo_lab.testing.llm_script import Turn, fails
from octo_lab.testing.llm_server import LlmServer

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "answer",
    [
        Turn(raw=b"Your account is in arrears.", headers={"content-type": "text/plain"}),
        Turn(raw=b"data: Your account is in arrears.\n\n"),
        Turn(
            raw=b'{"code":"Arrearage","message":"x"}', headers={"content-type": "application/json"}
        ),
        Turn(events=[{"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}]),
        fails(403, "no", code="insufficient_quota"),
        fails(429, "You exceeded your current quota, please check your plan."),
        fails(400, "Your credit balance is too low"),
    ],
    ids=["text", "event", "json", "minimax", "403", "429", "400"],
)
async def test_an_account_without_credit_is_asked_once(
    server: LlmServer, http: ModelHttp, answer: Turn
) -> None:
    server.script(answer)
    config = ProviderConfig(name="lab", model="m", http=http, base_url=server.base_url)
    request = ChatRequest(messages=[Message(role="user", content="hi")])
    with pytest.raises(QuotaExceeded, match="no credit left"):
        await collect(Retrying(Streaming(config, CHAT)).stream(request))
    assert len(server.requests) == 1
