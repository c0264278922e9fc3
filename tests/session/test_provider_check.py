"""A provider is asked one real question, in the dialect of each vendor, and a failure explained."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from octo_lab.app import open_app
from octo_lab.config.settings import ModelSettings, ProviderSettings, RoutingSettings
from octo_lab.core.mail import CheckProvider, GetHistory
from octo_lab.core.replies import History, ProviderCheck
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.llm_script import fails, says
from octo_lab.testing.llm_server import LlmServer
from octo_lab.testing.setups import setup_in

pytestmark = pytest.mark.anyio

KEY, WRONG = "sk-right0123456789abcd", "sk-wrong0123456789abcd"
# provider, model, where it is asked
VENDORS = (
    ("anthropic", "claude-m", "/messages"),
    ("zai", "glm-5", "/messages"),
    ("gemini", "gemini-m", ":streamGenerateContent"),
    ("openai", "gpt-5", "/responses"),
    ("openai", "gpt-4o", "/chat/completions"),
    ("openrouter", "any/m", "/chat/completions"),
    ("groq", "m", "/chat/completions"),
)
every_vendor = pytest.mark.parametrize(("provider", "model", "path"), VENDORS)


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer(api_key=KEY) as server:
        yield server


async def checked(
    folder: Path, server: LlmServer, provider: str, model: str, key: str = KEY
) -> ProviderCheck:
    channel = MemoryChannel()
    setup = setup_in(
        folder,
        channel,
        providers={provider: ProviderSettings(base_url=server.base_url, api_key=SecretStr(key))},
        models={"gpt-5": ModelSettings(hints={"responses": True})},
        fallbacks=("offline/helper",),
        routing=RoutingSettings(mode="hedge"),
    )
    async with open_app(setup):
        reply = await channel.control(CheckProvider(name=f"{provider}/{model}"))
        history = await channel.control(GetHistory())
    assert isinstance(reply, ProviderCheck)
    assert isinstance(history, History)
    assert history.turns == ()
    return reply


@every_vendor
async def test_each_vendor_is_asked_in_its_own_dialect_alone_and_nothing_is_kept(
    tmp_path: Path, server: LlmServer, provider: str, model: str, path: str
) -> None:
    server.script(says("ready"))
    found = await checked(tmp_path, server, provider, model)

    assert (found.name, found.answer, found.error) == (f"{provider}/{model}", "ready", "")
    assert (found.usage.input_tokens, found.usage.output_tokens) == (10, 5)
    assert [path in received.path for received in server.requests] == [True]
    assert server.refused == []


@every_vendor
async def test_a_wrong_key_is_named_masked_and_with_its_source(
    tmp_path: Path, server: LlmServer, provider: str, model: str, path: str
) -> None:
    found = await checked(tmp_path, server, provider, model, WRONG)

    assert (found.kind, found.answer, len(server.requests)) == ("auth_rejected", "", 1)
    source = f"it was asked with the key sk-…cd (from config: providers.{provider}.api_key)"
    assert source in found.hint
    assert WRONG not in repr(found)


@pytest.mark.parametrize(
    ("status", "message", "kind", "step"),
    [
        (402, "insufficient credits", "quota_exceeded", "the key is right"),
        (429, "slow down", "rate_limited", "the key is right"),
        (404, "no such model", "model_not_found", "`octo models` lists what 'groq' has"),
        (503, "overloaded", "unavailable", "it was asked at http://127.0.0.1"),
        (400, "no", "bad_request", "`octo models` lists what 'groq' has"),
    ],
)
async def test_each_failure_has_its_next_step(
    tmp_path: Path, server: LlmServer, status: int, message: str, kind: str, step: str
) -> None:
    server.script(fails(status, message))
    found = await checked(tmp_path, server, "groq", "m")

    assert (found.kind, len(server.requests)) == (kind, 1)
    assert step in found.hint
