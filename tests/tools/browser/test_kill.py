"""A browser whose owner is killed goes, too."""

from __future__ import annotations

import subprocess
import sys
import time

import psutil
import pytest

pytestmark = pytest.mark.browser

SCRIPT = """
import anyio
from octo_lab.bus.stage import stage
from octo_lab.security.net.dial import Dialer
from octo_lab.tools.browser.browsers import Browsers
from octo_lab.tools.browser.found import find_browser

async def main():
    async with stage() as tasks:
        await Browsers(find_browser(), Dialer(), tasks, environ={}).get("s")
        print("open", flush=True)
        await anyio.sleep_forever()

anyio.run(main)
"""


@pytest.fixture(autouse=True)
def no_blocking_calls() -> None:
    """Nothing to watch: the browser's owner is another process."""


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    return [one for one in processes if one.is_running() and one.status() != "zombie"]


def test_a_killed_owner_takes_its_browser_along() -> None:
    with subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE) as owner:
        assert owner.stdout
        assert owner.stdout.readline() == b"open\n"
        started = psutil.Process(owner.pid).children(recursive=True)
        assert any("chrom" in one.name() for one in started)
        owner.kill()
    deadline = time.monotonic() + 30
    while alive(started) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert alive(started) == []
