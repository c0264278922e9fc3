"""Looks at all providers at once: how each is reached, and which models its server has."""

from __future__ import annotations

from dataclasses import replace

import anyio

from octo_lab.core.errors import OctoError, Unavailable
from octo_lab.core.registry import Registry
from octo_lab.core.replies import ProviderInfo
from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.local.policy import PORTS
from octo_lab.llm.model_lists import ModelLists
from octo_lab.llm.origins import base_url_words, key_words
from octo_lab.llm.registry import (
    ModelChoice,
    ModelSetup,
    connected_providers,
    provider_choice,
)

_OF_THIS_MACHINE = frozenset(kind for kind, _ in PORTS)


async def survey(
    setup: ModelSetup, registry: Registry[ProviderEntry], lists: ModelLists, patience: float
) -> tuple[ProviderInfo, ...]:
    """Those with a key or an address first; with no ``patience`` no server is asked.

    A server of this machine that is neither configured nor ``found`` is never asked: any program
    may listen at its usual port.
    """
    connected = connected_providers(setup, registry)
    names = {entry.name for entry in connected}
    named = (setup.model or "").partition("/")[0].lower()
    ordered = (*connected, *(entry for entry in registry if entry.name not in names))
    found = [_info(entry, setup) for entry in ordered]

    async def ask(index: int, choice: ModelChoice) -> None:
        found[index] = await _asked(found[index], choice, lists, patience)

    async with anyio.create_task_group() as tasks:
        for index, entry in enumerate(ordered):
            choice = _reachable(entry, setup)
            if choice is None or patience <= 0:
                continue
            if entry.name in _OF_THIS_MACHINE and entry.name not in {*names, named}:
                found[index] = _not_found(found[index], setup)
            else:
                tasks.start_soon(ask, index, choice)
    return tuple(found)


def _info(entry: ProviderEntry, setup: ModelSetup) -> ProviderInfo:
    if not (entry.base_url or entry.base_url_env or setup.facts(entry).base_url):
        return _built_in(entry, setup)
    info = ProviderInfo(
        name=entry.name,
        state="not checked",
        base_url=base_url_words(entry, setup),
        key=key_words(entry, setup),
    )
    try:
        provider_choice(entry, setup)
    except OctoError as exc:
        return replace(info, state="not connected", note=str(exc))
    return info


def _built_in(entry: ProviderEntry, setup: ModelSetup) -> ProviderInfo:
    try:
        model = provider_choice(entry, setup).model
    except OctoError as exc:
        return ProviderInfo(name=entry.name, state="not connected", note=str(exc))
    if not model:
        return ProviderInfo(name=entry.name, state="not connected", note="no model is configured")
    return ProviderInfo(name=entry.name, state="built in", models=(f"{entry.name}/{model}",))


def _not_found(info: ProviderInfo, setup: ModelSetup) -> ProviderInfo:
    looked = "no such server runs on this machine"
    note = looked if setup.local.detect else "not looked for: local.detect is off"
    return replace(info, state="not connected", note=note)


def _reachable(entry: ProviderEntry, setup: ModelSetup) -> ModelChoice | None:
    try:
        choice = provider_choice(entry, setup)
    except OctoError:
        return None
    return choice if choice.config.base_url else None


async def _asked(
    info: ProviderInfo, choice: ModelChoice, lists: ModelLists, patience: float
) -> ProviderInfo:
    try:
        models = await lists.of(choice.entry, choice.config, patience, anew=True)
    except OctoError as exc:
        state = "not reached" if isinstance(exc, Unavailable) else "refused"
        return replace(info, state=state, note=exc.message)
    names = tuple(f"{info.name}/{model}" for model in models)
    return replace(info, state="reached", models=names)
