"""Where things are: the workspace, the data folder, the user's folder of settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import platformdirs

APP = "octo_lab"
FOLDER = ".octo"


def find_workspace(start: Path, environ: Mapping[str, str]) -> Path:
    """``OCTO_WORKSPACE``, else the nearest parent of ``start`` with an ``.octo`` folder."""
    if named := environ.get("OCTO_WORKSPACE"):
        return Path(named).expanduser().resolve()
    start = start.resolve()
    return next((p for p in (start, *start.parents) if (p / FOLDER).is_dir()), start)


def data_folder(workspace: Path, environ: Mapping[str, str]) -> Path:
    """``OCTO_HOME``, else the workspace's ``.octo``, else the user's data folder."""
    if named := environ.get("OCTO_HOME"):
        return Path(named).expanduser().resolve()
    own = workspace / FOLDER
    return own if own.is_dir() else platformdirs.user_data_path(APP, appauthor=False)


def user_folder() -> Path:
    """The folder with this person's ``config.json`` and ``.env``."""
    return platformdirs.user_config_path(APP, appauthor=False)
