"""Reads a file of settings, whoever put it there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from octo_lab.core.errors import ConfigError

LARGEST = 1_000_000
_LOOK = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def read_settings_file(path: Path) -> str | None:
    """Its text, None when there is no file; raises OSError, and ConfigError for what is no text.

    A repository may bring a link to a device or a pipe along, which would never end.
    """
    try:
        descriptor = os.open(path, _LOOK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _unusable(path, "it is no regular file")
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise _unusable(path, f"it is larger than {LARGEST // 1_000_000} MB")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise _unusable(path, "it is not UTF-8 text") from None


def unreadable(path: Path, fault: OSError) -> ConfigError:
    return _unusable(path, f"{fault.strerror}")


def _unusable(path: Path, reason: str) -> ConfigError:
    return ConfigError(f"Cannot read {str(path)!r}: {reason}", hint="fix or remove it")
