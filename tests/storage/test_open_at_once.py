"""Many open a database that is not yet made, or of an old schema, at the same moment."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from octo_lab.app import open_app
from octo_lab.core.errors import StorageError
from octo_lab.storage.alone import alone
from octo_lab.storage.database import open_database
from octo_lab.storage.migrate import stored_revision
from octo_lab.storage.schema import REVISION
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.providers import ScriptedProvider
from octo_lab.testing.setups import setup_in
from tests.storage.test_upgrade import make_first_schema

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("emptied_afterwards")]

MANY = 8


async def opened(location: Path | str, ready: threading.Barrier, seen: list[str | None]) -> None:
    await anyio.to_thread.run_sync(ready.wait)
    async with open_database(location) as database:
        seen.append(await database.read(stored_revision))


@pytest.mark.parametrize("old", [False, True])
async def test_all_that_open_it_at_once_in_one_process_find_it_whole(
    location: Path | str, old: bool
) -> None:
    if old:
        await anyio.to_thread.run_sync(make_first_schema, location)
    ready, seen = threading.Barrier(MANY), list[str | None]()

    async with anyio.create_task_group() as tasks:
        for _ in range(MANY):
            tasks.start_soon(opened, location, ready, seen)

    assert seen == [REVISION] * MANY


async def test_two_databases_are_made_at_once_in_one_process(tmp_path: Path) -> None:
    ready, seen = threading.Barrier(MANY), list[str | None]()

    async with anyio.create_task_group() as tasks:
        for number in range(MANY):
            tasks.start_soon(opened, tmp_path / f"{number}.db", ready, seen)

    assert seen == [REVISION] * MANY


OPENING = """
import sys
from pathlib import Path
import anyio
from octo_lab.storage.database import open_database
from octo_lab.storage.migrate import stored_revision

async def main() -> None:
    place = sys.argv[1]
    print("ready", flush=True)
    sys.stdin.readline()
    async with open_database(place if "://" in place else Path(place)) as database:
        print(await database.read(stored_revision))

anyio.run(main)
"""


@pytest.mark.parametrize("old", [False, True])
async def test_all_processes_that_open_it_at_once_find_it_whole(
    location: Path | str, old: bool
) -> None:
    if old:
        await anyio.to_thread.run_sync(make_first_schema, location)
    told = await anyio.to_thread.run_sync(_opened_by_processes, str(location))

    assert told == [(0, REVISION, "")] * MANY


def _opened_by_processes(location: str) -> list[tuple[int, str, str]]:
    pipe = subprocess.PIPE
    started = [
        subprocess.Popen(
            [sys.executable, "-c", OPENING, location],
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            text=True,
        )
        for _ in range(MANY)
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    ended = [(process, *process.communicate(timeout=60)) for process in started]
    return [(process.returncode, out.strip(), err) for process, out, err in ended]


async def test_apps_that_open_one_folder_at_once_all_run(tmp_path: Path) -> None:
    async def run(all_open: list[str]) -> None:
        setup = setup_in(tmp_path, MemoryChannel(), provider=ScriptedProvider())
        async with open_app(setup) as app:
            all_open.append(str(app.setup.workspace))

    opened_apps: list[str] = []
    async with anyio.create_task_group() as tasks:
        for _ in range(MANY):
            tasks.start_soon(run, opened_apps)

    assert opened_apps == [str(tmp_path)] * MANY


async def test_who_holds_a_file_for_too_long_is_not_waited_for(tmp_path: Path) -> None:
    def hold(file: Path) -> None:
        with alone(file), pytest.raises(StorageError, match="another process"), alone(file, 0.1):
            pass
        with alone(file, 0.1):
            assert not file.exists()

    await anyio.to_thread.run_sync(hold, tmp_path / "octo.db")
