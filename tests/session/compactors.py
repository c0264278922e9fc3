"""Processes whose dialog is summed up, to be killed or to get in each other's way. Run as a script.

``kill FOLDER ROUNDS SECONDS``: kill -9 a child, which asks and sums up again and again, at instants
spread over SECONDS, ROUNDS times; after each, check in another child that the dialog makes sense.
``share FOLDER CHILDREN TIMES``: CHILDREN sum up the same dialog at once, each TIMES times.
``grow FOLDER TURNS STEP``: a dialog of TURNS turns; print what each STEP of them took.

It forks, so that a round costs no start of Python.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Coroutine
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import alembic.command  # noqa: F401 - here, so that a fork does not import it again
import anyio
import anyio.to_thread
from sqlalchemy import Connection, select

from octo_lab.app import open_app
from octo_lab.core.mail import AskOptions, RunCommand
from octo_lab.core.messages import ChatRequest
from octo_lab.core.replies import Told
from octo_lab.core.stream import Done, TextDelta
from octo_lab.core.turns import TurnSnapshot
from octo_lab.llm.provider import Events
from octo_lab.storage.database import Database, open_database
from octo_lab.storage.history import on_path
from octo_lab.storage.schema import sessions, summaries
from octo_lab.storage.summaries import summary_of
from octo_lab.storage.turns import load_turns
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.setups import setup_in

COMMON = "common"
MANY = 100_000
HERE = AskOptions(session=COMMON)
Work = Callable[[MemoryChannel], Coroutine[Any, Any, None]]


class Recorder:
    """Answers with a number, and asked for a record, with one that grows by what it records."""

    name = model = "recorder"

    async def stream(self, request: ChatRequest) -> Events:
        asked = "keep the record" in request.messages[0].content
        yield TextDelta("A record." if asked else f"answer to {request.messages[-1].content}")
        yield Done("end_turn")


def fork(folder: Path, work: Work) -> int:
    """Run ``work`` in the app of a child; its exit code is 0 if all went well."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        anyio.run(_in_app, folder, work)
        code = 0
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        os._exit(code)


async def _in_app(folder: Path, work: Work) -> None:
    channel = MemoryChannel()
    async with open_app(setup_in(folder, channel, provider=Recorder())):
        await work(channel)


def ended(child: int) -> None:
    _, status = os.waitpid(child, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit("a child failed")


async def ask(channel: MemoryChannel, text: str) -> TurnSnapshot:
    return await channel.turn(await channel.ask(text, HERE))


async def compact(channel: MemoryChannel) -> Told:
    told = await channel.control(RunCommand(line="/compact", session=COMMON))
    assert isinstance(told, Told)
    return told


# -- kill ---------------------------------------------------------------------------------


async def go_on(channel: MemoryChannel) -> None:
    for number in count():
        for part in range(3):
            await ask(channel, f"{number} {part}")
        await compact(channel)


async def make_sense(channel: MemoryChannel, folder: Path) -> None:
    turn = await ask(channel, "after")
    assert turn.state == "completed", turn
    assert turn.text == "answer to after"
    async with open_database(folder / "data" / "octo_lab.db") as database:
        await assert_sense(database)


async def assert_sense(database: Database) -> None:
    """The cursor is on the path; the summary is of what is before it; nothing before is lost."""

    def look(db: Connection) -> None:
        row = db.execute(select(sessions).where(sessions.c.title == COMMON)).one()
        whole = load_turns(db, row.id, context_only=False, limit=MANY)
        ids = [record.turn.id for record in whole]
        assert [record.turn.depth for record in whole] == list(range(1, len(whole) + 1))
        assert [record.turn.parent for record in whole] == [None, *ids[:-1]]
        assert (row.cursor is None) == (row.summary is None)
        rest = load_turns(db, row.id, context_only=True, limit=MANY)
        if row.cursor is not None:
            assert on_path(db, row.head, None, (row.cursor,)) == row.cursor
            made = db.execute(select(summaries).where(summaries.c.id == row.summary)).one()
            assert made.turn_id == row.cursor
            assert summary_of(db, row.id) == made.text == "A record."
            assert [record.turn.id for record in rest] == ids[ids.index(row.cursor) + 1 :]
        assert rest

    await database.read(look)


def kill(folder: Path, rounds: int, seconds: float) -> None:
    for number in range(rounds):
        child = fork(folder, go_on)
        time.sleep(seconds * (number + 1) / rounds)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        ended(fork(folder, partial(make_sense, folder=folder)))


# -- share --------------------------------------------------------------------------------


async def begin(channel: MemoryChannel) -> None:
    for number in range(6):
        await ask(channel, str(number))


async def again_and_again(channel: MemoryChannel, folder: Path, times: int) -> None:
    """Sum up while others do and while turns of this or another process run."""
    won = 0
    for number in range(times):
        told = await compact(channel)
        won += not told.failed
        known = ("went on meanwhile", "too little", "A turn runs")
        assert not told.failed or any(words in told.text for words in known), told
        asked = await channel.ask(f"{os.getpid()} {number}", HERE)
        await channel.wait(partial(_answered, channel, asked.id))
    (folder / f"won-{os.getpid()}").write_text(str(won))


def _answered(channel: MemoryChannel, message: str) -> object:
    """Its turn has ended, or it was told that another process is at work there."""
    ends = [turn for turn in channel.finished if turn.message_id == message]
    told = [said for said in channel.sent if said.reply_to == message]
    assert all(turn.state == "completed" for turn in ends), ends
    assert all("busy in kernel" in said.text for said in told), told
    return (*ends, *told) or None


async def count_up(channel: MemoryChannel, folder: Path) -> None:
    await make_sense(channel, folder)
    async with open_database(folder / "data" / "octo_lab.db") as database:
        made = await database.read(lambda db: len(db.execute(select(summaries)).all()))
    won = await anyio.to_thread.run_sync(_won, folder)
    assert made == sum(won) > 0, (made, won)


def _won(folder: Path) -> list[int]:
    return [int(file.read_text()) for file in folder.glob("won-*")]


def share(folder: Path, children: int, times: int) -> None:
    ended(fork(folder, begin))
    work = partial(again_and_again, folder=folder, times=times)
    for child in [fork(folder, work) for _ in range(children)]:
        ended(child)
    ended(fork(folder, partial(count_up, folder=folder)))


# -- grow ---------------------------------------------------------------------------------


async def grow_by(channel: MemoryChannel, turns: int, step: int) -> None:
    for start in range(0, turns, step):
        began = time.perf_counter()
        for number in range(start, start + step):
            await ask(channel, f"question {number} {'word ' * 100}")
        report(f"{start + step}", (time.perf_counter() - began) / step)
    for line in ("/compact", "/status"):
        began = time.perf_counter()
        told = await channel.control(RunCommand(line=line, session=COMMON))
        assert isinstance(told, Told)
        assert not told.failed, told
        report(line, time.perf_counter() - began)


def report(what: str, seconds: float) -> None:
    sys.stdout.write(f"{what}: {seconds * 1000:.1f} ms\n")


def grow(folder: Path, turns: int, step: int) -> None:
    ended(fork(folder, partial(grow_by, turns=turns, step=step)))


def main(what: str, where: str, times: str, amount: str) -> None:
    folder = Path(where)
    match what:
        case "kill":
            kill(folder, int(times), float(amount))
        case "share":
            share(folder, int(times), int(amount))
        case _:
            grow(folder, int(times), int(amount))


if __name__ == "__main__":
    main(*sys.argv[1:])
