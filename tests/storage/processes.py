"""Processes that store turns, to be killed or to get in each other's way. Run as a script.

``kill DATABASE FOLDER ROUNDS SECONDS``: kill -9 a child at instants spread over SECONDS, ROUNDS
times; after each, check in another child that what the database holds makes sense.
``make DATABASE FOLDER ROUNDS SECONDS``: the same, with a new DATABASE-N in each round.
``share DATABASE FOLDER COUNT TURNS``: COUNT children open a database that is not yet made, all at
once; then each stores TURNS turns in a session of its own, and as many as it can in a common one.

It forks, so that a round costs no start of Python; no connection is open across a fork.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import alembic.command  # noqa: F401 - here, so that a kill meets the migration, not this import
import anyio
from sqlalchemy import Connection, select

from octo_lab.core.errors import SessionBusy
from octo_lab.core.keys import ChatAddress
from octo_lab.core.messages import Media, Message, ToolCall
from octo_lab.storage.database import Database, open_database
from octo_lab.storage.owners import Owner, reclaim, register_process
from octo_lab.storage.schema import messages, turns
from octo_lab.storage.sessions import create_session, find_session, list_sessions
from octo_lab.storage.turns import (
    NewTurn,
    TurnRecord,
    append_step,
    begin_turn,
    finish_turn,
    load_turns,
    save_partial,
)

CHAT = ChatAddress(channel="notebook", chat_id="a.ipynb")
COMMON = "common"
LONG = 100  # turns after which a writer begins a new session, so that a check stays short
PICTURE = Media(mime="image/png", data=b"\x89PNG" * 1000, name="plot.png")
Work = Callable[[Database], Coroutine[Any, Any, None]]


def open_at(place: str, folder: Path) -> Any:
    return open_database(place if "://" in place else Path(place), media=folder / "media")


def fork(work: Work, place: str, folder: Path) -> int:
    """Run ``work`` over the opened database in a child; its exit code is 0 if all went well."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        anyio.run(_opened, work, place, folder)
        code = 0
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        os._exit(code)


async def _opened(work: Work, place: str, folder: Path) -> None:
    async with open_at(place, folder) as database:
        await work(database)


def at_once(works: Sequence[Work], place: str, folder: Path) -> None:
    for child in [fork(work, place, folder) for work in works]:
        ended(child)


