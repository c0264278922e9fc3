"""The newest lines of the log, for the gateway's report; the app's own log file has them all."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from octo_lab.core.errors import UsageError
from octo_lab.security.logs import OURS, Redacting

RING = 500
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
_SERVER, _LOOP = "uvicorn.error", "asyncio"


class LogRing(logging.Handler):
    """Keeps the newest lines, without secrets. Nothing is printed: it would pile up in a cell."""

    def __init__(self, secrets: Iterable[str]) -> None:
        super().__init__()
        self.lines: deque[str] = deque(maxlen=RING)
        self.setFormatter(Redacting(secrets))

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


class Forwarding(logging.Handler):
    """Hands the warnings of the server and the loop to our own log."""

    def emit(self, record: logging.LogRecord) -> None:
        logging.getLogger(OURS).handle(record)


@contextmanager
def log_ring(level: str, secrets: Iterable[str] = ()) -> Iterator[LogRing]:
    """Listen to the log while inside, from ``level`` on; raises UsageError."""
    ring, number = LogRing(secrets), _level(level)
    with (
        _handled(OURS, ring, number),
        _handled(_SERVER, Forwarding(), logging.WARNING),
        _handled(_LOOP, Forwarding(), logging.WARNING),
    ):
        yield ring


@contextmanager
def _handled(name: str, handler: logging.Handler, level: int) -> Iterator[None]:
    logger = logging.getLogger(name)
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(level)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def _level(name: str) -> int:
    level = name.upper()
    if level not in LEVELS:
        raise UsageError(f"No log level {name!r}", hint=f"one of {', '.join(LEVELS)}")
    return int(logging.getLevelNamesMapping()[level])
