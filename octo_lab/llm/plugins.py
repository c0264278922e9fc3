"""Providers of installed plugins: entry points of the group ``octo_lab.providers``."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points

from octo_lab.llm.entry import ProviderEntry

GROUP = "octo_lab.providers"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PluginProblem:
    """Why what a plugin gives cannot be used, in one line."""

    plugin: str
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedProviders:
    """What the plugins gave, and what of it could not be used."""

    providers: tuple[ProviderEntry, ...]
    problems: tuple[PluginProblem, ...]


def plugin_providers(
    builtin: Iterable[ProviderEntry], entries: Iterable[EntryPoint] | None = None
) -> LoadedProviders:
    """Load them; this imports foreign code, and blocks.

    An entry point names a ``ProviderEntry`` or a sequence of them. One that fails to load, or
    takes a name or alias of another provider, is reported and left out.
    """
    taken = {name for entry in builtin for name in entry.names}
    providers: list[ProviderEntry] = []
    problems: list[PluginProblem] = []
    for entry in entry_points(group=GROUP) if entries is None else entries:
        loaded = _load(entry)
        if isinstance(loaded, str):
            problems.append(PluginProblem(entry.name, loaded))
            continue
        for provider in loaded:
            clash = sorted(taken.intersection(provider.names))
            if clash:
                line = _left_out(provider, entry.name, clash[0])
                problems.append(PluginProblem(entry.name, line))
                continue
            taken.update(provider.names)
            providers.append(provider)
    return LoadedProviders(providers=tuple(providers), problems=tuple(problems))


def _left_out(provider: ProviderEntry, plugin: str, name: str) -> str:
    return f"The provider {provider.name!r} of plugin {plugin!r} is left out: {name!r} is taken"


def _load(entry: EntryPoint) -> tuple[ProviderEntry, ...] | str:
    try:
        loaded = entry.load()
    except Exception as exc:
        logger.warning("Provider plugin %r", entry.name, exc_info=exc)
        kind = type(exc).__name__
        return f"The provider plugin {entry.name!r} could not be loaded: {kind}: {exc}"
    providers = (loaded,) if isinstance(loaded, ProviderEntry) else loaded
    if isinstance(providers, tuple | list) and all(_usable(one) for one in providers):
        return tuple(providers)
    return f"The provider plugin {entry.name!r} gives {type(loaded).__name__}, which cannot be used"


def _usable(provider: object) -> bool:
    """Whether it is an entry that says how its models are asked."""
    if not isinstance(provider, ProviderEntry):
        return False
    return bool(provider.name and (provider.wire or provider.wire_for or provider.create))
