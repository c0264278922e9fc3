"""Layers of JSON: read, brought to this version, laid over each other, with who set what."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from octo_lab.config.reading import read_settings_file, unreadable
from octo_lab.config.settings import VERSION
from octo_lab.core.errors import ConfigError
from octo_lab.tools.sandbox.own_folder import is_place_holder

Json = dict[str, Any]
Migration = Callable[[Json], Json]

# From each version to the next; the file itself is not rewritten.
MIGRATIONS: Mapping[int, Migration] = {}

_VARIABLE = re.compile(r"\$(?P<escaped>\$)?\{(?P<name>[^}]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """The values that won, and the file each leaf came from, by dotted key."""

    values: Json
    sources: Mapping[str, str]


def read_layer(path: Path) -> Json:
    """One config file at this version, empty when there is none; raises ConfigError."""
    try:
        text = read_settings_file(path)
    except OSError as exc:
        if is_place_holder(path.parent):  # nobody may open it: there is nothing in it
            return {}
        raise unreadable(path, exc) from exc
    return {} if text is None else migrated(_parse(path, text), path)


def _parse(path: Path, text: str) -> Json:
    def once(pairs: list[tuple[str, Any]]) -> Json:
        names = Counter(name for name, _ in pairs)
        if twice := next((name for name, count in names.items() if count > 1), None):
            raise ConfigError(f"{str(path)!r}: {twice!r} is set twice", hint="keep one of them")
        return dict(pairs)

    try:
        values = json.loads(text, object_pairs_hook=once) if text.strip() else {}
    except json.JSONDecodeError as exc:
        raise ConfigError(
            f"{str(path)!r}, line {exc.lineno}, column {exc.colno}: {exc.msg}", hint="fix the JSON"
        ) from None
    except RecursionError:
        raise ConfigError(f"{str(path)!r} is nested too deeply", hint="fix the JSON") from None
    except ValueError:
        raise ConfigError(f"{str(path)!r} holds a number that is too long", hint="fix it") from None
    if not isinstance(values, dict):
        raise ConfigError(f"{str(path)!r} holds no JSON object", hint='begin it with "{"')
    return values


def migrated(
    values: Json,
    path: Path,
    *,
    migrations: Mapping[int, Migration] = MIGRATIONS,
    current: int = VERSION,
) -> Json:
    """The same settings as ``current`` would write them; raises ConfigError for a newer file."""
    version = values.get("version", current)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ConfigError(f"{str(path)!r}: 'version' is no version", hint=f"write {current}")
    if version > current:
        raise ConfigError(
            f"{str(path)!r} was written for a newer octo_lab (version {version},"
            f" this one knows {current})",
            hint="upgrade octo_lab",
        )
    for step in range(version, current):
        values = migrations[step](values)
    return {**values, "version": current}


def merge(layers: Mapping[str, Json]) -> Merged:
    """Lay later layers over earlier ones: objects are joined, everything else is replaced."""
    values: Json = {}
    sources: dict[str, str] = {}
    for source, layer in layers.items():
        values = _joined(values, layer)
        sources |= dict.fromkeys((key for key, _ in leaves(layer)), source)
    kept = {key for key, _ in leaves(values)}
    return Merged(values=values, sources={k: s for k, s in sources.items() if k in kept})


def _joined(below: Json, above: Json) -> Json:
    joined = dict(below)
    for name, value in above.items():
        old = joined.get(name)
        both = isinstance(old, dict) and isinstance(value, dict)
        joined[name] = _joined(old, value) if both else value  # type: ignore[arg-type]
    return joined


def _missing(name: str, left_out: Collection[str]) -> str:
    if name in left_out:
        return "the workspace's .env sets it, which 'octo trust' allows"
    return f"export {name}, or add it to the workspace's .env file"


def leaves(values: Json, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Each value that is no object, with its dotted key."""
    for name, value in values.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def expand(
    merged: Merged, environ: Mapping[str, str], left_out: Collection[str] = frozenset()
) -> Json:
    """Put variables in place of ``${NAME}`` (``$${`` is a plain ``${``); raises ConfigError.

    ``left_out`` are those that the workspace's ``.env`` has and nobody trusts yet.
    """

    def walk(value: Any, key: str) -> Any:
        if isinstance(value, str):
            return _VARIABLE.sub(lambda match: put(match, key), value)
        if isinstance(value, list):
            return [walk(item, key) for item in value]
        if isinstance(value, dict):
            return {n: walk(v, f"{key}.{n}" if key else n) for n, v in value.items()}
        return value

    def put(match: re.Match[str], key: str) -> str:
        if match["escaped"]:
            return match[0][1:]
        if (found := environ.get(match["name"])) is None:
            raise ConfigError(
                f"{merged.sources.get(key, 'config')!r}: {key}: the variable"
                f" {match['name']!r} is not set",
                hint=_missing(match["name"], left_out),
            )
        return found

    return {name: walk(value, name) for name, value in merged.values.items()}
