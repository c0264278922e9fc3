from __future__ import annotations

from collections.abc import Mapping

import pytest

from octo_lab.core.errors import ConfigError, OctoError, UsageError
from octo_lab.core.registry import Registry
from octo_lab.llm.cassette import CassetteHeader
from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.providers import ollama, openai, vllm
from octo_lab.llm.registry import (
    ModelChoice,
    ModelSetup,
    ProviderFacts,
    builtin_providers,
    open_model,
    replay_model,
    resolve_model,
)
from octo_lab.llm.secret import Secret
from octo_lab.llm.wires.chat.wire import CHAT
from octo_lab.llm.wires.streaming import Streaming

KEYED = {"OPENAI_API_KEY": "sk-0123456789abcdef"}
OWN = {"OPENAI_BASE_URL": "http://127.0.0.1:8080/v1/"}
HTTP = ModelHttp()


def resolve(
    name: str | None,
    environ: Mapping[str, str] = KEYED,
    *,
    model: str | None = None,
    **providers: ProviderFacts,
) -> ModelChoice:
    setup = ModelSetup(http=HTTP, model=model, providers=providers, environ=environ)
    return resolve_model(name, setup, builtin_providers())


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("openai/gpt-4o-mini", "openai/gpt-4o-mini"),
        ("OpenAI/gpt-4o", "openai/gpt-4o"),
        ("openai", "openai/gpt-4o"),
        ("gpt-5", "openai/gpt-5"),
        ("o3-mini", "openai/o3-mini"),
        ("ollama/qwen3:4b", "ollama/qwen3:4b"),
        ("ollama", "ollama/llama3.2"),
        ("openai/org/model", "openai/org/model"),
        (" gpt-4o ", "openai/gpt-4o"),
    ],
)
def test_a_name_means_a_provider_and_a_model(name: str, meant: str) -> None:
    assert resolve(name).name == meant


def test_the_choice_carries_what_the_provider_needs() -> None:
    config = resolve("gpt-4o", KEYED | OWN).config
    assert (config.name, config.model, config.base_url, config.api_key) == (
        "openai",
        "gpt-4o",
        "http://127.0.0.1:8080/v1",
        Secret("sk-0123456789abcdef"),
    )


def test_config_wins_over_the_environment() -> None:
    facts = ProviderFacts(
        base_url="http://config/v1", api_key=Secret("from-config"), default_model="m"
    )
    choice = resolve(None, KEYED | OWN, openai=facts)
    assert (choice.name, choice.config.base_url, choice.config.api_key) == (
        "openai/m",
        "http://config/v1",
        Secret("from-config"),
    )


def test_a_server_of_ones_own_needs_no_key_and_may_serve_any_name() -> None:
    assert resolve("smollm2", OWN).name == "openai/smollm2"
    assert resolve("meta-llama/Llama-3", OWN).name == "openai/meta-llama/Llama-3"


def test_a_configured_name_of_no_entry_is_an_openai_compatible_server() -> None:
    choice = resolve("Lab/qwen", {}, Lab=ProviderFacts(base_url="http://lab/v1"))
    assert (choice.name, choice.config.base_url) == ("Lab/qwen", "http://lab/v1")
    assert isinstance(choice.entry.open(choice.config), Streaming)


@pytest.mark.parametrize(
    ("model", "environ", "meant"),
    [
        ("ollama/x", KEYED, "ollama/x"),
        (None, KEYED, "openai/gpt-4o"),
        (None, OWN, "openai/gpt-4o"),
        (None, {"OPENAI_API_KEY": " "}, "offline/helper"),
        (None, {}, "offline/helper"),
    ],
)
def test_without_a_name_config_then_keys_then_offline_decide(
    model: str | None, environ: Mapping[str, str], meant: str
) -> None:
    assert resolve(None, environ, model=model).name == meant


def test_offline_says_what_it_is_when_nobody_chose_it() -> None:
    assert "no language model" in resolve(None, {}).note
    assert resolve("offline", {}).note == ""


@pytest.mark.parametrize(
    ("name", "environ", "kind", "message"),
    [
        ("opnai/gpt-4o", KEYED, UsageError, "did you mean 'openai'"),
        ("nobody/x", KEYED, UsageError, "No provider named 'nobody' (known: anthropic, openai, "),
        ("gtp-4o", KEYED, UsageError, "did you mean 'gpt-4o'"),
        ("smollm", KEYED, UsageError, "write it as provider/model"),
        ("gpt-4o", {}, ConfigError, "set OPENAI_API_KEY"),
        ("vllm/x", {}, ConfigError, "set VLLM_BASE_URL"),
    ],
)
def test_a_mistake_is_one_line_with_the_next_step(
    name: str, environ: Mapping[str, str], kind: type[OctoError], message: str
) -> None:
    with pytest.raises(kind) as caught:
        resolve(name, environ)
    assert message in str(caught.value)


def test_a_configured_provider_without_url_is_named() -> None:
    with pytest.raises(ConfigError, match="'lab' is unknown and has no base_url"):
        resolve("openai", lab=ProviderFacts(default_model="x"))


def test_an_outside_entry_is_a_provider_like_any_other() -> None:
    entry = ProviderEntry(
        name="mine", aliases=("my",), detect=("qwen",), needs_key=False, wire=CHAT
    )
    setup = ModelSetup(http=HTTP)
    registry = Registry("provider", [openai.ENTRY, ollama.ENTRY, vllm.ENTRY, entry])
    assert resolve_model("qwen3", setup, registry).name == "mine/qwen3"
    assert resolve_model("my/x", setup, registry).name == "mine/x"


def test_every_builtin_makes_its_provider_and_retries() -> None:
    facts = ProviderFacts(base_url="http://h/v1", default_model="m")
    for entry in builtin_providers():
        setup = ModelSetup(http=HTTP, providers={entry.name: facts}, environ=KEYED)
        choice = resolve_model(entry.name, setup, builtin_providers())
        provider = open_model(choice)
        assert (provider.name, provider.model) == (entry.name, "m")


def test_a_cassette_names_its_own_provider() -> None:
    header = CassetteHeader(tool="t", recorded="d", provider="gone", model="m", host="loopback")
    choice = replay_model(header, HTTP)
    assert (choice.name, choice.config.api_key) == ("gone/m", None)
