"""What a workspace's files may say to anyone, and what of it needs the person's trust.

Whoever made a repository wrote its ``.octo/config.json`` and its ``.env``. ``HARMLESS`` lists the
settings that neither run a program nor say where words, keys and money go, and those that may
only be made stricter; every other setting, and every variable, needs trust.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from octo_lab.config.layers import Json
from octo_lab.core.errors import ConfigError
from octo_lab.core.text import truncate_utf8, visible
from octo_lab.security.env import looks_secret
from octo_lab.security.redact import redact

DOTENV = ".env"
MASK = "***"
_REFERENCE = re.compile(r"\$\{[^}]*\}")
_LONGEST = 2000  # bytes of a value that are shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """One setting or variable of a workspace's file; ``path`` leads to it."""

    path: tuple[str, ...]
    value: Any

    @property
    def key(self) -> str:
        return ".".join(self.path)

    @property
    def name(self) -> str:
        """The key as it can be shown anywhere."""
        return truncate_utf8(visible(self.key).replace("\n", "\\n").replace("`", "'"), 80)

    @property
    def lines(self) -> tuple[str, ...]:
        """``key = value`` for a person to judge, secrets masked; a line for each hook, so that a
        long one hides no other.
        """
        if isinstance(self.value, list) and any(isinstance(one, dict) for one in self.value):
            parts = [(f"{self.name}[{n}]", one) for n, one in enumerate(self.value)]
        else:
            parts = [(self.name, self.value)]
        return tuple(f"{name} = {_cut(self._shown(value))}" for name, value in parts)

    def _shown(self, value: Any) -> str:
        text = value if isinstance(value, str) else json.dumps(value)
        secret = looks_secret(self.path[-1]) or self.key == "network.proxy"
        if secret and text and not _REFERENCE.fullmatch(text):
            return MASK
        return redact.to_judge(visible(text)).replace("\n", "\\n")


def _cut(text: str) -> str:
    left_out = len(text.encode()) - _LONGEST
    return truncate_utf8(text, _LONGEST, f" … (cut: {left_out:,} bytes more)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A value that a workspace's file gives, and what holds without that file."""

    value: Any
    held: Any
    below: Json


Check = Callable[[Wish], bool]


def _anything(_: Wish) -> bool:
    return True


def _at_most(wish: Wish) -> bool:
    """A bound that is no wider; None is no bound."""
    return _is_number(wish.value) and (
        wish.held is None or (_is_number(wish.held) and wish.value <= wish.held)
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _adds(wish: Wish) -> bool:
    """A list that still has all it had."""
    lists = isinstance(wish.value, list) and isinstance(wish.held, list)
    return lists and all(one in wish.value for one in wish.held)


def _off(wish: Wish) -> bool:
    return wish.value is False


def _strict(wish: Wish) -> bool:
    return bool(wish.value == "strict")


def _denies(wish: Wish) -> bool:
    """``deny`` wins over every other rule; ``ask`` must not take the place of one that denies."""
    if wish.value == "deny":
        return True
    tools = wish.below.get("tools", {})
    rulings = [tools.get("python"), *_values(tools, "rules"), *_values(tools, "risks")]
    return wish.value == "ask" and "deny" not in rulings


def _values(tools: Json, name: str) -> Iterable[Any]:
    held = tools.get(name)
    return held.values() if isinstance(held, dict) else ()


HARMLESS: Mapping[str, Check] = {
    "version": _anything,
    **dict.fromkeys(("limits.iterations", "limits.tokens", "limits.seconds"), _at_most),
    **dict.fromkeys(("limits.idle", "limits.turns", "limits.rounds", "limits.calls.*"), _at_most),
    **dict.fromkeys(("session.history", "session.compact", "session.queue_mode"), _anything),
    **dict.fromkeys(("session.compact_with", "session.overflow", "session.patience"), _anything),
    **dict.fromkeys(("session.workers", "session.queue"), _at_most),
    **dict.fromkeys(("tools.deny", "security.private_paths", "security.private_variables"), _adds),
    **dict.fromkeys(("tools.python", "tools.rules.*", "tools.risks.*"), _denies),
    **dict.fromkeys(("tools.timeout", "tools.approval_seconds"), _at_most),
    "workspace.mode": _strict,
    **dict.fromkeys(("sandbox.network", "local.detect"), _off),
    **dict.fromkeys(("sandbox.memory", "sandbox.file_size"), _at_most),
    **dict.fromkeys(("sandbox.processes", "sandbox.cpus"), _at_most),
    "local.threads": _anything,
    "gateway.port": _anything,
    # What /config sets is here, so that nobody is asked about what octo_lab wrote for them.
    **dict.fromkeys(("web_search.count", "web_fetch.extract_mode"), _anything),
    **dict.fromkeys(("web_fetch.max_chars", "deep_crawl.page_settle_ms"), _anything),
    **dict.fromkeys(("deep_crawl.max_output_chars",), _anything),
    **dict.fromkeys(("browser.action_timeout_secs", "browser.idle_timeout_secs"), _anything),
}
"""By dotted key or pattern."""


def split(layer: Json, below: Json) -> tuple[Json, tuple[Demand, ...]]:
    """The layer without what needs trust, and that. ``below`` is what holds without the layer."""
    harmless: Json = {}
    demands: list[Demand] = []
    for demand in _leaves(layer):
        if _is_harmless(demand, below):
            _put(harmless, demand)
        else:
            demands.append(demand)
    return harmless, tuple(demands)


def fingerprint(demands: Iterable[Demand]) -> str:
    """Of what is demanded, in whatever order; '' of nothing."""
    listed = sorted(json.dumps([one.path, one.value], sort_keys=True) for one in demands)
    return hashlib.sha256("\n".join(listed).encode()).hexdigest() if listed else ""


def of_variables(variables: Mapping[str, str]) -> tuple[Demand, ...]:
    """Any variable may steer a program or say where a key goes, and be the key of somebody else."""
    return tuple(Demand(path=(DOTENV, name), value=value) for name, value in variables.items())


def of_fault(fault: ConfigError) -> tuple[Demand, ...]:
    """A ``.env`` that cannot be read."""
    return (Demand(path=(DOTENV,), value=str(fault)),)


def _leaves(values: Json, path: tuple[str, ...] = ()) -> Iterator[Demand]:
    for name, value in values.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, (*path, name))
        else:
            yield Demand(path=(*path, name), value=value)


def _is_harmless(demand: Demand, below: Json) -> bool:
    """A value that names a variable never is: it would carry it elsewhere."""
    if "${" in json.dumps(demand.value):
        return False
    held = _at(below, demand.path)
    if demand.value in ({}, held):
        return True
    check = next((c for key, c in HARMLESS.items() if fnmatchcase(demand.key, key)), None)
    return check is not None and check(Wish(value=demand.value, held=held, below=below))


def _at(values: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        values = values.get(name) if isinstance(values, dict) else None
    return values


def _put(values: Json, demand: Demand) -> None:
    for name in demand.path[:-1]:
        values = values.setdefault(name, {})
    values[demand.path[-1]] = demand.value
