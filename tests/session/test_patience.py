from __future__ import annotations

import pytest

from octo_lab.agent.patience import LOADING, SHARED, THINKING, Patience
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.provider import Provider
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.providers.openai import ENTRY
from octo_lab.llm.registry import ModelChoice
from octo_lab.llm.resilience.failover import Chained
from octo_lab.session.models import ChosenModel
from octo_lab.session.patience import patience_with
from octo_lab.testing.providers import ScriptedProvider


def chosen(base_url: str, model: str = "gpt-4o", provider: Provider | None = None) -> ChosenModel:
    config = ProviderConfig(name="openai", model=model, http=ModelHttp(), base_url=base_url)
    choice = ModelChoice(entry=ENTRY, model=model, config=config)
    return ChosenModel(provider=provider or ScriptedProvider(), choice=choice)


@pytest.mark.parametrize(
    ("base_url", "model", "expected"),
    [
        ("https://api.openai.com/v1", "gpt-4o", Patience()),
        ("https://api.openai.com/v1", "o3", THINKING),
        ("http://localhost:11434/v1", "llama3.2", LOADING),
        ("http://127.0.0.2:8000", "o3", LOADING),
        ("http://[::1]:8000/v1", "x", LOADING),
        ("http://10.0.0.1/v1", "x", Patience()),
        ("", "a.gguf", LOADING),
    ],
)
def test_a_model_may_be_silent_as_long_as_its_kind_is(
    base_url: str, model: str, expected: Patience
) -> None:
    assert patience_with(chosen(base_url, model)) == expected


def test_models_that_share_the_work_have_a_patience_of_their_own() -> None:
    assert patience_with(chosen("https://x/v1", provider=Chained([]))) == SHARED


def test_a_provider_that_was_given_is_asked_with_the_usual_patience() -> None:
    assert patience_with(ChosenModel(provider=ScriptedProvider())) == Patience()
