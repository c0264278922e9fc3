from __future__ import annotations

import logging

import pytest

from octo_lab.core.errors import UsageError
from octo_lab.gateway.logs import RING, log_ring

LOGGERS = ("octo_lab", "uvicorn.error", "asyncio")


def test_the_ring_holds_our_lines_and_others_warnings_without_secrets() -> None:
    with log_ring("info", ["my-own-secret"]) as ring:
        logging.getLogger("octo_lab.test").info("key is my-own-secret")
        logging.getLogger("octo_lab.test").debug("too fine")
        logging.getLogger("uvicorn.error").warning("bad request my-own-secret")
        logging.getLogger("uvicorn.error").info("connection open")
        logging.getLogger("asyncio").error("never retrieved")
    assert [line.split(" ", 2)[2] for line in ring.lines] == [
        "INFO octo_lab.test: key is ***",
        "WARNING uvicorn.error: bad request ***",
        "ERROR asyncio: never retrieved",
    ]


def test_the_ring_is_bounded() -> None:
    with log_ring("INFO") as ring:
        for number in range(RING * 2):
            logging.getLogger("octo_lab.test").info("%s", number)
    assert len(ring.lines) == RING
    assert ring.lines[-1].endswith(f": {RING * 2 - 1}")


def test_afterwards_logging_is_as_it_was() -> None:
    def state() -> list[tuple[list[logging.Handler], int]]:
        loggers = [logging.getLogger(name) for name in LOGGERS]
        return [(list(logger.handlers), logger.level) for logger in loggers]

    before = state()
    with log_ring("DEBUG"):
        assert state() != before
    assert state() == before


def test_an_unknown_level_is_said() -> None:
    with pytest.raises(UsageError, match=r"'loud'.*DEBUG"), log_ring("loud"):
        pass
