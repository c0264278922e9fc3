"""A provider as facts: what the registry lists and how a provider is made from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from octo_lab.llm.provider import Provider
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.wires.streaming import Streaming
from octo_lab.llm.wires.wire import Wire


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderEntry:
    """One provider.

    A bare model name belongs to the first entry with a fitting ``prefixes`` (start of the
    lower-cased name), else ``detect`` (substring). ``needs_key``: without a key it cannot be
    used at its own ``base_url``; another base URL may do without. The first set one of
    ``api_key_envs`` holds the key; ``dummy_key`` is sent where there is none, to servers that
    want a header. ``wire_for`` is for vendors whose models speak more than one dialect, ``create``
    for providers that speak none; each comes before ``wire``.
    """

    name: str
    wire: Wire | None = None
    wire_for: Callable[[ProviderConfig], Wire] | None = None
    create: Callable[[ProviderConfig], Provider] | None = None
    aliases: tuple[str, ...] = ()
    base_url: str = ""
    base_url_env: str = ""
    api_key_envs: tuple[str, ...] = ()
    dummy_key: str = ""
    default_model: str = ""
    detect: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    needs_key: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """What it may be called, in lower case."""
        return (self.name.lower(), *(alias.lower() for alias in self.aliases))

    def spoken(self, config: ProviderConfig) -> Wire | None:
        """The dialect the model is asked in; None where nothing goes over a network."""
        return self.wire_for(config) if self.wire_for else self.wire

    def open(self, config: ProviderConfig) -> Provider:
        if self.create:
            return self.create(config)
        wire = self.spoken(config)
        assert wire is not None, f"the provider {self.name!r} has neither a wire nor create"
        return Streaming(config, wire)
