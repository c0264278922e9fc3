"""Which model answers a turn: a configured one, a replayed one, or always the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol

from octo_lab.core.errors import ConfigError, OctoError, Unavailable, UsageError
from octo_lab.core.registry import Registry
from octo_lab.core.replies import ModelCard, ProviderInfo, Routing
from octo_lab.llm.cassette import TapeUse
from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.local.choosing import found_note, with_found
from octo_lab.llm.local.loopback import Loopback
from octo_lab.llm.model_lists import PATIENCE, ModelLists, NamesModels, pick
from octo_lab.llm.origins import connection
from octo_lab.llm.plugins import PluginProblem
from octo_lab.llm.provider import Provider
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.providers import offline
from octo_lab.llm.registry import (
    ModelChoice,
    ModelSetup,
    connected_providers,
    open_model,
    provider_choice,
    replay_model,
    resolve_model,
)
from octo_lab.llm.resilience.policy import Mode
from octo_lab.llm.survey import survey
from octo_lab.llm.tokens import context_window
from octo_lab.session.model_cards import model_cards
from octo_lab.session.sharing import Shares

OPEN_MODELS = 32
GLANCE = 0.5  # seconds a fallback's server may take to say which models it has
CassetteMode = Literal["record", "replay", "off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenModel:
    """A provider ready for use; ``note`` is one line about why it was chosen, if that matters.

    ``choice`` is what the registry made it of, if it did.
    """

    provider: Provider
    note: str = ""
    choice: ModelChoice | None = None

    @property
    def name(self) -> str:
        return f"{self.provider.name}/{self.provider.model}"

    @property
    def window(self) -> int:
        """How many tokens it takes: what the user set, else what is known of it."""
        own = self.choice.config.context_window if self.choice else None
        return own or context_window(self.provider.model)


@dataclass(frozen=True, slots=True, kw_only=True)
class CassetteUse:
    """The use of a cassette that ended, and the one that began."""

    ended: TapeUse | None = None
    begun: TapeUse | None = None


class ModelSource(Protocol):
    """Turns the name a person gave into a model."""

    async def choose(self, name: str | None, patience: float = PATIENCE) -> ChosenModel:
        """The model called ``name`` (``None``: the usual one); raises OctoErrors.

        Where nobody named a model, its server is asked, for at most ``patience`` seconds.
        """
        ...

    async def alone(self, name: str) -> ChosenModel:
        """The model itself: asked once, and no other in its place; raises OctoErrors."""
        ...

    def connection(self, chosen: ChosenModel) -> Mapping[str, str]:
        """Which source won for the model, its provider, base URL and key; no secret in it."""
        ...

    async def providers(self, patience: float) -> tuple[ProviderInfo, ...]:
        """Those that can be used, each asked for its models for at most so many seconds."""
        ...

    async def routing(self) -> Routing:
        """How the models that share the work are doing; raises OctoErrors."""
        ...

    def share_by(self, mode: Mode) -> None:
        """From the next choice on, let the models share the work so; raises UsageError."""
        ...

    def names(self) -> tuple[str, ...]:
        """Models worth offering, as ``provider/model``."""
        ...

    def cards(self, names: Iterable[str]) -> tuple[ModelCard, ...]:
        """What is known of these models; those of which nothing is are left out."""
        ...

    async def use_cassette(self, mode: CassetteMode, path: Path) -> CassetteUse:
        """Record all model traffic, replay it, or end either; raises OctoErrors."""
        ...


@dataclass(frozen=True, slots=True)
class OneModel:
    """A source for whoever brings a provider of their own."""

    provider: Provider

    async def choose(self, name: str | None, patience: float = PATIENCE) -> ChosenModel:
        return ChosenModel(provider=self.provider)

    async def alone(self, name: str) -> ChosenModel:
        return ChosenModel(provider=self.provider)

    def connection(self, chosen: ChosenModel) -> Mapping[str, str]:
        return {}

    async def providers(self, patience: float) -> tuple[ProviderInfo, ...]:
        return (ProviderInfo(name=self.provider.name, state="built in", models=self.names()),)

    async def routing(self) -> Routing:
        return Routing(mode="off", slots=())

    def share_by(self, mode: Mode) -> None:
        raise UsageError("One model answers: there is none to share the work with")

    def names(self) -> tuple[str, ...]:
        return (ChosenModel(provider=self.provider).name,)

    def cards(self, names: Iterable[str]) -> tuple[ModelCard, ...]:
        return ()

    async def use_cassette(self, mode: CassetteMode, path: Path) -> CassetteUse:
        raise UsageError("Only a configured model can be recorded or replayed")


class ConfiguredModels:
    """The models of the registry as the settings and variables connect them.

    ``problems`` are of plugins whose providers are missing: the list of providers tells them.
    """

    def __init__(
        self,
        setup: ModelSetup,
        registry: Registry[ProviderEntry],
        loopback: Loopback | None = None,
        *,
        problems: Sequence[PluginProblem] = (),
    ) -> None:
        self._setup = setup
        self._problems = tuple(problems)
        self._registry = registry
        self._tape: ModelChoice | None = None
        self._opened: dict[ProviderConfig, Provider] = {}
        self._lists = ModelLists()
        self._loopback = loopback or Loopback()
        self._shares = Shares(setup.routing, self._open)

    async def choose(self, name: str | None, patience: float = PATIENCE) -> ChosenModel:
        choice = self._tape or await self._resolved(name, patience)
        if self._setup.http.tape or not self._setup.routing.fallbacks:
            return ChosenModel(provider=self._open(choice), note=choice.note, choice=choice)
        others, problems = await self._fallbacks(patience)
        row = {one.config: one for one in (choice, *others)}
        provider = self._open(choice)
        if len(row) > 1:
            provider = await self._shares.among(tuple(row.values()))
        note = " ".join(filter(None, (choice.note, *problems, self._shares.problem)))
        return ChosenModel(provider=provider, note=note, choice=choice)

    async def _fallbacks(self, patience: float) -> tuple[list[ModelChoice], list[str]]:
        """Those that can be used, and a line about each that cannot."""
        patience = min(patience, GLANCE)
        choices, problems = [], []
        for name in self._setup.routing.fallbacks:
            try:
                choice = resolve_model(name, self._known, self._registry)
                choices.append(
                    await self._decided(choice, patience) if choice.undecided else choice
                )
            except OctoError as exc:
                problems.append(f"The fallback {name!r} cannot be used: {exc.message}.")
        return choices, problems

    async def alone(self, name: str) -> ChosenModel:
        choice = await self._resolved(name, PATIENCE)
        provider = choice.entry.open(choice.config)
        return ChosenModel(provider=provider, note=choice.note, choice=choice)

    async def _resolved(self, name: str | None, patience: float) -> ModelChoice:
        """Where nothing is configured, servers of this machine come before the offline helper."""
        setup = self._setup
        nobodys = not (name or setup.model or connected_providers(setup, self._registry))
        if nobodys:
            setup = await self._with_found()
        choice = resolve_model(name, setup, self._registry)
        if choice.undecided:
            choice = await self._decided(choice, patience)
        found = nobodys and choice.entry.name in setup.found
        return replace(choice, note=found_note(choice)) if found else choice

    async def _with_found(self) -> ModelSetup:
        """The setup with those that have a model; what they have is not asked again."""
        servers = await self._loopback.servers(self._setup.local, self._setup.http)
        usable = [server for server in servers if server.models]
        for server in usable:
            self._lists.learn(server.base_url, server.models)
        return with_found(self._setup, usable)

    @property
    def _known(self) -> ModelSetup:
        """The setup with what the last look found, without a new one."""
        return with_found(self._setup, self._loopback.known(self._setup.local))

    async def _decided(self, choice: ModelChoice, patience: float) -> ModelChoice:
        """A server that cannot be reached may be back when the turn asks it: it says so then."""
        try:
            models = await self._lists.of(choice.entry, choice.config, patience)
        except Unavailable:
            if choice.model:
                return choice
            raise
        picked = pick(choice.entry.name, models, choice.model)
        return choice.with_model(picked.model, picked.note, self._setup.models)

    def connection(self, chosen: ChosenModel) -> Mapping[str, str]:
        if chosen.choice is None or chosen.choice is self._tape:
            return {}
        return connection(chosen.choice, self._known)

    async def providers(self, patience: float) -> tuple[ProviderInfo, ...]:
        if patience > 0:
            await self._loopback.servers(self._setup.local, self._setup.http, anew=True)
        found = await survey(self._known, self._registry, self._lists, patience)
        return (*found, *map(_broken, self._problems))

    async def routing(self) -> Routing:
        if self._setup.routing.fallbacks and not self._shares.used:
            await self.choose(None, 0.0)
        return self._shares.routing()

    def share_by(self, mode: Mode) -> None:
        if not self._setup.routing.fallbacks:
            raise UsageError(
                "One model answers: there is none to share the work with",
                hint="name others as `fallbacks` in config.json",
            )
        self._shares.share_by(mode)

    def names(self) -> tuple[str, ...]:
        try:
            setup = self._known
            connected = connected_providers(setup, self._registry)
            choices = [provider_choice(entry, setup) for entry in connected]
        except ConfigError:  # said by whoever chooses one
            choices = []
        names = [name for choice in choices for name in self._offered(choice)]
        return (*names, f"{offline.NAME}/{offline.MODEL}")

    def cards(self, names: Iterable[str]) -> tuple[ModelCard, ...]:
        return model_cards(names, self._setup.models)

    def _offered(self, choice: ModelChoice) -> tuple[str, ...]:
        """The usual model, unless only the server knows one, and what it said it has."""
        known = self._lists.known(choice.config)
        usual = () if choice.undecided else (choice.model,)
        return tuple(f"{choice.entry.name}/{m}" for m in dict.fromkeys((*usual, *known)))

    def connect(self, setup: ModelSetup) -> None:
        """From the next choice on, other settings and variables; what was measured stays."""
        before, self._setup = self._setup, setup
        if setup.routing != before.routing:
            self._opened.clear()
            self._shares = Shares(setup.routing, self._open)
        elif setup != before:
            self._shares.renew()

    async def use_cassette(self, mode: CassetteMode, path: Path) -> CassetteUse:
        http = self._setup.http
        ended = http.tape
        tape = None
        if mode == "replay":
            tape = replay_model(await http.replay(path), http)
        elif mode == "record":
            await http.record(path)
        else:
            http.live()
        self._tape = tape  # not before: a file that is none ends no replay
        self._opened.clear()
        return CassetteUse(ended=ended, begun=http.tape)

    def _open(self, choice: ModelChoice) -> Provider:
        """An adapter is made once per model, because making it costs more than using it."""
        found = self._opened.get(choice.config)
        if found is None:
            if len(self._opened) >= OPEN_MODELS:
                self._opened.clear()
            found = open_model(choice, self._setup.routing.retry)
            if choice.config.base_url:
                found = NamesModels(found, choice.entry, choice.config, self._lists)
            self._opened[choice.config] = found
        return found


def _broken(problem: PluginProblem) -> ProviderInfo:
    return ProviderInfo(name=problem.plugin, state="not connected", note=problem.line)
