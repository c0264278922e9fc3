"""Which model answers a turn: a configured one, a replayed one, or always the same."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from octo_lab.core.errors import OctoError, UsageError
from octo_lab.core.registry import Registry
from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.provider import Provider
from octo_lab.llm.registry import (
    ModelChoice,
    ModelSetup,
    open_model,
    replay_model,
    resolve_model,
)

OPEN_MODELS = 32
CassetteMode = Literal["record", "replay", "off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenModel:
    """A provider ready for use; ``note`` is one line about why it was chosen, if that matters."""

    provider: Provider
    note: str = ""

    @property
    def name(self) -> str:
        return f"{self.provider.name}/{self.provider.model}"


class ModelSource(Protocol):
    """Turns the name a person gave into a model."""

    def choose(self, name: str | None) -> ChosenModel:
        """The model called ``name`` (``None``: the usual one); raises ConfigError, UsageError."""
        ...

    def names(self) -> tuple[str, ...]:
        """Models worth offering, as ``provider/model``."""
        ...

    async def use_cassette(self, mode: CassetteMode, path: Path) -> None:
        """Record all model traffic, replay it, or end either; raises OctoErrors."""
        ...


@dataclass(frozen=True, slots=True)
class OneModel:
    """A source for whoever brings a provider of their own."""

    provider: Provider

    def choose(self, name: str | None) -> ChosenModel:
        return ChosenModel(provider=self.provider)

    def names(self) -> tuple[str, ...]:
        return (self.choose(None).name,)

    async def use_cassette(self, mode: CassetteMode, path: Path) -> None:
        raise UsageError("Only a configured model can be recorded or replayed")


class ConfiguredModels:
    """The models of the registry as the settings and variables connect them."""

    def __init__(self, setup: ModelSetup, registry: Registry[ProviderEntry]) -> None:
        self._setup = setup
        self._registry = registry
        self._tape: ModelChoice | None = None
        self._opened: dict[str, Provider] = {}

    def choose(self, name: str | None) -> ChosenModel:
        choice = self._tape or resolve_model(name, self._setup, self._registry)
        return ChosenModel(provider=self._open(choice), note=choice.note)

    def names(self) -> tuple[str, ...]:
        return tuple(name for entry in self._registry for name in self._usable(entry))

    async def use_cassette(self, mode: CassetteMode, path: Path) -> None:
        http = self._setup.http
        self._tape = None
        self._opened.clear()
        if mode == "replay":
            self._tape = replay_model(await http.replay(path), http)
        elif mode == "record":
            await http.record(path)
        else:
            http.live()

    def _open(self, choice: ModelChoice) -> Provider:
        """An adapter is made once per model, because making it costs more than using it."""
        found = self._opened.get(choice.name)
        if found is None:
            if len(self._opened) >= OPEN_MODELS:
                self._opened.clear()
            found = self._opened[choice.name] = open_model(choice)
        return found

    def _usable(self, entry: ProviderEntry) -> tuple[str, ...]:
        try:
            return (resolve_model(entry.name, self._setup, self._registry).name,)
        except OctoError:
            return ()
