"""Says which source won for a model, its provider, its base URL and its key; shows no secret."""

from __future__ import annotations

from urllib.parse import urlsplit

from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.registry import ModelChoice, ModelSetup, ProviderFacts
from octo_lab.llm.secret import Secret

BUILT_IN = "built in"
NONE = "none"


def connection(choice: ModelChoice, setup: ModelSetup) -> dict[str, str]:
    """The four in words, each with where it came from."""
    entry = choice.entry
    rows = {
        "model": f"{choice.model} ({_model_source(choice, setup)})",
        "provider": f"{entry.name} ({_provider_source(choice, setup)})",
    }
    if not choice.config.base_url:  # nothing goes over the network
        return rows
    return rows | {"base URL": base_url_words(entry, setup), "key": key_words(entry, setup)}


def base_url_words(entry: ProviderEntry, setup: ModelSetup) -> str:
    url, source = _base_url(entry, setup)
    return f"{shown_url(url)} ({source})" if url else NONE


def key_words(entry: ProviderEntry, setup: ModelSetup) -> str:
    key, source = _key(entry, setup)
    if key:
        return f"{key.masked} ({source})"
    return f"missing (set {entry.api_key_env})" if entry.needs_key and source else NONE


def shown_url(url: str) -> str:
    """Without what may be secret in it: a password, a query."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "(no web address)"
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def _model_source(choice: ModelChoice, setup: ModelSetup) -> str:
    name = choice.entry.name
    match choice.chosen_by:
        case "name":
            return "chosen in this dialog"
        case "config":
            return _file("model", setup)
        case "provider":
            return _file(f"providers.{name}.default_model", setup)
        case "server":
            return "the server has it"
        case "default":
            return f"the default of {name}"


def _provider_source(choice: ModelChoice, setup: ModelSetup) -> str:
    name = choice.entry.name
    if choice.others:
        return f"the first of those connected: {', '.join((name, *choice.others))}"
    if choice.chosen_by in ("name", "config"):
        return "named with the model"
    url, url_source = _base_url(choice.entry, setup)
    own_url = url and url_source != BUILT_IN
    key, key_source = _key(choice.entry, setup)
    if own_url:
        return url_source
    return key_source if key else BUILT_IN


def _base_url(entry: ProviderEntry, setup: ModelSetup) -> tuple[str, str]:
    facts = setup.providers.get(entry.name, ProviderFacts())
    if facts.base_url:
        return facts.base_url, _file(f"providers.{entry.name}.base_url", setup)
    named = setup.environ.get(entry.base_url_env, "").strip()
    return (named, _variable(entry.base_url_env, setup)) if named else (entry.base_url, BUILT_IN)


def _key(entry: ProviderEntry, setup: ModelSetup) -> tuple[Secret | None, str]:
    facts = setup.providers.get(entry.name, ProviderFacts())
    if facts.api_key:
        return facts.api_key, _file(f"providers.{entry.name}.api_key", setup)
    value = setup.environ.get(entry.api_key_env, "").strip()
    own_url = _base_url(entry, setup)[1] != BUILT_IN
    if value:
        return Secret(value), _variable(entry.api_key_env, setup)
    return None, "" if own_url else entry.api_key_env


def _file(key: str, setup: ModelSetup) -> str:
    return f"from {setup.sources.get(key, 'config')}: {key}"


def _variable(name: str, setup: ModelSetup) -> str:
    return f"from {setup.variables.get(name, 'environment')} {name}"
