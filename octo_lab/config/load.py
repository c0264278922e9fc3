"""Settings from the files and variables that hold them, checked, with their sources."""

from __future__ import annotations

import difflib
import typing
from collections import ChainMap
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from octo_lab.config.asked import Asked, asked_of
from octo_lab.config.demands import DOTENV, Demand, of_fault, of_variables, split
from octo_lab.config.dotenv import read_dotenv
from octo_lab.config.layers import Json, Merged, expand, leaves, merge, read_layer
from octo_lab.config.paths import FOLDER
from octo_lab.config.settings import Settings
from octo_lab.config.trust import FILE as TRUSTED
from octo_lab.core.errors import ConfigError

CONFIG = "config.json"
_SHAPE = ("extra_forbidden", "model_type")


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """``sources`` names the file of each set key, ``default`` for the others; ``environ`` are the
    variables (never exported; live where the given ones are), ``variables`` the file of each that
    came from a ``.env``, ``files`` all that were looked for, ``asked`` what needs trust."""

    settings: Settings
    sources: Mapping[str, str]
    environ: Mapping[str, str] = field(repr=False)
    variables: Mapping[str, str]
    files: tuple[Path, ...] = ()
    asked: Asked = field(default_factory=Asked)


def load_settings(
    *,
    workspace: Path,
    environ: Mapping[str, str],
    user_folder: Path,
    file: Path | None = None,
) -> Loaded:
    """The workspace's ``.octo/config.json`` over the user's ``config.json``; raises ConfigError.

    ``file`` takes the place of the workspace's, and is the person's own. What the workspace's
    files say is left out as far as it needs a trust that nobody gave.
    Variables: the process before the workspace's ``.env`` before the user's ``.env``.
    """
    user, own = user_folder / CONFIG, file or workspace / FOLDER / CONFIG
    layers = {str(user): read_layer(user), str(own): read_layer(own)}
    mine = read_dotenv(user_folder / DOTENV)
    theirs, fault = _read_theirs(workspace / DOTENV)
    harmless, demands = (layers[str(own)], ()) if file else _split(layers, str(own))
    asked = asked_of(
        demands,
        of_fault(fault) if fault else of_variables(theirs),
        workspace=workspace,
        user_folder=user_folder,
        environ=environ,
        held={**mine, **environ},
    )
    holds = asked.trust.holds
    if fault and holds:
        raise fault
    dotenvs = {user_folder / DOTENV: mine, workspace / DOTENV: theirs if holds else {}}
    variables, origins = _variables(environ, dotenvs)
    merged = merge(layers if holds else {**layers, str(own): harmless})
    settings = _checked(expand(merged, variables, left_out=theirs), merged)
    everything = settings.model_dump(mode="python")
    return Loaded(
        settings=settings,
        sources={key: merged.sources.get(key, "default") for key, _ in leaves(everything)},
        environ=variables,
        variables=origins,
        files=(user, own, *dotenvs, user_folder / TRUSTED),
        asked=asked,
    )


def _read_theirs(dotenv: Path) -> tuple[dict[str, str], ConfigError | None]:
    """A file that nobody trusts need not be one that can be read."""
    try:
        return read_dotenv(dotenv), None
    except ConfigError as exc:
        return {}, exc


def _split(layers: Mapping[str, Json], own: str) -> tuple[Json, tuple[Demand, ...]]:
    """What is harmless of a workspace's settings, and the rest; raises ConfigError where a name
    is wrong, whoever wrote it.
    """
    defaults = Settings().model_dump(mode="json")
    below = merge({"": defaults, **{name: it for name, it in layers.items() if name != own}})
    harmless, demands = split(layers[own], below.values)
    if demands:
        _check_shape(merge(layers))
    return harmless, demands


def _variables(
    environ: Mapping[str, str], dotenvs: Mapping[Path, dict[str, str]]
) -> tuple[Mapping[str, str], dict[str, str]]:
    """``dotenvs`` by file, the later first; those of the process come before all."""
    variables: dict[str, str] = {}
    origins: dict[str, str] = {}
    for file, found in dotenvs.items():
        variables |= found
        origins |= dict.fromkeys(found, str(file))
    own = {name: path for name, path in origins.items() if name not in environ}
    return ChainMap(cast(MutableMapping[str, str], environ), variables), own


def _check_shape(merged: Merged) -> None:
    try:
        Settings.model_validate(merged.values)
    except ValidationError as exc:
        errors = exc.errors(include_url=False, include_input=False)
        for error in errors:
            if error["type"] in _SHAPE:
                raise _wrong(error, merged) from None


def _checked(values: Json, merged: Merged) -> Settings:
    try:
        return Settings.model_validate(values)
    except ValidationError as exc:
        # The value itself stays out of the message: it may be a key.
        first = exc.errors(include_url=False, include_input=False)[0]
        raise _wrong(first, merged) from None


def _wrong(error: ErrorDetails, merged: Merged) -> ConfigError:
    place = [str(part) for part in error["loc"]]
    key = ".".join(place)
    file = _source(place, merged.sources)
    if error["type"] == "extra_forbidden":
        return ConfigError(f"{file!r}: no setting is called {key!r}", hint=_nearest(place))
    trouble = "it should be an object" if error["type"] == "model_type" else error["msg"]
    return ConfigError(f"{file!r}: {key}: {trouble}", hint="fix this value")


def _source(place: Sequence[str], sources: Mapping[str, str]) -> str:
    """The file that set the key, or the first key below it, or the object it is in."""
    for length in range(len(place), 0, -1):
        key = ".".join(place[:length])
        for leaf, source in sources.items():
            if leaf == key or leaf.startswith(f"{key}."):
                return source
    return CONFIG


def _nearest(place: Sequence[str]) -> str:
    known = list(_part(place[:-1]).model_fields)
    near = difflib.get_close_matches(place[-1], known, n=1)
    prefix = "".join(f"{part}." for part in place[:-1])
    return f"did you mean {prefix + near[0]!r}?" if near else f"known: {', '.join(known)}"


def _part(place: Sequence[str]) -> type[BaseModel]:
    """The model of the object at ``place``; a name inside a mapping leads to its value's model."""
    part: type[BaseModel] = Settings
    inside = iter(place)
    for name in inside:
        kind = part.model_fields[name].annotation
        if typing.get_origin(kind) is dict:
            kind = typing.get_args(kind)[1]
            next(inside, None)
        assert isinstance(kind, type)
        part = kind
    return part
