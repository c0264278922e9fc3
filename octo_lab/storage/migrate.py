"""Bring a database to this code's schema, or refuse one that is newer."""

from __future__ import annotations

import threading
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

from octo_lab.core.errors import StorageError
from octo_lab.storage.schema import REVISION
from octo_lab.storage.sqlite_file import APPLICATION_ID

_SCRIPTS = Path(__file__).parent / "migrations"
_LOCK = 0x6F63746F
_ONE = threading.Lock()  # Alembic keeps what it migrates in variables of its modules


def ensure_schema(engine: Engine, where: str) -> None:
    """Upgrade in one transaction when needed; raises StorageError for a newer schema."""
    with engine.connect() as db:
        stored = stored_revision(db)
        db.rollback()
    if stored == REVISION:
        return
    with engine.begin() as db:
        _lock(db)
        # Another kernel may have upgraded while this one waited.
        stored = stored_revision(db)
        if stored is not None and stored > REVISION:
            raise StorageError(
                f"Database {where!r} was written by a newer octo_lab (schema {stored},"
                f" this one knows {REVISION})",
                hint="upgrade octo_lab, or set OCTO_HOME to another folder",
            )
        if stored != REVISION:
            _upgrade(db)


def stored_revision(db: Connection) -> str | None:
    if not inspect(db).has_table("alembic_version"):
        return None
    revision: str | None = db.scalar(text("SELECT version_num FROM alembic_version"))
    return revision


def _lock(db: Connection) -> None:
    """SQLite is locked by BEGIN IMMEDIATE already."""
    if db.dialect.name == "postgresql":
        db.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})


def _upgrade(db: Connection) -> None:
    # Imported only when there is something to do: it would double the start-up time.
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": db})
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    with _ONE:
        command.upgrade(config, "head")
    if db.dialect.name == "sqlite":
        db.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
