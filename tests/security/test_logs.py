from __future__ import annotations

import logging
from pathlib import Path

import anyio
import pytest

from octo_lab.security.logs import log_file
from octo_lab.security.redact import Secrets

pytestmark = pytest.mark.anyio


async def test_what_is_logged_lands_in_a_private_file_without_secrets(tmp_path: Path) -> None:
    path, logger = tmp_path / "octo_lab.log", logging.getLogger("octo_lab.somewhere")
    async with log_file(path, ["hunter2-hunter2"]):
        logger.info("key %s", "hunter2-hunter2")
        try:
            raise ValueError("Bearer abcdefghijklmnopqrstuvwxyz")
        except ValueError:
            logger.exception("broken")
    logger.info("too late")
    text = await anyio.Path(path).read_text(encoding="utf-8")

    assert "INFO octo_lab.somewhere: key ***" in text
    assert "ValueError: Bearer ***" in text
    assert "hunter2" not in text
    assert "too late" not in text
    assert (await anyio.Path(path).stat()).st_mode & 0o777 == 0o600


async def test_a_secret_set_later_is_masked_too(tmp_path: Path) -> None:
    path, environ = tmp_path / "octo_lab.log", {"HOME": "/h"}
    async with log_file(path, Secrets(environ, ("from-a-file",))):
        environ["MY_API_KEY"] = "set-in-a-cell"
        logging.getLogger("octo_lab.somewhere").info("keys %s %s", "set-in-a-cell", "from-a-file")
    text = await anyio.Path(path).read_text(encoding="utf-8")

    assert "keys *** ***" in text


async def test_nothing_is_printed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    async with log_file(tmp_path / "octo_lab.log"):
        logging.getLogger("octo_lab.somewhere").error("broken")

    assert capfd.readouterr() == ("", "")


async def test_a_folder_that_does_not_exist_does_no_harm(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with log_file(tmp_path / "none" / "octo_lab.log"):
        logging.getLogger("octo_lab.somewhere").error("broken")

    assert capfd.readouterr() == ("", "")


async def test_a_quiet_runtime_makes_no_file(tmp_path: Path) -> None:
    async with log_file(tmp_path / "octo_lab.log"):
        pass

    assert not await anyio.Path(tmp_path / "octo_lab.log").exists()
