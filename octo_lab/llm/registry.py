"""Built-in providers, and which of them a model's name means. To add one: write its module, add
it to ``BUILTIN``.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import urlsplit

from octo_lab.core.errors import ConfigError, UsageError
from octo_lab.core.registry import Registry
from octo_lab.llm.address import check_address
from octo_lab.llm.cassette import CassetteHeader
from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.metering.cost import Priced
from octo_lab.llm.metering.pricing import PRICES
from octo_lab.llm.provider import Provider
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.providers import (
    anthropic,
    dashscope,
    deepseek,
    gemini,
    groq,
    llamacpp,
    lmstudio,
    local,
    minimax,
    moonshot,
    nvidia,
    offline,
    ollama,
    openai,
    openrouter,
    vllm,
    zai,
    zhipu,
)
from octo_lab.llm.resilience.retry import Retrying, RetryPolicy
from octo_lab.llm.secret import Secret
from octo_lab.llm.setup import (
    NOTHING_KNOWN,
    ModelFacts,
    ModelSetup,
    ProviderFacts,
    model_facts,
)
from octo_lab.llm.wires.chat.wire import CHAT
from octo_lab.llm.wires.dialects import DIALECTS, speaks

__all__ = [
    "BUILTIN",
    "NOTHING_KNOWN",
    "Chooser",
    "ModelChoice",
    "ModelFacts",
    "ModelSetup",
    "ProviderConfig",
    "ProviderEntry",
    "ProviderFacts",
    "builtin_providers",
    "connected_providers",
    "model_facts",
    "open_model",
    "provider_choice",
    "replay_model",
    "resolve_model",
]

# In this order a model's name is looked for.
BUILTIN = (
    anthropic.ENTRY,
    openai.ENTRY,
    gemini.ENTRY,
    openrouter.ENTRY,
    deepseek.ENTRY,
    groq.ENTRY,
    moonshot.ENTRY,
    dashscope.ENTRY,
    minimax.ENTRY,
    zhipu.ENTRY,
    zai.ENTRY,
    nvidia.ENTRY,
    ollama.ENTRY,
    lmstudio.ENTRY,
    llamacpp.ENTRY,
    vllm.ENTRY,
    local.ENTRY,
    offline.ENTRY,
)
OFFLINE_NOTE = (
    "No model is configured: the built-in offline helper answers. It is no language model; "
    "set OPENAI_API_KEY or OPENAI_BASE_URL to connect one."
)
_REPLAY_URL = "http://cassette.invalid/v1"
Chooser = Literal["name", "config", "provider", "server", "default"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """The provider and model that were meant; ``note`` is one line for the user, or ''.

    ``chosen_by`` says who named the model; ``others`` are providers that might have been taken.
    """

    entry: ProviderEntry
    model: str
    config: ProviderConfig
    note: str = ""
    chosen_by: Chooser = "name"
    others: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """As it is written: ``provider/model``."""
        return f"{self.entry.name}/{self.model}"

    @property
    def undecided(self) -> bool:
        """Whether nobody named a model, so that a server of one's own should be asked."""
        return self.chosen_by == "default" and bool(self.config.base_url) and not self.official

    @property
    def official(self) -> bool:
        """Whether it is the vendor's own server, whose usual model is known to be there."""
        return _official(self.entry, self.config.base_url)

    def with_model(
        self, model: str, note: str = "", models: Mapping[str, ModelFacts] = NOTHING_KNOWN
    ) -> ModelChoice:
        """The same with the model that the server named; ``models`` is what the user knows."""
        config = _of_model(replace(self.config, model=model), self.entry, models)
        return replace(self, model=model, config=config, note=note, chosen_by="server")


def builtin_providers() -> Registry[ProviderEntry]:
    return Registry("provider", BUILTIN)


def open_model(choice: ModelChoice, policy: RetryPolicy = RetryPolicy()) -> Provider:
    """The provider itself, asking again where that helps."""
    return Retrying(Priced(choice.entry.open(choice.config), choice.config.price), policy)


