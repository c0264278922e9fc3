"""The log of a runtime: a private file that rotates, written by its own thread, without secrets."""

from __future__ import annotations

import io
import logging
import os
import queue
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from io import TextIOWrapper
from logging.handlers import QueueHandler, QueueListener, RotatingFileHandler
from pathlib import Path

import anyio
import anyio.to_thread

from octo_lab.security.redact import Redactor

FILE_BYTES = 1_000_000
FILES = 2
WAITING = 10_000
OURS = "octo_lab"
LOG_FILE = "octo_lab.log"  # in the data folder
FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class Redacting(logging.Formatter):
    """Formats a record, traceback and all, without secrets: those there are at that time."""

    def __init__(self, secrets: Iterable[str]) -> None:
        super().__init__(FORMAT)
        self._secrets = secrets
        self._known = tuple(secrets)
        self._redact = Redactor(self._known)

    def format(self, record: logging.LogRecord) -> str:
        known = tuple(self._secrets)
        if known != self._known:
            self._known, self._redact = known, Redactor(known)
        return self._redact(super().format(record))


class Queued(QueueHandler):
    """Hands records to the writing thread; drops them when the disk does not keep up."""

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        return record  # formatted by the writer: same process, and redacted there

    def handleError(self, record: logging.LogRecord) -> None:
        return


class PrivateFile(RotatingFileHandler):
    """Only the owner may read it; a disk that refuses a line never disturbs the program."""

    def _open(self) -> TextIOWrapper:
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        return TextIOWrapper(io.FileIO(descriptor, "a"), encoding="utf-8", errors="replace")

    def handleError(self, record: logging.LogRecord) -> None:
        return


@asynccontextmanager
async def log_file(path: Path, secrets: Iterable[str] = ()) -> AsyncGenerator[None]:
    """Keep what octo_lab logs in ``path`` while inside; nothing of it is printed."""
    lines: queue.Queue[logging.LogRecord] = queue.Queue(WAITING)
    listener = await anyio.to_thread.run_sync(_begin, path, lines, Redacting(secrets))
    handler, logger = Queued(lines), logging.getLogger(OURS)
    logger.addHandler(handler)
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(_end, listener)


def _begin(
    path: Path, lines: queue.Queue[logging.LogRecord], formatter: logging.Formatter
) -> QueueListener:
    file = PrivateFile(path, maxBytes=FILE_BYTES, backupCount=FILES, delay=True)
    file.setFormatter(formatter)
    listener = QueueListener(lines, file)
    listener.start()
    return listener


def _end(listener: QueueListener) -> None:
    listener.stop()
    for handler in listener.handlers:
        handler.close()
