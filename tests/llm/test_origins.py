from __future__ import annotations

import pytest

from octo_lab.llm.http import ModelHttp
from octo_lab.llm.origins import base_url_words, connection, key_words
from octo_lab.llm.registry import ModelSetup, ProviderFacts, builtin_providers, resolve_model
from octo_lab.llm.secret import Secret

HTTP = ModelHttp()
LONG = "sk-0123456789abcdef"


def setup(**more: str) -> ModelSetup:
    return ModelSetup(http=HTTP, environ=more)


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"GEMINI_API_KEY": LONG}, "sk-…ef (from environment GEMINI_API_KEY)"),
        ({"GOOGLE_API_KEY": LONG}, "sk-…ef (from environment GOOGLE_API_KEY)"),
        (
            {"GEMINI_API_KEY": LONG, "GOOGLE_API_KEY": "x"},
            "sk-…ef (from environment GEMINI_API_KEY)",
        ),
        ({}, "missing (set GEMINI_API_KEY)"),
        ({"GEMINI_BASE_URL": "http://h"}, "none"),
    ],
)
def test_the_variable_that_won_is_named(environ: dict[str, str], words: str) -> None:
    assert key_words(builtin_providers()["gemini"], setup(**environ)) == words


@pytest.mark.parametrize("name", [entry.name for entry in builtin_providers()])
def test_each_providers_variables_are_named(name: str) -> None:
    entry = builtin_providers()[name]
    for variable in entry.api_key_envs[:1]:
        assert (
            key_words(entry, setup(**{variable: LONG})) == f"sk-…ef (from environment {variable})"
        )
    if entry.base_url_env:
        said = base_url_words(entry, setup(**{entry.base_url_env: "http://me:word@h/v1?key=1"}))
        assert said == f"http://h/v1 (from environment {entry.base_url_env})"


def test_a_dummy_key_is_none() -> None:
    entry = builtin_providers()["vllm"]
    assert key_words(entry, setup(VLLM_BASE_URL="http://h/v1")) == "none"


def test_the_key_of_the_config_is_written_as_the_user_spelled_it() -> None:
    facts = ProviderFacts(base_url="http://h/v1", api_key=Secret(LONG), default_model="kimi-latest")
    names = ("base_url", "api_key", "default_model")
    made = ModelSetup(
        http=HTTP,
        providers={"Kimi": facts},
        sources={f"providers.Kimi.{name}": "octo.json" for name in names},
    )
    assert connection(resolve_model(None, made, builtin_providers()), made) == {
        "model": "kimi-latest (from octo.json: providers.Kimi.default_model)",
        "provider": "moonshot (from octo.json: providers.Kimi.base_url)",
        "base URL": "http://h/v1 (from octo.json: providers.Kimi.base_url)",
        "key": "sk-…ef (from octo.json: providers.Kimi.api_key)",
    }


def test_a_found_server_is_said_to_be_found() -> None:
    made = ModelSetup(http=HTTP, found={"ollama": "http://127.0.0.1:11434/v1"})
    said = base_url_words(builtin_providers()["ollama"], made)
    assert said == "http://127.0.0.1:11434/v1 (found on this machine)"
