"""Where a command works: the workspace, its data folder, the settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from octo_lab.config.load import load_settings
from octo_lab.config.paths import data_folder, find_workspace, user_folder
from octo_lab.config.process import process_environ
from octo_lab.config.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    workspace: Path
    data_folder: Path
    settings: Settings
    environ: Mapping[str, str] = field(repr=False)


def find_place(start: Path | None = None) -> Place:
    """The place around ``start``, else around the shell's folder; raises ConfigError."""
    environ = process_environ()
    workspace = find_workspace(start or Path.cwd(), environ)
    loaded = load_settings(workspace=workspace, environ=environ, user_folder=user_folder())
    return Place(
        workspace=workspace,
        data_folder=data_folder(workspace, loaded.environ),
        settings=loaded.settings,
        environ=loaded.environ,
    )
