"""Settings from the files and variables that hold them, checked, with their sources."""

from __future__ import annotations

import difflib
import typing
from collections import ChainMap
from collections.abc import Collection, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from octo_lab.config.dotenv import read_dotenv
from octo_lab.config.layers import Json, Merged, expand, leaves, merge, read_layer
from octo_lab.config.paths import FOLDER
from octo_lab.config.settings import Settings
from octo_lab.core.errors import ConfigError

CONFIG = "config.json"
_URL = "_BASE_URL"
_KEYS = ("_API_KEY", "_KEY", "_TOKEN")
DOTENV = ".env"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """``sources`` names the file of each set key, ``default`` for the others; ``environ`` are the
    variables (never exported; live where the given ones are), ``variables`` the file of each that
    came from a ``.env``, ``files`` all that were looked for."""

    settings: Settings
    sources: Mapping[str, str]
    environ: Mapping[str, str] = field(repr=False)
    variables: Mapping[str, str]
    files: tuple[Path, ...] = ()


def load_settings(
    *,
    workspace: Path,
    environ: Mapping[str, str],
    user_folder: Path,
    file: Path | None = None,
) -> Loaded:
    """The workspace's ``.octo/config.json`` over the user's ``config.json``; raises ConfigError.

    ``file`` takes the place of the workspace's.
    Variables: the process before the workspace's ``.env`` before the user's ``.env``.
    """
    variables, origins = _variables(workspace, environ, user_folder)
    files = (user_folder / CONFIG, file or workspace / FOLDER / CONFIG)
    merged = merge({str(path): read_layer(path) for path in files})
    settings = _checked(expand(merged, variables), merged)
    everything = settings.model_dump(mode="python")
    sources = {key: merged.sources.get(key, "default") for key, _ in leaves(everything)}
    return Loaded(
        settings=settings,
        sources=sources,
        environ=variables,
        variables=origins,
        files=(*files, user_folder / DOTENV, workspace / DOTENV),
    )


def _variables(
    workspace: Path, environ: Mapping[str, str], user_folder: Path
) -> tuple[Mapping[str, str], dict[str, str]]:
    variables: dict[str, str] = {}
    origins: dict[str, str] = {}
    for path in (user_folder / DOTENV, workspace / DOTENV):
        found = read_dotenv(path)
        if path.parent == workspace:
            _check_steering(path, found, {*environ, *variables})
        variables |= found
        origins |= dict.fromkeys(found, str(path))
    own = {name: path for name, path in origins.items() if name not in environ}
    return ChainMap(cast(MutableMapping[str, str], environ), variables), own


def _check_steering(path: Path, found: Mapping[str, str], known: Collection[str]) -> None:
    """A key that is kept elsewhere goes nowhere that a file of the workspace says: whoever made
    the repository, or a command that ran in it, may have written that. Raises ConfigError.
    """
    for name in found:
        maker = name.removesuffix(_URL)
        makers = ("GEMINI_", "GOOGLE_") if maker == "GEMINI" else (f"{maker}_",)
        keys = [one for one in known if one.startswith(makers) and one.endswith(_KEYS)]
        if name.endswith(_URL) and name not in known and keys:
            raise ConfigError(
                f"{str(path)!r} sets {name!r}, but {sorted(keys)[0]!r} is kept elsewhere",
                hint=f"set {name} where the key is, or in .octo/config.json",
            )


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
