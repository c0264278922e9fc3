"""What a person allowed for good in this workspace: kept in a file of the data folder."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from pathlib import Path

import anyio
import anyio.to_thread

from octo_lab.core.errors import StorageError
from octo_lab.core.ids import new_id

ALLOWED_FILE = "allowed.json"
MOST = 500

logger = logging.getLogger(__name__)


class Standing:
    """Scopes that run unasked in every session. Without a file they last as long as this does.

    A file that cannot be read allows nothing.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._lock = anyio.Lock()
        self.scopes = _read(file) if file else ()

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
            await anyio.to_thread.run_sync(_write, self._file, scopes)
        self.scopes = scopes
        logger.info("allowed in this workspace: %s", ", ".join(scopes) or "nothing")


def _read(file: Path) -> tuple[str, ...]:
    try:
        found = json.loads(file.read_bytes())
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as exc:
        logger.warning("%s is not read, nothing in it is allowed: %s", file, exc)
        return ()
    listed = found.get("scopes") if isinstance(found, dict) else None
    return tuple(one for one in listed or () if isinstance(one, str))[:MOST]


def _write(file: Path, scopes: tuple[str, ...]) -> None:
    """Whole or not at all."""
    beside = file.with_name(f".{file.name}.{new_id()}")
    try:
        beside.write_text(json.dumps({"scopes": scopes}, indent=2) + "\n", encoding="utf-8")
        beside.replace(file)
    except OSError as exc:
        beside.unlink(missing_ok=True)
        raise StorageError(
            f"What was allowed could not be kept in {str(file)!r}: {exc.strerror}",
            hint="is there room, and may you write there?",
        ) from exc
