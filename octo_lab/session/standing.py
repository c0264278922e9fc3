"""What a person allowed for good in this workspace: kept in a file of their own."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.to_thread

from octo_lab.core.errors import StorageError
from octo_lab.core.ids import new_id

ALLOWED_FILE = "allowed.json"
MOST = 500

logger = logging.getLogger(__name__)


class Standing:
    """Scopes that run unasked in every session of ``workspace``.

    Without a file they last as long as this does. A folder may serve several workspaces.
    """

    def __init__(self, file: Path | None = None, workspace: str = "") -> None:
        self._file, self._workspace = file, workspace
        self._lock = anyio.Lock()
        self.scopes: tuple[str, ...] = ()

    def load(self) -> None:
        """Read the file, if there is one; one that cannot be read allows nothing."""
        self.scopes = _read(self._file).get(self._workspace, ()) if self._file else ()

    async def add(self, scopes: Iterable[str]) -> None:
        """Allow these from now on; raises StorageError when that cannot be kept."""
        async with self._lock:
            await self._set(tuple(dict.fromkeys((*self.scopes, *scopes)))[-MOST:])

    async def remove(self, scope: str) -> bool:
        """Take one back; False when there was none. Raises StorageError."""
        async with self._lock:
            if scope not in self.scopes:
                return False
            await self._set(tuple(kept for kept in self.scopes if kept != scope))
            return True

    async def _set(self, scopes: tuple[str, ...]) -> None:
        if self._file is not None:
            await anyio.to_thread.run_sync(_write, self._file, self._workspace, scopes)
        self.scopes = scopes
        logger.info("allowed in this workspace: %s", "; ".join(scopes) or "nothing")


async def open_standing(folder: Path, workspace: Path) -> Standing:
    """What was allowed in a workspace up to now."""
    standing = Standing(folder / ALLOWED_FILE, str(workspace))
    await anyio.to_thread.run_sync(standing.load)
    return standing


def _read(file: Path) -> dict[str, tuple[str, ...]]:
    try:
        found = json.loads(file.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as exc:
        logger.warning("%s is not read, nothing in it is allowed: %s", file, exc)
        return {}
    listed = found.items() if isinstance(found, dict) else ()
    return {name: _texts(scopes) for name, scopes in listed if isinstance(scopes, list)}


def _texts(scopes: list[object]) -> tuple[str, ...]:
    return tuple(scope for scope in scopes if isinstance(scope, str))[:MOST]


def _write(file: Path, workspace: str, scopes: tuple[str, ...]) -> None:
    """Whole or not at all; what was allowed in other workspaces stays."""
    everything = {**_read(file), workspace: scopes}
    beside = file.with_name(f".{file.name}.{new_id()}")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside.write_text(json.dumps(everything, indent=2) + "\n", encoding="utf-8")
        beside.replace(file)
    except OSError as exc:
        with suppress(OSError):
            beside.unlink()
        raise StorageError(
            f"What was allowed could not be kept in {str(file)!r}: {exc.strerror}",
            hint="is there room, and may you write there?",
        ) from exc
