from __future__ import annotations

import pytest

from octo_lab.llm.http import HttpTimeouts, ModelHttp
from octo_lab.llm.registry import ModelFacts, ModelSetup, builtin_providers
from octo_lab.session.models import ChosenModel, ConfiguredModels
from octo_lab.testing.providers import ScriptedProvider

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("name", "window"),
    [("openai/gpt-4o", 5000), ("openai/gpt-4o-mini", 128_000), ("openai/o3", 200_000)],
)
async def test_the_window_the_user_set_comes_before_what_is_known(name: str, window: int) -> None:
    async with ModelHttp(HttpTimeouts(connect=5, read=5)) as http:
        setup = ModelSetup(
            http=http,
            environ={"OPENAI_API_KEY": "sk-test-0123456789abcdef"},
            models={"gpt-4o": ModelFacts(context_window=5000)},
        )
        chosen = await ConfiguredModels(setup, builtin_providers()).choose(name)
        assert chosen.window == window


def test_a_provider_of_ones_own_has_the_window_its_models_name_tells() -> None:
    assert ChosenModel(provider=ScriptedProvider(model="claude-3-opus")).window == 200_000