def resolve_model(
    name: str | None, setup: ModelSetup, registry: Registry[ProviderEntry]
) -> ModelChoice:
    """What ``name`` means: ``provider/model``, ``provider``, or a bare model that can be detected.

    ``None`` takes the configured model, else the first provider with a key or a base URL in
    config, in its order, or in the environment, else the GGUF file of ``local.model``, else
    ``offline`` with a note. Raises UsageError for an unknown name, ConfigError for a known one
    that lacks its key or base URL.
    """
    wanted = name or setup.model
    if wanted:
        entry, model = _named(wanted.strip(), _entries(setup, registry), setup)
        return _choice(entry, model, setup, by="name" if name else "config")
    connected = connected_providers(setup, registry)
    if connected:
        others = tuple(entry.name for entry in connected[1:])
        return replace(_choice(connected[0], "", setup), others=others)
    if setup.local.model:
        return _choice(registry[local.NAME], "", setup)
    return replace(_choice(registry[offline.NAME], "", setup), note=OFFLINE_NOTE)


def connected_providers(
    setup: ModelSetup, registry: Registry[ProviderEntry]
) -> list[ProviderEntry]:
    """Those with a key or a base URL of the user's, the configured ones first, in their order;
    then those whose server was found on this machine.
    """
    entries = _entries(setup, registry)
    configured = [entry for name in setup.providers if (entry := _find(name, entries))]
    ordered = {entry.name: entry for entry in (*configured, *entries)}
    connected = [entry for entry in ordered.values() if setup.connects(entry)]
    return sorted(connected, key=lambda entry: not setup.chose(entry))


def provider_choice(entry: ProviderEntry, setup: ModelSetup) -> ModelChoice:
    """How the provider is reached when no model is named; raises ConfigError."""
    return _choice(entry, "", setup)


def replay_model(header: CassetteHeader, http: ModelHttp) -> ModelChoice:
    """The provider that reads a cassette: no key, no network, no configuration.

    It speaks what was recorded, also where a base URL of the user's decided that.
    """
    entry = next((entry for entry in BUILTIN if entry.name == header.provider), None)
    entry = entry or ProviderEntry(name=header.provider, wire=CHAT)
    config = ProviderConfig(
        name=header.provider, model=header.model, http=http, base_url=_REPLAY_URL
    )
    wire, recorded = entry.spoken(config), DIALECTS.get(header.dialect)
    if wire and recorded and not speaks(wire, header.dialect, config):
        entry = replace(entry, wire=recorded, wire_for=None)
    return ModelChoice(entry=entry, model=header.model, config=config)


def _entries(setup: ModelSetup, registry: Registry[ProviderEntry]) -> list[ProviderEntry]:
    return [*registry, *_configured(setup, registry)]


def _configured(setup: ModelSetup, registry: Registry[ProviderEntry]) -> Iterator[ProviderEntry]:
    """Providers that only the user knows: any OpenAI-compatible server, by its base URL."""
    known = {name for entry in registry for name in entry.names}
    for name, facts in setup.providers.items():
        if name.lower() in known:
            continue
        if not name.strip() or "/" in name or not name.isprintable():
            raise ConfigError(
                f"No provider can be called {name!r}",
                hint=f"rename providers.{name}: a slash ends a provider's name",
            )
        if not facts.base_url:
            raise ConfigError(
                f"The configured provider {name!r} is unknown and has no base_url",
                hint=f"give it a base_url, or use one of: {', '.join(sorted(known))}",
            )
        yield ProviderEntry(name=name, needs_key=False, wire_for=openai.wire_for)


def _named(
    wanted: str, entries: list[ProviderEntry], setup: ModelSetup
) -> tuple[ProviderEntry, str]:
    head, slash, tail = wanted.partition("/")
    entry = _find(head, entries)
    if entry is not None:
        theirs = slash and head.lower() != entry.name.lower()  # "qwen/…" may be a whole name
        if not theirs or setup.connects(entry):
            return entry, tail
    host = _any_server(entries, setup)  # a server of one's own may serve any name
    if entry is not None:
        return (host, wanted) if host else (entry, tail)
    detected = None if slash else _detect(wanted, entries)
    if detected is not None and (host is None or setup.connects(detected)):
        return detected, wanted
    if host is not None:
        return host, wanted
    raise _unknown(wanted, head if slash else "", entries)


