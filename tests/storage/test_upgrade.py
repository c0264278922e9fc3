"""A database of the first schema, with rows, as the present code takes it over."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Connection, text

from octo_lab.core.keys import ChatAddress
from octo_lab.core.messages import Message, Usage
from octo_lab.storage import migrations
from octo_lab.storage.database import open_database
from octo_lab.storage.engines import make_engines
from octo_lab.storage.history import TurnRecord, TurnRow, load_turns
from octo_lab.storage.migrate import stored_revision
from octo_lab.storage.owners import Owner, register_process
from octo_lab.storage.partial_indexes import metadata
from octo_lab.storage.schema import REVISION
from octo_lab.storage.sessions import list_sessions
from octo_lab.storage.sqlite_file import APPLICATION_ID
from octo_lab.storage.turns import NewTurn, begin_turn, finish_turn

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("emptied_afterwards")]

CHAT = ChatAddress(channel="notebook", chat_id="a.ipynb")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
OLD_USAGE = Usage(input_tokens=10, output_tokens=5, cached_tokens=3, requests=2)
NEW_USAGE = Usage(
    input_tokens=100,
    output_tokens=50,
    cached_tokens=30,
    written_tokens=20,
    reasoning_tokens=10,
    requests=3,
    cost=0.0042,
    priced=2,
)
ROWS: dict[str, list[dict[str, Any]]] = {
    "turns": [
        {
            "id": name,
            "session_id": "s1",
            "parent": parent,
            "depth": depth,
            "state": "completed",
            "prompt": f"ask {name}",
            "slot": "",
            "message_id": f"message {name}",
            "model": "m",
            "provider": "p",
            "input_tokens": 10,
            "output_tokens": 5,
            "cached_tokens": 3,
            "requests": 2,
            "error": "",
            "hint": "",
            "partial": "",
            "started_at": 1_000_000 * depth,
            "ended_at": 1_000_000 * depth + 5,
            "owner": "gone",
        }
        for name, parent, depth in (("t1", None, 1), ("t2", "t1", 2))
    ],
    "messages": [
        {
            "turn_id": turn,
            "role": role,
            "content": content,
            **dict.fromkeys(("reasoning", "media", "tool_calls", "tool_call_id", "tool_name"), ""),
            "outcome": "ok",
            "seconds": None,
            "provider_state": "",
            "created_at": 1,
        }
        for turn in ("t1", "t2")
        for role, content in (("user", f"ask {turn}"), ("assistant", f"told {turn}"))
    ],
    "sessions": [
        {
            "id": "s1",
            "profile": "default",
            "channel": "notebook",
            "chat_id": "a.ipynb",
            "title": "Work",
            "workspace": "",
            "head": "t2",
            "cursor": None,
            "archived": False,
            "branch_of": None,
            "model": None,
            "turns": 2,
            "created_at": 1,
            "updated_at": 2,
        }
    ],
}


def make_first_schema(location: Path | str) -> None:
    """A database as the first release left it."""
    engines = make_engines(location, None)
    with engines.writer.begin() as db:
        config = Config(attributes={"connection": db})
        config.set_main_option("script_location", str(Path(migrations.__file__).parent))
        command.upgrade(config, "0001")
        if db.dialect.name == "sqlite":
            db.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
        for table, rows in ROWS.items():
            names = list(rows[0])
            values = ", ".join(f":{name}" for name in names)
            columns = ", ".join(f'"{name}"' for name in names)
            db.execute(text(f"INSERT INTO {table} ({columns}) VALUES ({values})"), rows)
        assert stored_revision(db) == "0001"
    engines.dispose()


def record(name: str, parent: str | None, depth: int) -> TurnRecord:
    started = EPOCH + timedelta(seconds=depth)
    return TurnRecord(
        turn=TurnRow(
            id=name,
            session_id="s1",
            parent=parent,
            depth=depth,
            state="completed",
            prompt=f"ask {name}",
            slot="",
            message_id=f"message {name}",
            model="m",
            provider="p",
            usage=OLD_USAGE,
            started_at=started,
            ended_at=started + timedelta(microseconds=5),
            owner="gone",
        ),
        messages=(
            Message(role="user", content=f"ask {name}"),
            Message(role="assistant", content=f"told {name}"),
        ),
    )


async def test_an_old_database_keeps_its_rows_and_takes_costs(location: Path | str) -> None:
    await anyio.to_thread.run_sync(make_first_schema, location)
    load = partial(load_turns, session_id="s1", context_only=False)
    for _ in range(2):  # the second time there is nothing to do
        async with open_database(location) as database:
            assert await database.read(stored_revision) == REVISION
            old = await database.read(load)
            assert old == [record("t1", None, 1), record("t2", "t1", 2)]
            assert [turn.turn.usage.dollars for turn in old] == [None, None]
    async with open_database(location) as database:
        owner = await database.run(register_process)
        session = (await database.read(partial(list_sessions, address=CHAT)))[0]
        assert (session.title, session.turns) == ("Work", 2)
        await database.run(partial(add_turn, owner=owner))
        assert [turn.turn.usage for turn in await database.read(load)] == [
            OLD_USAGE,
            OLD_USAGE,
            NEW_USAGE,
        ]


def add_turn(db: Connection, owner: Owner) -> None:
    new = NewTurn(
        session_id="s1",
        message=Message(role="user", content="more"),
        prompt="more",
        message_id="m3",
        slot="",
        replace=True,
        model="m",
        provider="p",
    )
    turn = begin_turn(db, new=new, owner=owner.id)
    finish_turn(db, turn.id, owner=owner.id, state="completed", usage=NEW_USAGE)


async def test_an_upgraded_database_has_exactly_the_tables_of_the_schema(
    location: Path | str,
) -> None:
    await anyio.to_thread.run_sync(make_first_schema, location)

    def differences(db: Connection) -> list[object]:
        context = MigrationContext.configure(db, opts={"compare_type": True})
        return list(compare_metadata(context, metadata))

    async with open_database(location) as database:
        assert await database.read(differences) == []
