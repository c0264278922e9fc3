from __future__ import annotations

import re
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
    ModelFacts,
    ModelSetup,
    ProviderFacts,
    builtin_providers,
    connected_providers,
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


def resolve_with(provider: str, base_url: str) -> ModelChoice:
    providers = {provider: ProviderFacts(base_url=base_url)}
    setup = ModelSetup(http=HTTP, providers=providers)
    return resolve_model(f"{provider}/m", setup, builtin_providers())


@pytest.mark.parametrize("name", ["", " ", "a/b", "a\0"])
def test_a_name_that_cannot_be_written_before_a_model_is_no_providers(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"^No provider can be called {re.escape(repr(name))}"):
        resolve_with(name, "http://h/v1")


@pytest.mark.parametrize("provider", ["lab", "openai"])
@pytest.mark.parametrize(
    "url", ["h:1/v1", "ftp://h/v1", "http://", "http://[::1/v1", "http://h:99999", "http://h x/v1"]
)
def test_a_base_url_that_is_no_web_address_is_told_at_once(provider: str, url: str) -> None:
    with pytest.raises(ConfigError, match=rf"^The base URL of '{provider}' is no web address: "):
        resolve_with(provider, url)


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


BUILT_IN = {
    "anthropic": ("https://api.anthropic.com", "ANTHROPIC", "claude-sonnet-4-20250514"),
    "openai": ("https://api.openai.com/v1", "OPENAI", "gpt-4o"),
    "gemini": (
        "https://generativelanguage.googleapis.com/v1beta",
        "GEMINI",
        "gemini-2.5-flash",
    ),
    "openrouter": (
        "https://openrouter.ai/api/v1",
        "OPENROUTER",
        "anthropic/claude-sonnet-4-20250514",
    ),
    "deepseek": ("https://api.deepseek.com/v1", "DEEPSEEK", "deepseek-chat"),
    "groq": ("https://api.groq.com/openai/v1", "GROQ", "llama-3.3-70b-versatile"),
    "moonshot": ("https://api.moonshot.ai/v1", "MOONSHOT", "kimi-k2.5"),
    "dashscope": ("https://dashscope.aliyuncs.com/compatible-mode/v1", "DASHSCOPE", "qwen-max"),
    "minimax": ("https://api.minimax.io/v1", "MINIMAX", "MiniMax-Text-01"),
    "zhipu": ("https://open.bigmodel.cn/api/paas/v4", "ZHIPU", "glm-4-plus"),
    "zai": ("https://api.z.ai/api/anthropic", "ZAI", "glm-5"),
    "nvidia": ("https://integrate.api.nvidia.com/v1", "NVIDIA", "meta/llama-3.3-70b-instruct"),
    "ollama": ("http://localhost:11434/v1", "", "llama3.2"),
    "vllm": ("", "VLLM", ""),
}


def test_each_vendor_is_known_by_its_facts_in_the_order_models_are_looked_for() -> None:
    entries = [entry for entry in builtin_providers() if entry.name in BUILT_IN]
    assert [entry.name for entry in entries] == list(BUILT_IN)
    for entry in entries:
        url, variable, model = BUILT_IN[entry.name]
        assert (entry.base_url, entry.default_model) == (url, model)
        assert entry.base_url_env == f"{entry.name.upper()}_BASE_URL"
        assert entry.api_key_envs[:1] == ((f"{variable}_API_KEY",) if variable else ())
        assert entry.needs_key is (entry.name not in ("ollama", "vllm"))


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("google", "gemini"),
        ("Kimi", "moonshot"),
        ("qwen", "dashscope"),
        ("GLM", "zhipu"),
        ("z.ai", "zai"),
        ("nim", "nvidia"),
    ],
)
def test_an_alias_in_any_case_is_the_provider(alias: str, name: str) -> None:
    key = {f"{name.upper()}_API_KEY": "k"}
    assert resolve(f"{alias}/m", key).name == f"{name}/m"


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("claude-opus-4", "anthropic"),
        ("gpt-4o-mini", "openai"),
        ("o1-preview", "openai"),
        ("o3", "openai"),
        ("o4-mini", "openai"),
        ("o3-claude", "openai"),
        ("Gemini-2.5-pro", "gemini"),
        ("deepseek-r1-distill-llama", "deepseek"),
        ("DeepSeek-V3", "deepseek"),
        ("llama-3.1-8b", "groq"),
        ("mixtral-8x7b", "groq"),
        ("kimi-k2.5", "moonshot"),
        ("moonshot-v1-8k", "moonshot"),
        ("qwen3-max", "dashscope"),
        ("MiniMax-M2", "minimax"),
        ("glm-4.6", "zhipu"),
    ],
)
def test_a_bare_model_belongs_to_its_vendor(model: str, provider: str) -> None:
    keys = {f"{name}_API_KEY": "k" for _, name, _ in BUILT_IN.values() if name}
    assert resolve(model, keys).name == f"{provider}/{model}"


