"""SQLAlchemy engines for what a location names: a SQLite file or a PostgreSQL server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine, create_engine
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import PoolProxiedConnection, QueuePool

from octo_lab.core.errors import StorageError
from octo_lab.storage.failures import translated
from octo_lab.storage.sqlite_file import SqliteFile

MEDIA = "octo_media"  # the execution option that carries the media folder
_POOL = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Engines:
    """One engine to write through and one to read through; ``where`` names them to people."""

    writer: Engine
    reader: Engine
    writers: int
    readers: int
    where: str

    def dispose(self) -> None:
        self.reader.dispose()
        self.writer.dispose()


def make_engines(location: Path | str, media: Path | None) -> Engines:
    """Make a SQLite file usable, or get ready to connect to a server; raises StorageError."""
    if isinstance(location, Path) or "://" not in location:
        return _sqlite(SqliteFile(path=Path(location)), media)
    url = _url(location)
    if url.get_backend_name() == "sqlite":
        return _sqlite(_file_of(url), media)
    if url.get_backend_name() == "postgresql":
        return _postgresql(url, media)
    raise StorageError(
        f"No storage for {url.get_backend_name()!r} databases",
        hint="use a SQLite file or a postgresql:// URL",
    )


def sqlite_path(location: Path | str) -> Path | None:
    """The file that ``make_engines`` would use, None for a server; raises StorageError."""
    if isinstance(location, Path) or "://" not in location:
        return Path(location)
    url = _url(location)
    return _file_of(url).path if url.get_backend_name() == "sqlite" else None


def _url(location: str) -> URL:
    try:
        return make_url(location)
    except ArgumentError:
        raise _unreadable() from None


def _unreadable() -> StorageError:
    return StorageError(
        "The database URL cannot be read", hint="expected postgresql://user@host/name"
    )


def _file_of(url: URL) -> SqliteFile:
    if not url.database or url.database == ":memory:":
        raise StorageError(
            "A database in memory keeps nothing", hint="name a file: sqlite:////path/octo.db"
        )
    vfs = url.query.get("vfs", "")
    return SqliteFile(path=Path(url.database), vfs=vfs if isinstance(vfs, str) else vfs[0])


def _sqlite(file: SqliteFile, media: Path | None) -> Engines:
    with translated(str(file.path)):
        mode = file.prepare()
    # Without WAL, NORMAL could lose a file to a power cut.
    pragmas = ("foreign_keys = ON", f"synchronous = {'NORMAL' if mode == 'wal' else 'FULL'}")
    options = {MEDIA: media or file.path.absolute().parent / "media"}
    return Engines(
        writer=_one_connection(file, pragmas, "BEGIN IMMEDIATE", options),
        reader=_one_connection(file, (*pragmas, "query_only = ON"), "BEGIN", options),
        writers=1,
        readers=1,
        where=str(file.path),
    )


def _one_connection(
    file: SqliteFile, pragmas: tuple[str, ...], begin: str, options: dict[str, Path]
) -> Engine:
    engine = create_engine(
        "sqlite://",
        creator=lambda: file.connect(*pragmas),
        poolclass=QueuePool,
        pool_size=1,
        max_overflow=0,
        execution_options=options,
    )

    def start(connection: PoolProxiedConnection) -> None:
        connection.execute(begin)

    # Not by an event: one listener makes every statement of the engine look for listeners.
    engine.dialect.do_begin = start  # type: ignore[assignment, method-assign]
    return engine


def _postgresql(url: URL, media: Path | None) -> Engines:
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    try:
        writer = create_engine(
            url,
            pool_size=_POOL,
            max_overflow=0,
            pool_pre_ping=True,
            execution_options={MEDIA: media},
        )
    except (ModuleNotFoundError, NoSuchModuleError) as exc:
        raise StorageError(
            "PostgreSQL needs a driver that is not installed",
            hint="pip install 'octo_lab[postgres]'",
        ) from exc
    except (SQLAlchemyError, TypeError) as exc:
        raise _unreadable() from exc
    reader = writer.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    return Engines(
        writer=writer,
        reader=reader,
        writers=_POOL // 2,
        readers=_POOL // 2,
        where=url.render_as_string(hide_password=True),
    )
