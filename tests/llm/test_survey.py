from __future__ import annotations

import pytest

from octo_lab.core.registry import Registry
from octo_lab.core.replies import ProviderInfo
from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.model_lists import ModelLists
from octo_lab.llm.registry import BUILTIN, ModelSetup
from octo_lab.llm.survey import survey
from octo_lab.llm.wires.chat.wire import CHAT
from octo_lab.testing.llm_server import LlmServer

pytestmark = pytest.mark.anyio

KEY = "sk-0123456789abcdef"


async def looked(
    setup: ModelSetup, *more: ProviderEntry, patience: float = 0
) -> dict[str, ProviderInfo]:
    registry = Registry("provider", (*BUILTIN, *more))
    return {info.name: info for info in await survey(setup, registry, ModelLists(), patience)}


async def test_each_provider_says_how_it_is_reached_and_what_it_lacks(http: ModelHttp) -> None:
    found = await looked(ModelSetup(http=http, environ={"GOOGLE_API_KEY": KEY}))
    assert next(iter(found)) == "gemini"
    assert found["gemini"] == ProviderInfo(
        name="gemini",
        state="not checked",
        base_url="https://generativelanguage.googleapis.com/v1beta (built in)",
        key="sk-…ef (from environment GOOGLE_API_KEY)",
    )
    assert (found["groq"].state, found["groq"].key) == (
        "not connected",
        "missing (set GROQ_API_KEY)",
    )
    assert "set VLLM_BASE_URL" in found["vllm"].note
    assert found["offline"].state == "built in"
    assert set(found) == {entry.name for entry in BUILTIN}


async def test_a_connected_server_is_asked_and_an_absent_one_is_not_waited_for(
    http: ModelHttp,
) -> None:
    async with LlmServer(models=("a", "b")) as server:
        setup = ModelSetup(http=http, environ={"DEEPSEEK_BASE_URL": server.base_url})
        found = await looked(setup, patience=2)
    assert (found["deepseek"].state, found["deepseek"].models) == (
        "reached",
        ("deepseek/a", "deepseek/b"),
    )


async def test_a_plugins_provider_that_lacks_all_is_listed_with_what_to_do(
    http: ModelHttp,
) -> None:
    found = await looked(ModelSetup(http=http), ProviderEntry(name="mine", wire=CHAT))
    assert (found["mine"].state, found["mine"].note) == (
        "not connected",
        "No key for 'mine' (set providers.mine.api_key in the config)",
    )