def ended(child: int) -> None:
    _, status = os.waitpid(child, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit("a child failed")


def step(number: int) -> tuple[Message, ...]:
    first, second = (ToolCall(id=f"c{number}{n}", name="t", arguments="{}") for n in "ab")
    return (
        Message(role="assistant", content=f"step {number}", tool_calls=(first, second)),
        Message(role="tool", content="1", tool_call_id=first.id, media=(PICTURE,)),
        Message(role="tool", content="2", tool_call_id=second.id),
    )


async def store_turn(database: Database, owner: Owner, session: str, prompt: str) -> str:
    """One turn of two steps with two calls each, and a partial reply after each of them."""
    user = Message(role="user", content=prompt)
    new = NewTurn(
        session_id=session, message=user, prompt=prompt, message_id="m", model="m", provider="p"
    )
    mine: dict[str, Any] = {"turn_id": new.turn_id, "owner": owner.id}
    await database.run(partial(begin_turn, new=new, owner=owner.id))
    for number in range(2):
        await database.run(partial(append_step, **mine, messages=step(number)))
        await database.run(partial(save_partial, **mine, text=f"partial {number}"))
    answer = [Message(role="assistant", content=f"answer to {prompt}")]
    await database.run(partial(finish_turn, **mine, state="completed", messages=answer))
    return new.turn_id


# -- kill ---------------------------------------------------------------------------------


async def write_on(database: Database, folder: Path) -> None:
    """Store turns until killed, and write down each one that the database has confirmed."""
    owner = await database.run(register_process)
    await database.run(reclaim)
    found = await database.read(partial(list_sessions, address=CHAT))
    usable = found and found[0].turns < LONG
    session = found[0] if usable else await database.run(partial(create_session, address=CHAT))
    log = os.open(folder / "confirmed", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for number in count():
        turn = await store_turn(database, owner, session.id, f"{os.getpid()} {number}")
        os.write(log, f"{turn}\n".encode())


async def make_sense(database: Database, folder: Path) -> None:
    """Nothing confirmed is lost, nothing is half, and the next turn works."""
    owner = await database.run(register_process)
    await database.run(reclaim)
    log = folder / "confirmed"
    confirmed = set(log.read_text().split()) if log.exists() else set()
    completed = select(turns.c.id).where(turns.c.state == "completed")
    assert confirmed <= set(await database.read(lambda db: db.scalars(completed).all()))
    for session in (await database.read(partial(list_sessions, address=CHAT)))[:1]:
        await store_turn(database, owner, session.id, "after")
        load = partial(load_turns, session_id=session.id, context_only=False)
        records = await database.read(load)
        assert [r.turn.depth for r in records] == list(range(1, len(records) + 1))
        assert [r.turn.parent for r in records] == [None, *(r.turn.id for r in records[:-1])]
        for record in records:
            assert_whole(record)


def assert_whole(record: TurnRecord) -> None:
    user, *rest = record.messages
    assert user == Message(role="user", content=record.turn.prompt)
    whole = (*step(0), *step(1))
    if record.turn.state == "completed":
        answer = Message(role="assistant", content=f"answer to {record.turn.prompt}")
        assert rest == [*whole, answer]
        return
    assert record.turn.state == "interrupted"
    allowed: list[list[Message]] = [[], [*step(0)], [*whole]]
    allowed += [
        [*step(0), Message(role="assistant", content="partial 0")],
        [*whole, Message(role="assistant", content="partial 1")],
    ]
    assert rest in allowed, rest


def kill(place: str, folder: Path, rounds: int, seconds: float) -> None:
    for number in range(rounds):
        child = fork(partial(write_on, folder=folder), place, folder)
        time.sleep(seconds * (number + 1) / rounds)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        ended(fork(partial(make_sense, folder=folder), place, folder))


def make(place: str, folder: Path, rounds: int, seconds: float) -> None:
    for number in range(rounds):
        own = folder / str(number)
        own.mkdir()
        kill(f"{place}-{number}", own, 1, seconds * (number + 1) / rounds)


# -- share --------------------------------------------------------------------------------


async def share_one(database: Database, name: str, turns: int) -> None:
    owner = await database.run(register_process)
    own = await database.run(partial(create_session, address=CHAT, title=name))
    common = await database.read(partial(find_session, address=CHAT, name=COMMON))
    assert common is not None
    stored = 0
    for number in range(turns):
        await store_turn(database, owner, own.id, f"{name} {number}")
        try:
            await store_turn(database, owner, common.id, f"{name} {number}")
            stored += 1
        except SessionBusy:
            continue
    await database.run(partial(create_session, address=CHAT, title=f"stored {stored}"))


async def only_open(database: Database) -> None:
    """Opening makes the tables."""


async def make_common(database: Database) -> None:
    await database.run(partial(create_session, address=CHAT, title=COMMON))


async def count_up(database: Database, children: int, turns: int) -> None:
    listed = await database.read(partial(list_sessions, address=CHAT))
    expected = sum(int(s.title.split()[1]) for s in listed if s.title.startswith("stored "))
    assert expected
    for session in listed:
        load = partial(load_turns, session_id=session.id, context_only=False)
        records = await database.read(load)
        for record in records:
            assert record.turn.state == "completed"
            assert_whole(record)
        if session.title == COMMON:
            assert len(records) == expected
        elif session.title.startswith("child "):
            assert len(records) == turns
    assert len([s for s in listed if s.title.startswith("child ")]) == children
    assert not await database.read(_orphans)


def _orphans(db: Connection) -> list[int]:
    unknown = ~messages.c.turn_id.in_(select(turns.c.id))
    return list(db.scalars(select(messages.c.id).where(unknown)))


def share(place: str, folder: Path, children: int, turns: int) -> None:
    at_once([only_open] * children, place, folder)
    ended(fork(make_common, place, folder))
    names = [f"child {number}" for number in range(children)]
    at_once([partial(share_one, name=name, turns=turns) for name in names], place, folder)
    ended(fork(partial(count_up, children=children, turns=turns), place, folder))


if __name__ == "__main__":
    what, where, below, times, amount = sys.argv[1:]
    if what == "share":
        share(where, Path(below), int(times), int(amount))
    else:
        {"kill": kill, "make": make}[what](where, Path(below), int(times), float(amount))
