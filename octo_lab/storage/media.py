"""Pictures and files of messages, kept by their SHA-256 beside the database."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path

from sqlalchemy import Connection, exists, or_, select

from octo_lab.core.errors import StorageError
from octo_lab.core.ids import new_id
from octo_lab.core.messages import Media
from octo_lab.storage.engines import MEDIA
from octo_lab.storage.schema import file_changes, messages


def keep_media(db: Connection, media: Sequence[Media]) -> str:
    """Write what is not there yet; return what the message's row remembers of it."""
    if not media:
        return ""
    return json.dumps([_entry(keep_blob(db, item.data), item) for item in media])


def _entry(blob: str, media: Media) -> dict[str, str | bool]:
    entry: dict[str, str | bool] = {"sha256": blob, "mime": media.mime, "name": media.name}
    return {**entry, "sent": True} if media.sent else entry


def keep_blob(db: Connection, data: bytes) -> str:
    """Write these bytes if they are not there yet; return their name, the SHA-256."""
    folder = _folder(db)
    if folder is None:
        raise StorageError(
            "There is no folder for media", hint="open the database with a media folder"
        )
    return _keep(folder, data)


def read_blob(db: Connection, name: str) -> bytes | None:
    """What ``keep_blob`` wrote, unless it is gone."""
    folder = _folder(db)
    return _read(folder / name) if folder else None


def read_media(db: Connection, remembered: str) -> tuple[Media, ...]:
    """What is still there; a file that went missing is left out."""
    folder = _folder(db)
    if folder is None:
        return ()
    kept = [(entry, _read(folder / entry["sha256"])) for entry in json.loads(remembered)]
    return tuple(
        Media(mime=entry["mime"], name=entry["name"], data=data, sent=entry.get("sent", False))
        for entry, data in kept
        if data is not None
    )


def forget_media(db: Connection, remembered: Iterable[str]) -> None:
    """Delete the files of messages that are gone, but those that another message still shows."""
    texts = (json.loads(text) for text in remembered if text)
    forget_blobs(db, (entry["sha256"] for entries in texts for entry in entries))


def forget_blobs(db: Connection, names: Iterable[str]) -> None:
    """Delete those that no message and no change of a file needs any more."""
    folder = _folder(db)
    if folder is None:
        return
    for name in sorted(set(names) - {""}):
        shown = exists().where(messages.c.media.contains(name))
        changed = exists().where(or_(file_changes.c.before == name, file_changes.c.after == name))
        if not db.scalar(select(or_(shown, changed))):
            (folder / name).unlink(missing_ok=True)


def _folder(db: Connection) -> Path | None:
    folder: Path | None = db.get_execution_options().get(MEDIA)
    return folder


def _keep(folder: Path, data: bytes) -> str:
    name = sha256(data).hexdigest()
    target = folder / name
    try:
        if not target.exists():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(folder / f".{name}.{new_id()}", target, data)
    except OSError as exc:
        raise StorageError(
            f"Cannot write {str(target)!r}: {exc.strerror}",
            hint="free some space, or allow writing to this folder",
        ) from exc
    return name


def _write(draft: Path, target: Path, data: bytes) -> None:
    """Whole or not at all, whatever happens to the process or the machine."""
    try:
        with open(draft, "xb", opener=_private) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
