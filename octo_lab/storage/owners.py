"""Processes that run turns: who they are, whether they live, and what the dead left behind."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, RowMapping, bindparam, delete, insert, select, update

from octo_lab.core.clock import utc_now
from octo_lab.core.ids import new_id
from octo_lab.core.messages import Message
from octo_lab.storage.messages import insert_messages
from octo_lab.storage.schema import owners, turns

HEARTBEAT_SECONDS = 20.0
SILENT_SECONDS = 60.0
FORGOTTEN = timedelta(days=1)
_SAME_START = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """One process, told apart from a later one with the same pid by when it started."""

    id: str
    pid: int
    process_started: float
    boot_id: str
    host: str


def this_process() -> Owner:
    """A new owner for the calling process; reads ``/proc``, so call it in a thread."""
    pid = os.getpid()
    return Owner(
        id=new_id(),
        pid=pid,
        process_started=process_started(pid) or 0.0,
        boot_id=_boot_id(),
        host=platform.node(),
    )


def register_owner(db: Connection, owner: Owner) -> None:
    """Say that ``owner`` lives; a turn can only run under a registered owner."""
    db.execute(delete(owners).where(owners.c.id == owner.id))
    db.execute(
        insert(owners).values(
            id=owner.id,
            pid=owner.pid,
            process_started=owner.process_started,
            boot_id=owner.boot_id,
            host=owner.host,
            heartbeat_at=utc_now(),
        )
    )


def register_process(db: Connection) -> Owner:
    """Register the calling process as a new owner."""
    owner = this_process()
    register_owner(db, owner)
    return owner


def heartbeat(db: Connection, owner_id: str) -> None:
    db.execute(update(owners).where(owners.c.id == owner_id).values(heartbeat_at=utc_now()))


def remove_owner(db: Connection, owner_id: str) -> None:
    db.execute(delete(owners).where(owners.c.id == owner_id))


def living(owner: Owner, heartbeat_at: datetime) -> bool:
    """On this machine the process itself tells; elsewhere its heartbeat does."""
    if owner.host == platform.node() and owner.boot_id == _boot_id():
        started = process_started(owner.pid)
        return started is not None and abs(started - owner.process_started) < _SAME_START
    if owner.host == platform.node():
        return False
    return utc_now() - heartbeat_at < timedelta(seconds=SILENT_SECONDS)


_OWNER = select(owners).where(owners.c.id == bindparam("id"))


def living_owner(db: Connection, owner_id: str) -> Owner | None:
    """The registered owner of that id, if its process lives."""
    row = db.execute(_OWNER, {"id": owner_id}).mappings().first()
    if row is None:
        return None
    owner = _owner_of(row)
    return owner if living(owner, row["heartbeat_at"]) else None


def reclaim(db: Connection) -> list[str]:
    """Close the turns of dead owners as ``interrupted``, keeping what was visible of each."""
    running = db.execute(
        select(turns.c.id, turns.c.owner, turns.c.partial)
        .where(turns.c.state == "running")
        .order_by(turns.c.started_at)
        .with_for_update()
    ).all()
    dead = _dead(db, {row.owner for row in running})
    closed = [row.id for row in running if row.owner in dead]
    for row in running:
        if row.owner in dead:
            interrupt(db, row.id, row.partial)
    return closed


def _dead(db: Connection, used: Iterable[str]) -> set[str]:
    """The owners that are gone, of which those that cannot come back are forgotten."""
    rows = db.execute(select(owners)).mappings().all()
    alive = {row["id"] for row in rows if living(_owner_of(row), row["heartbeat_at"])}
    gone = [row["id"] for row in rows if row["id"] not in alive and _for_good(row)]
    if gone:
        db.execute(delete(owners).where(owners.c.id.in_(gone)))
    return set(used) - alive


def _for_good(row: RowMapping) -> bool:
    """A silent machine may have slept; when it wakes, its kernels go on as who they were."""
    silent: timedelta = utc_now() - row["heartbeat_at"]
    return silent > FORGOTTEN or _owner_of(row).host == platform.node()


def interrupt(db: Connection, turn_id: str, partial: str) -> None:
    """End a turn whose owner can no longer do so."""
    now = utc_now()
    if partial.strip():
        insert_messages(db, turn_id, [Message(role="assistant", content=partial)], now)
    db.execute(
        update(turns)
        .where(turns.c.id == turn_id)
        .values(state="interrupted", partial="", ended_at=now)
    )


def _owner_of(row: RowMapping) -> Owner:
    return Owner(
        id=row["id"],
        pid=row["pid"],
        process_started=row["process_started"],
        boot_id=row["boot_id"],
        host=row["host"],
    )


def process_started(pid: int) -> float | None:
    """When a process of this machine began, None when there is none. Only comparable here.

    On Linux counted from the boot, because a clock that is set moves all other start times.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None if Path("/proc/self/stat").exists() else _asked(pid)
    fields = stat.rpartition(b")")[2].split()
    zombie = fields[0] in (b"Z", b"X")
    return None if zombie else int(fields[19]) / os.sysconf("SC_CLK_TCK")


def _asked(pid: int) -> float | None:
    import psutil  # only where there is no /proc: 10 ms

    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except psutil.Error:
        return None


@cache
def _boot_id() -> str:
    """Tells two boots apart where start times count from the boot; else there is no need."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""
