"""Says which source won for a model, its provider, its base URL and its key; shows no secret."""

from __future__ import annotations

from urllib.parse import urlsplit

from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.registry import ModelChoice, ModelSetup
from octo_lab.llm.secret import Secret

BUILT_IN = "built in"
FOUND = "found on this machine"
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
    return f"missing (set {source})" if entry.needs_key and source else NONE


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
            return "chosen in this session"
        case "config":
            return _file("model", setup)
        case "provider":
            return _file(f"providers.{setup.spelled(choice.entry)}.default_model", setup)
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
    if url := setup.facts(entry).base_url:
        return url, _file(f"providers.{setup.spelled(entry)}.base_url", setup)
    name, url = setup.variable((entry.base_url_env,))
    if url:
        return url, _variable(name, setup)
    if url := setup.found.get(entry.name, ""):
        return url, FOUND
    return entry.base_url, BUILT_IN


def _key(entry: ProviderEntry, setup: ModelSetup) -> tuple[Secret | None, str]:
    """The key and where it came from; without a key, the variable that would hold it."""
    if key := setup.facts(entry).api_key:
        return key, _file(f"providers.{setup.spelled(entry)}.api_key", setup)
    name, value = setup.variable(entry.api_key_envs)
    if value:
        return Secret(value), _variable(name, setup)
    own_url = _base_url(entry, setup)[1] != BUILT_IN
    return None, "" if own_url or not entry.api_key_envs else entry.api_key_envs[0]


def _file(key: str, setup: ModelSetup) -> str:
    return f"from {setup.sources.get(key, 'config')}: {key}"


def _variable(name: str, setup: ModelSetup) -> str:
    return f"from {setup.variables.get(name, 'environment')} {name}"
