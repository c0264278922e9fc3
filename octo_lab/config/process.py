"""The variables and the folder of this process, for the faces that start a runtime."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from octo_lab.core.errors import ConfigError


def process_environ() -> dict[str, str]:
    """A copy: what is read later does not change under the reader."""
    return dict(os.environ)


def live_environ() -> Mapping[str, str]:
    """The variables themselves: what ``%env`` or ``os.environ`` sets is seen by later reads."""
    return os.environ


def process_folder() -> Path:
    """Where the process is; raises ConfigError when that folder has been removed."""
    try:
        return Path.cwd()
    except OSError as exc:
        raise ConfigError(
            f"The current folder cannot be used: {exc.strerror}",
            hint="it may have been removed: cd to another, or name one with -C",
        ) from None
