from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

import pytest
from sqlalchemy import Connection, select, update

from octo_lab.core.clock import utc_now
from octo_lab.storage.database import Database
from octo_lab.storage.owners import (
    SILENT_SECONDS,
    Owner,
    heartbeat,
    living,
    living_owner,
    process_started,
    reclaim,
    register_owner,
    register_process,
    remove_owner,
    this_process,
)
from octo_lab.storage.schema import owners

LONG_AGO = utc_now() - timedelta(days=1)


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def owner_of(process: subprocess.Popen[bytes]) -> Owner:
    started = process_started(process.pid)
    assert started is not None
    return replace(this_process(), pid=process.pid, process_started=started)


def test_this_process_lives_however_long_it_was_silent() -> None:
    assert living(this_process(), LONG_AGO)


def test_a_process_lives_until_it_is_killed_even_if_nobody_collects_it(
    child: subprocess.Popen[bytes],
) -> None:
    owner = owner_of(child)
    assert living(owner, LONG_AGO)

    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)

    assert not living(owner, utc_now())


def test_a_later_process_with_the_same_pid_is_another_one() -> None:
    me = this_process()
    assert not living(replace(me, process_started=me.process_started - 1), utc_now())


def test_a_process_from_before_the_machine_booted_is_gone() -> None:
    assert not living(replace(this_process(), boot_id="an earlier one"), utc_now())


def test_a_process_on_another_machine_lives_while_its_heart_beats() -> None:
    far = replace(this_process(), host=f"not-{platform.node()}", pid=2**22 + 1)
    assert living(far, utc_now())
    assert not living(far, utc_now() - timedelta(seconds=SILENT_SECONDS + 1))


@pytest.mark.anyio
async def test_owners_come_beat_and_go(database: Database, owner: Owner) -> None:
    assert await database.read(partial(living_owner, owner_id=owner.id)) == owner
    await database.run(partial(heartbeat, owner_id=owner.id))
    await database.run(partial(register_owner, owner=owner))
    assert await database.read(partial(living_owner, owner_id=owner.id)) == owner

    await database.run(partial(remove_owner, owner_id=owner.id))

    assert await database.read(partial(living_owner, owner_id=owner.id)) is None


@pytest.mark.anyio
async def test_reclaiming_forgets_the_dead(database: Database, owner: Owner) -> None:
    dead = replace(owner, id="dead", pid=2**22 + 1)
    await database.run(partial(register_owner, owner=dead))

    assert await database.run(reclaim) == []

    assert await database.read(_known) == {owner.id}
    again = await database.run(register_process)
    assert again.id != owner.id
    assert replace(again, id=owner.id) == owner


@pytest.mark.anyio
async def test_a_kernel_of_a_machine_that_slept_goes_on_as_who_it_was(
    database: Database, owner: Owner
) -> None:
    far = replace(owner, id="far", host="far")
    older = replace(far, id="older")
    for other, ago in ((far, timedelta(hours=1)), (older, timedelta(days=2))):
        await database.run(partial(register_owner, owner=other))
        await database.run(partial(_silence, owner_id=other.id, since=utc_now() - ago))

    await database.run(reclaim)

    assert await database.read(_known) == {owner.id, "far"}
    await database.run(partial(heartbeat, owner_id="far"))
    assert await database.read(partial(living_owner, owner_id="far")) == far


def _known(db: Connection) -> set[str]:
    return set(db.scalars(select(owners.c.id)))


def _silence(db: Connection, owner_id: str, since: datetime) -> None:
    db.execute(update(owners).where(owners.c.id == owner_id).values(heartbeat_at=since))
