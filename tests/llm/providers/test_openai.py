from __future__ import annotations

import pytest

from octo_lab.core.messages import ChatRequest, Message
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.provider import collect
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.providers import lmstudio, ollama, vllm
from octo_lab.llm.providers.openai import ENTRY
from octo_lab.llm.registry import builtin_providers, resolve_model
from octo_lab.llm.setup import ModelFacts, ModelSetup, ProviderFacts
from octo_lab.llm.wires.chat.wire import CHAT
from octo_lab.llm.wires.responses.wire import RESPONSES
from octo_lab.testing.llm_server import LlmServer

pytestmark = pytest.mark.anyio

NEW = (
    "o1",
    "o3-mini",
    "o4-mini",
    "gpt-4.1-nano",
    "gpt-5",
    "gpt-5.6-codex",
    "codex-mini-latest",
    "gpt-4o",
    "gpt-4o-2024-11-20",
    "gpt-4o-mini",
    "gpt-4o-mini-2024-07-18",
)
OLD = ("gpt-4", "gpt-4-turbo", "gpt-3.5-turbo", "chatgpt-4o-latest", "o1-mini")
OTHERS = ("gpt-4o-audio-preview", "gpt-4o-mini-search-preview", "ft-own-model")
OWN = "http://127.0.0.1:1/v1"
Hints = tuple[tuple[str, bool | str], ...]
TOLD: Hints = (("responses", True),)


def config(model: str, base_url: str, http: ModelHttp, hints: Hints = ()) -> ProviderConfig:
    return ProviderConfig(name="openai", model=model, http=http, base_url=base_url, hints=hints)


async def test_new_models_are_asked_by_responses_at_the_vendor_only(http: ModelHttp) -> None:
    for model in NEW:
        assert ENTRY.spoken(config(model, ENTRY.base_url, http)) is RESPONSES
        assert ENTRY.spoken(config(model, OWN, http)) is CHAT
        assert ENTRY.spoken(config(model, "https://api.openai.com.evil.org/v1", http)) is CHAT


async def test_old_models_and_special_ones_are_asked_by_chat(http: ModelHttp) -> None:
    for model in (*OLD, *OTHERS):
        assert ENTRY.spoken(config(model, ENTRY.base_url, http)) is CHAT


async def test_the_user_s_hint_wins(http: ModelHttp) -> None:
    assert ENTRY.spoken(config("m", OWN, http, TOLD)) is RESPONSES
    official = config("gpt-5", ENTRY.base_url, http, (("responses", False),))
    assert ENTRY.spoken(official) is CHAT


async def test_a_server_of_one_s_own_is_asked_as_the_hint_says(
    server: LlmServer, http: ModelHttp
) -> None:
    request = ChatRequest(messages=[Message(role="user", content="hi")])
    hinted = config("m", server.base_url, http, TOLD)
    message, _ = await collect(ENTRY.open(hinted).stream(request))
    assert (message.content, server.requests[0].path) == ("echo: hi", "/v1/responses")


async def test_the_hint_is_heard_for_every_server_of_one_s_own(http: ModelHttp) -> None:
    setup = ModelSetup(
        http=http,
        providers={"lab": ProviderFacts(base_url=OWN)},
        models={"lab/m": ModelFacts(hints=TOLD)},
    )
    lab = resolve_model("lab/m", setup, builtin_providers())
    assert lab.entry.spoken(lab.config) is RESPONSES
    for entry in (vllm.ENTRY, ollama.ENTRY, lmstudio.ENTRY):
        assert entry.spoken(config("m", OWN, http, TOLD)) is RESPONSES
        assert entry.spoken(config("gpt-5", OWN, http)) is CHAT
