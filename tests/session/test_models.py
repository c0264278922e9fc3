from __future__ import annotations

from pathlib import Path

import pytest

from octo_lab.core.errors import ConfigError, UsageError
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.registry import ModelSetup, ProviderFacts, builtin_providers
from octo_lab.llm.secret import Secret
from octo_lab.session.models import OPEN_MODELS, ConfiguredModels, OneModel
from octo_lab.testing.providers import ScriptedProvider

pytestmark = pytest.mark.anyio

KEY = ProviderFacts(api_key=Secret("sk-0123456789abcdef"))


def models(**facts: ProviderFacts) -> ConfiguredModels:
    setup = ModelSetup(http=ModelHttp(), providers=facts)
    return ConfiguredModels(setup, builtin_providers())


async def test_a_model_is_named_or_the_usual_one() -> None:
    connected = models(openai=KEY)

    assert (await connected.choose(None)).name == "openai/gpt-4o"
    assert (await connected.choose("gpt-4o-mini")).name == "openai/gpt-4o-mini"
    assert (await connected.choose(None)).note == ""


async def test_without_any_model_the_offline_helper_answers_and_says_so() -> None:
    chosen = await models().choose(None)

    assert chosen.name.startswith("offline/")
    assert "offline" in chosen.note


async def test_what_cannot_be_used_is_refused_with_the_next_step() -> None:
    with pytest.raises(ConfigError) as keyless:
        await models().choose("openai/gpt-4o")
    with pytest.raises(UsageError) as unknown:
        await models().choose("nonesuch/x")

    assert (keyless.value.message, unknown.value.message) == (
        "No key for 'openai'",
        "No provider named 'nonesuch'",
    )
    assert keyless.value.hint
    assert unknown.value.hint


async def test_only_usable_models_are_offered() -> None:
    assert "openai/gpt-4o" not in models().names()
    assert "openai/gpt-4o" in models(openai=KEY).names()


async def test_an_adapter_is_made_once_and_only_so_many_are_kept() -> None:
    connected = models(openai=KEY)
    first = (await connected.choose("openai/a")).provider

    assert (await connected.choose("openai/a")).provider is first
    for number in range(OPEN_MODELS):
        await connected.choose(f"openai/{number}")
    assert (await connected.choose("openai/a")).provider is not first


async def test_a_provider_of_ones_own_is_the_only_model(tmp_path: Path) -> None:
    own = OneModel(ScriptedProvider())

    assert (await own.choose("anything")).name == "scripted/script"
    assert own.names() == ("scripted/script",)
    with pytest.raises(UsageError, match="recorded or replayed"):
        await own.use_cassette("record", tmp_path / "x")


async def test_a_wrong_setting_offers_offline_only() -> None:
    assert models(nameless=ProviderFacts(default_model="x")).names() == ("offline/helper",)
