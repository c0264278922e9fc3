"""Where things are: the workspace, the data folder, the user's folder of settings."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path

import platformdirs

APP = "octo_lab"
FOLDER = ".octo"
HOME = "OCTO_HOME"


def find_workspace(start: Path, environ: Mapping[str, str]) -> Path:
    """``OCTO_WORKSPACE``, else the nearest parent of ``start`` with an ``.octo`` folder."""
    if named := environ.get("OCTO_WORKSPACE"):
        return Path(named).expanduser().resolve()
    start = start.resolve()
    return next((p for p in (start, *start.parents) if is_own(p / FOLDER)), start)


def data_folder(workspace: Path, environ: Mapping[str, str], *, known: bool) -> Path:
    """``OCTO_HOME``, else the workspace's ``.octo``, else the user's data folder.

    ``known``: the person made the workspace or trusts it; what a repository brought along in its
    ``.octo`` is not read as sessions of theirs.
    """
    if named := environ.get(HOME):
        return Path(named).expanduser().resolve()
    own = workspace / FOLDER
    return own if known and is_own(own) else platformdirs.user_data_path(APP, appauthor=False)


def is_own(folder: Path) -> bool:
    """A folder that nobody may open only keeps the name free of what commands make."""
    return folder.is_dir() and bool(stat.S_IMODE(folder.stat().st_mode))


def user_folder() -> Path:
    """The folder with this person's ``config.json`` and ``.env``."""
    return platformdirs.user_config_path(APP, appauthor=False)
