"""Where a data folder's gateway is, in a file that only its owner can read."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

from octo_lab.core.errors import StorageError

FILE_NAME = "gateway.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """How to reach a gateway. ``host`` is one a client on this machine can connect to."""

    host: str
    port: int
    pid: int
    token: str = field(repr=False)

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def write_endpoint(folder: Path, endpoint: Endpoint) -> None:
    """Put the file in place in one step, readable by its owner only from its first byte."""
    new = folder / f".{FILE_NAME}.{endpoint.pid}"
    new.unlink(missing_ok=True)
    try:
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(endpoint), file)
        new.replace(folder / FILE_NAME)
    except OSError as exc:
        raise StorageError(
            f"Cannot write {str(folder / FILE_NAME)!r}: {exc.strerror}",
            hint="make the data folder writable, or set OCTO_HOME to another",
        ) from exc


def read_endpoint(folder: Path) -> Endpoint | None:
    """The endpoint on file, or None when there is none that can be read."""
    try:
        return Endpoint(**json.loads((folder / FILE_NAME).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def remove_endpoint(folder: Path) -> None:
    (folder / FILE_NAME).unlink(missing_ok=True)