def test_a_server_of_ones_own_answers_for_vendors_that_are_not_connected() -> None:
    assert resolve("qwen3:4b", OWN).name == "openai/qwen3:4b"
    assert resolve("qwen/qwen3-4b", OWN).name == "openai/qwen/qwen3-4b"
    keyed = OWN | {"DASHSCOPE_API_KEY": "k"}
    assert resolve("qwen3:4b", keyed).name == "dashscope/qwen3:4b"
    assert resolve("qwen/qwen3-4b", keyed).name == "dashscope/qwen3-4b"


@pytest.mark.parametrize("spelled", ["OpenAI", "OPENAI", "openai"])
def test_a_configured_name_counts_in_any_case(spelled: str) -> None:
    facts = ProviderFacts(base_url="http://config/v1", api_key=Secret("k"), default_model="m")
    setup = ModelSetup(http=HTTP, providers={spelled: facts})
    choice = resolve_model(None, setup, builtin_providers())
    assert (choice.name, choice.config.base_url) == ("openai/m", "http://config/v1")


def test_a_configured_alias_counts_as_its_provider() -> None:
    choice = resolve(None, {}, Kimi=ProviderFacts(api_key=Secret("k")))
    assert (choice.name, choice.config.api_key) == ("moonshot/kimi-k2.5", Secret("k"))


@pytest.mark.parametrize(
    ("environ", "key"),
    [
        ({"GEMINI_API_KEY": "first", "GOOGLE_API_KEY": "second"}, "first"),
        ({"GEMINI_API_KEY": " ", "GOOGLE_API_KEY": "second"}, "second"),
    ],
)
def test_the_first_key_that_is_set_is_used(environ: Mapping[str, str], key: str) -> None:
    assert resolve("gemini", environ).config.api_key == Secret(key)


def test_a_server_that_wants_a_header_gets_a_dummy_key() -> None:
    vllm_url = {"VLLM_BASE_URL": "http://h/v1"}
    assert resolve("vllm/m", vllm_url).config.api_key == Secret("token")
    keyed = resolve("vllm/m", vllm_url | {"VLLM_API_KEY": "real"})
    assert keyed.config.api_key == Secret("real")


def test_a_server_without_a_usual_model_is_asked_for_one() -> None:
    choice = resolve("vllm", {"VLLM_BASE_URL": "http://h/v1"})
    assert (choice.model, choice.undecided) == ("", True)


def test_a_found_server_comes_after_whatever_the_user_connected() -> None:
    setup = ModelSetup(
        http=HTTP, environ={"GROQ_API_KEY": "k"}, found={"ollama": "http://127.0.0.1:11434/v1"}
    )
    connected = connected_providers(setup, builtin_providers())
    assert [entry.name for entry in connected] == ["groq", "ollama"]


def test_the_users_hints_reach_the_provider() -> None:
    models = {"OpenAI/gpt-4o": ModelFacts(hints=(("vision", False),))}
    setup = ModelSetup(http=HTTP, environ=KEYED, models=models)
    config = resolve_model("gpt-4o", setup, builtin_providers()).config
    assert config.hints == (("vision", False),)
