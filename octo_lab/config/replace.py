"""Files of settings, written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from octo_lab.tools.sandbox.own_folder import claim


def replace_file(file: Path, text: str, *, mode: int | None = None) -> None:
    """With the permissions that it had, unless ``mode`` says others, a new one for its owner
    alone; where a link leads, if it is one. Raises OSError.
    """
    file = file.resolve()
    claim(file.parent)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if mode is None:
        mode = file.stat().st_mode & 0o777 if file.exists() else 0o600
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.stem}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as opened:
            opened.write(text)
        Path(name).chmod(mode)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
