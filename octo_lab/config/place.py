"""Where octo_lab works: the workspace, its data folder, the settings and variables there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from octo_lab.config.asked import Asked, with_folder
from octo_lab.config.load import load_settings
from octo_lab.config.paths import FOLDER, HOME, data_folder, find_workspace, user_folder
from octo_lab.config.settings import Settings
from octo_lab.config.trust import keep_trust
from octo_lab.core.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """``sources`` names the file of each setting, ``variables`` that of each from a ``.env``;
    ``asked`` is what needs trust, ``warning`` a line on what of it is left out, or ''.
    """

    workspace: Path
    data_folder: Path
    settings: Settings
    environ: Mapping[str, str] = field(repr=False)
    sources: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    process: Mapping[str, str] = field(default_factory=dict, repr=False)
    config: Path | None = None
    asked: Asked = field(default_factory=Asked)
    warning: str = ""


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
    asked = with_folder(loaded.asked, workspace, data=not loaded.environ.get(HOME))
    return Place(
        workspace=workspace,
        data_folder=data_folder(workspace, loaded.environ, known=asked.trust.known),
        settings=loaded.settings,
        environ=loaded.environ,
        sources=loaded.sources,
        variables=loaded.variables,
        files=loaded.files,
        process=environ,
        config=config,
        asked=asked,
        warning=asked.warning,
    )


def find_place_again(place: Place) -> Place:
    """The same place with its files read anew; its data stay where they are. Raises ConfigError."""
    again = find_place(place.workspace, place.process, config=place.config)
    return replace(again, data_folder=place.data_folder)


def trust_place(place: Place) -> None:
    """Let the workspace's files have what they demand, as they were read; raises ConfigError."""
    keep_trust(user_folder(), place.workspace, place.asked.fingerprints)


def grants_folder(workspace: Path, data: Path) -> Path:
    """Where it is kept what may run unasked for good: never in the workspace, where the next
    pull may bring it.
    """
    return user_folder() if data == workspace / FOLDER else data


def private_folders(data: Path) -> tuple[Path, ...]:
    """Octo_lab's own, which no tool and no command sees or changes: wherever the workspace is, the
    settings and keys of the user may lie in it.
    """
    return (data, user_folder())
