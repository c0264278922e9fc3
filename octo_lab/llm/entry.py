"""A provider as facts: what the registry lists and how a provider is made from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from octo_lab.llm.client import ModelHttp
from octo_lab.llm.provider import Provider
from octo_lab.llm.secret import Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderConfig:
    """What a provider is made of; ``name`` is the entry's, ``base_url`` has no trailing slash."""

    name: str
    model: str
    http: ModelHttp
    base_url: str = ""
    api_key: Secret | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderEntry:
    """One provider.

    A bare model name belongs to the first entry with a fitting ``prefixes`` (start of the
    lower-cased name), else ``detect`` (substring). ``needs_key``: without a key it cannot be
    used at its own ``base_url``; another base URL may do without.
    """

    name: str
    create: Callable[[ProviderConfig], Provider]
    aliases: tuple[str, ...] = ()
    base_url: str = ""
    base_url_env: str = ""
    api_key_env: str = ""
    default_model: str = ""
    detect: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    needs_key: bool = True
