"""What the gateway logs: the last lines in memory, more in a file that rotates."""

from __future__ import annotations

import logging
import queue
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from logging.handlers import QueueHandler, QueueListener, RotatingFileHandler
from pathlib import Path

from octo_lab.core.errors import StorageError, UsageError
from octo_lab.security.redact import Redactor

RING = 500
FILE_BYTES = 1_000_000
FILES = 3
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
_OURS = "octo_lab"
_LOGGERS = (_OURS, "uvicorn.error", "asyncio")
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class Redacting(logging.Formatter):
    """Formats a record, traceback and all, without secrets."""

    def __init__(self, secrets: Iterable[str]) -> None:
        super().__init__(_FORMAT)
        self._redact = Redactor(secrets)

    def format(self, record: logging.LogRecord) -> str:
        return self._redact(super().format(record))


class LogRing(logging.Handler):
    """Keeps the newest lines."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: deque[str] = deque(maxlen=RING)

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@contextmanager
def logging_to(folder: Path, level: str, secrets: Iterable[str] = ()) -> Iterator[LogRing]:
    """Send the gateway's log to ``folder/logs/gateway.log`` while inside.

    Nothing is printed: output of a thread would pile up in the notebook. The file is written
    by a thread of its own, so that a slow disk stalls no turn.
    """
    number = _level(level)
    ring, formatter = LogRing(), Redacting(secrets)
    file = _file(folder)
    ring.setFormatter(formatter)
    file.setFormatter(formatter)
    lines: queue.Queue[logging.LogRecord] = queue.Queue(10_000)
    listener = QueueListener(lines, file, ring)
    with _handling(_Dropping(lines), number):
        listener.start()
        try:
            yield ring
        finally:
            listener.stop()
            file.close()


class _Dropping(QueueHandler):
    """Drops a line when the disk does not keep up."""

    def handleError(self, record: logging.LogRecord) -> None:
        return

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        return record  # formatted by the listener: same process, and redacted there


@contextmanager
def _handling(handler: logging.Handler, level: int) -> Iterator[None]:
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [(logger.level, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(level if logger.name == _OURS else max(level, logging.WARNING))
        logger.propagate = False
    try:
        yield
    finally:
        for logger, (old_level, propagate) in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(old_level)
            logger.propagate = propagate


def _file(folder: Path) -> logging.Handler:
    path = folder / "logs" / "gateway.log"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return RotatingFileHandler(
            path, maxBytes=FILE_BYTES, backupCount=FILES, encoding="utf-8", errors="replace"
        )
    except OSError as exc:
        raise StorageError(
            f"Cannot write {str(path)!r}: {exc.strerror}",
            hint="make the data folder writable, or set OCTO_HOME to another",
        ) from exc


def _level(name: str) -> int:
    level = name.upper()
    if level not in LEVELS:
        raise UsageError(f"No log level {name!r}", hint=f"one of {', '.join(LEVELS)}")
    return int(logging.getLevelNamesMapping()[level])
