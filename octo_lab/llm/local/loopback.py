"""Looks for model servers on this machine: Ollama, LM Studio, llama.cpp.

A server is what it answers, not what port it has: Ollama tells its version at ``/api/version`` and
its models at ``/api/tags``, LM Studio its models at ``/api/v0/models`` with their types, llama.cpp
its slots at ``/props`` and its model at ``/v1/models``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import anyio

from octo_lab.core.errors import OctoError
from octo_lab.core.text import clean
from octo_lab.llm.http import HttpCall, ModelHttp
from octo_lab.llm.local.policy import LocalPolicy, ServerKind
from octo_lab.llm.model_lists import LONGEST_NAME, MOST

BUDGET = 0.14  # seconds, for all servers together: with its overhead below 150 ms
FRESH = 15.0  # seconds that a look is believed, whatever it found
MAX_ANSWER = 262_144
HOSTS = ("127.0.0.1", "[::1]")
Ask = Callable[[str], Awaitable[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundServer:
    """A server that runs on this machine; ``models`` are those that chat, loaded ones first."""

    kind: ServerKind
    base_url: str
    models: tuple[str, ...]


class Loopback:
    """Remembers for some seconds what was found; it looks only when asked."""

    def __init__(
        self, *, clock: Callable[[], float] = time.monotonic, budget: float = BUDGET
    ) -> None:
        self._clock = clock
        self._budget = budget
        self._looking = anyio.Lock()
        self._seen: dict[LocalPolicy, _Seen] = {}

    def known(self, policy: LocalPolicy) -> tuple[FoundServer, ...]:
        """What the last look found, without a new one."""
        seen = self._seen.get(policy)
        return seen.servers if seen and policy.detect else ()

    async def servers(
        self, policy: LocalPolicy, http: ModelHttp, *, anew: bool = False
    ) -> tuple[FoundServer, ...]:
        """Those that answer within the budget, in the order of the policy."""
        if not policy.detect or http.replaying:
            return ()
        async with self._looking:
            seen = self._seen.get(policy)
            if seen is None or anew or self._clock() - seen.at > FRESH:
                found = await look(policy, http, self._budget)
                seen = _Seen(servers=found, at=self._clock())
                self._seen = {policy: seen}
        return seen.servers


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    servers: tuple[FoundServer, ...]
    at: float


async def look(
    policy: LocalPolicy, http: ModelHttp, budget: float = BUDGET
) -> tuple[FoundServer, ...]:
    """Ask all at once, by IPv4 and IPv6; what has not answered in time is not there."""
    places = [(kind, f"http://{host}:{port}") for kind, port in policy.ports for host in HOSTS]
    found: dict[int, FoundServer] = {}

    async def ask(index: int, kind: ServerKind, root: str) -> None:
        models = await _models(kind, root, http, budget)
        if models is not None:
            found[index] = FoundServer(kind=kind, base_url=f"{root}/v1", models=models)

    with anyio.move_on_after(budget):
        async with anyio.create_task_group() as tasks:
            for index, (kind, root) in enumerate(places):
                tasks.start_soon(ask, index, kind, root)
    first = {found[index].kind: found[index] for index in sorted(found, reverse=True)}
    return tuple(first[kind] for kind, _ in policy.ports if kind in first)


async def _models(
    kind: ServerKind, root: str, http: ModelHttp, patience: float
) -> tuple[str, ...] | None:
    """The names of its models that chat; None where no such server answers."""

    async def ask(path: str) -> Mapping[str, Any]:
        call = HttpCall(
            provider=kind, model="", url=f"{root}{path}", headers={"accept": "application/json"}
        )
        return _object(await http.get(call, patience))

    try:
        names = await _KINDS[kind](ask)
    except (OctoError, ValueError, RecursionError):
        return None
    good = (name for name in names if 0 < len(name) <= LONGEST_NAME and name.isprintable())
    return tuple(dict.fromkeys(map(clean, good)))[:MOST]


async def _ollama(ask: Ask) -> list[str]:
    version = await ask("/api/version")
    if not isinstance(version.get("version"), str):
        raise ValueError("no Ollama")
    return [str(one.get("name", "")) for one in _listed(await ask("/api/tags"), "models")]


async def _lmstudio(ask: Ask) -> list[str]:
    models = _listed(await ask("/api/v0/models"), "data")
    if not all(isinstance(one.get("type"), str) for one in models):
        raise ValueError("no LM Studio")
    chat = [one for one in models if one["type"] in ("llm", "vlm")]
    chat.sort(key=lambda one: one.get("state") != "loaded")
    return [str(one.get("id", "")) for one in chat]


async def _llamacpp(ask: Ask) -> list[str]:
    props = await ask("/props")
    if "default_generation_settings" not in props:
        raise ValueError("no llama.cpp")
    return [str(one.get("id", "")) for one in _listed(await ask("/v1/models"), "data")]


_KINDS: Mapping[ServerKind, Callable[[Ask], Awaitable[list[str]]]] = {
    "ollama": _ollama,
    "lmstudio": _lmstudio,
    "llamacpp": _llamacpp,
}


def _object(body: bytes) -> Mapping[str, Any]:
    if len(body) > MAX_ANSWER:
        raise ValueError("too long")
    found = json.loads(body)
    if not isinstance(found, dict):
        raise ValueError("no object")
    return found


def _listed(answer: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    items = answer.get(name)
    if not isinstance(items, list):
        raise ValueError("no list")
    return [one for one in items if isinstance(one, dict)]
