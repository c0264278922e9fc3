from __future__ import annotations

import logging
from pathlib import Path

import pytest

from octo_lab.core.errors import StorageError, UsageError
from octo_lab.gateway.logs import RING, logging_to


def test_the_log_goes_to_file_and_ring_without_secrets(tmp_path: Path) -> None:
    logger = logging.getLogger("octo_lab.test")
    with logging_to(tmp_path, "info", ["my-own-secret"]) as ring:
        logger.info("key is my-own-secret")
        logger.debug("too fine")
        try:
            raise ValueError("my-own-secret")
        except ValueError:
            logger.exception("failed")
    text = (tmp_path / "logs" / "gateway.log").read_text()
    assert "key is ***" in text
    assert "ValueError: ***" in text
    assert "my-own-secret" not in text + "".join(ring.lines)
    assert "too fine" not in text
    assert [line.split(": ", 1)[1].splitlines()[0] for line in ring.lines] == [
        "key is ***",
        "failed",
    ]


def test_the_ring_and_the_files_are_bounded(tmp_path: Path) -> None:
    logger = logging.getLogger("octo_lab.test")
    with logging_to(tmp_path, "INFO") as ring:
        for number in range(5000):
            logger.info("%s %s", number, "x" * 1000)
    assert len(ring.lines) == RING
    sizes = [path.stat().st_size for path in (tmp_path / "logs").iterdir()]
    assert len(sizes) <= 4
    assert max(sizes) <= 1_000_000


def test_afterwards_logging_is_as_it_was(tmp_path: Path) -> None:
    logger = logging.getLogger("octo_lab")
    before = (list(logger.handlers), logger.level, logger.propagate)
    with logging_to(tmp_path, "DEBUG"):
        assert logger.level == logging.DEBUG
    assert (list(logger.handlers), logger.level, logger.propagate) == before


def test_an_unknown_level_and_an_unusable_folder_are_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'loud'.*DEBUG"), logging_to(tmp_path, "loud"):
        pass
    (tmp_path / "file").touch()
    folder = tmp_path / "file"
    with pytest.raises(StorageError, match=r"gateway\.log"), logging_to(folder, "INFO"):
        pass