def _find(name: str, entries: Iterable[ProviderEntry]) -> ProviderEntry | None:
    low = name.lower()
    return next((e for e in entries if low in e.names), None)


def _detect(model: str, entries: list[ProviderEntry]) -> ProviderEntry | None:
    low = model.lower()
    by_prefix = (e for e in entries if e.prefixes and low.startswith(e.prefixes))
    by_part = (e for e in entries if any(part in low for part in e.detect))
    return next(by_prefix, None) or next(by_part, None)


def _any_server(entries: list[ProviderEntry], setup: ModelSetup) -> ProviderEntry | None:
    """The one provider whose base URL the user gave, if it is only one."""
    own = [entry for entry in entries if setup.base_url(entry)]
    return own[0] if len(own) == 1 else None


def _unknown(wanted: str, provider: str, entries: list[ProviderEntry]) -> UsageError:
    names = [name for entry in entries for name in (entry.name, *entry.aliases)]
    if provider:
        near = difflib.get_close_matches(provider.lower(), names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names)}"
        return UsageError(f"No provider named {provider!r}", hint=hint)
    models = [entry.default_model for entry in entries if entry.default_model]
    near = difflib.get_close_matches(wanted.lower(), [*names, *models], n=1)
    guess = f"did you mean {near[0]!r}? otherwise " if near else ""
    own = ", ".join(entry.name for entry in entries)
    hint = f"{guess}write it as provider/model; providers: {own}"
    return UsageError(f"No provider or known model is called {wanted!r}", hint=hint)


def _choice(
    entry: ProviderEntry, model: str, setup: ModelSetup, *, by: Chooser = "name"
) -> ModelChoice:
    facts = setup.facts(entry)
    if not model:
        by = "provider" if facts.default_model else "default"
    own = setup.base_url(entry)
    key = setup.key(entry)
    if key is None and entry.dummy_key:
        key = Secret(entry.dummy_key)
    if entry.base_url_env and not (own or entry.base_url):
        raise ConfigError(
            f"The provider {entry.name!r} needs a base URL",
            hint=f"set {entry.base_url_env}, or providers.{entry.name}.base_url in the config",
        )
    if entry.needs_key and not (key or own):
        variable = f"{entry.api_key_envs[0]}, or " if entry.api_key_envs else ""
        raise ConfigError(
            f"No key for {entry.name!r}",
            hint=f"set {variable}providers.{entry.name}.api_key in the config",
        )
    base_url = (own or entry.base_url).rstrip("/")
    if base_url:
        check_address(entry.name, base_url)
    model = model or facts.default_model or entry.default_model
    if entry.name == local.NAME:
        model = model or setup.local.model
    config = ProviderConfig(
        name=entry.name,
        model=model,
        http=setup.http,
        base_url=base_url,
        api_key=key,
        local=setup.local,
    )
    config = _of_model(config, entry, setup.models)
    return ModelChoice(entry=entry, model=model, config=config, chosen_by=by)


def _bound(config: ProviderConfig) -> int | None:
    """The window of a model that is run here: memory bounds it."""
    return config.local.context if config.name == local.NAME else None


def _of_model(
    config: ProviderConfig, entry: ProviderEntry, models: Mapping[str, ModelFacts]
) -> ProviderConfig:
    """The same with what is known of its model: list prices are those of a vendor's own server."""
    facts = model_facts(entry.name, config.model, models)
    listed = _official(entry, config.base_url)
    price = PRICES.price(config.model, entry.name) if listed else None
    return replace(
        config,
        hints=facts.hints,
        price=facts.price or price,
        context_window=facts.context_window or _bound(config),
    )


def _official(entry: ProviderEntry, base_url: str) -> bool:
    return entry.needs_key and urlsplit(base_url).hostname == urlsplit(entry.base_url).hostname
