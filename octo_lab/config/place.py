"""Where octo_lab works: the workspace, its data folder, the settings and variables there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from octo_lab.config.load import load_settings
from octo_lab.config.paths import data_folder, find_workspace, user_folder
from octo_lab.config.settings import Settings
from octo_lab.core.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """``sources`` names the file of each setting, ``variables`` that of each from a ``.env``."""

    workspace: Path
    data_folder: Path
    settings: Settings
    environ: Mapping[str, str] = field(repr=False)
    sources: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    process: Mapping[str, str] = field(default_factory=dict, repr=False)
    config: Path | None = None


def find_place(start: Path, environ: Mapping[str, str], *, config: Path | None = None) -> Place:
    """The place around ``start``; ``config`` replaces its config file. Raises ConfigError."""
    if config is not None and not config.is_file():
        raise ConfigError(f"No config file {str(config)!r}", hint="name a file that exists")
    workspace = find_workspace(start, environ)
    if not workspace.is_dir():
        raise ConfigError(f"No folder {str(workspace)!r} to work in", hint="name one that exists")
    loaded = load_settings(
        workspace=workspace, environ=environ, user_folder=user_folder(), file=config
    )
    return Place(
        workspace=workspace,
        data_folder=data_folder(workspace, loaded.environ),
        settings=loaded.settings,
        environ=loaded.environ,
        sources=loaded.sources,
        variables=loaded.variables,
        files=loaded.files,
        process=environ,
        config=config,
    )


def find_place_again(place: Place) -> Place:
    """The same place with its files read anew; raises ConfigError."""
    return find_place(place.workspace, place.process, config=place.config)


def private_folders(data: Path) -> tuple[Path, ...]:
    """Octo_lab's own, which no tool and no command sees or changes: wherever the workspace is, the
    settings and keys of the user may lie in it.
    """
    return (data, user_folder())
