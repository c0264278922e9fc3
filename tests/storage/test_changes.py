from __future__ import annotations

from functools import partial
from hashlib import sha256
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from octo_lab.core.keys import ChatAddress
from octo_lab.core.messages import Message
from octo_lab.storage.changes import (
    FileChange,
    changes_of,
    drop_change,
    keep_change,
    mark_undone,
    store_changes,
)
from octo_lab.storage.database import Database, open_database
from octo_lab.storage.owners import register_owner, this_process
from octo_lab.storage.sessions import create_session, delete_session
from octo_lab.storage.turns import NewTurn, begin_turn, finish_turn

pytestmark = pytest.mark.anyio

CHAT = ChatAddress(channel="notebook", chat_id="c")


async def turn_of(database: Database, session: str) -> str:
    owner = await anyio.to_thread.run_sync(this_process)
    await database.run(partial(register_owner, owner=owner))
    new = NewTurn(
        session_id=session,
        message=Message(role="user", content="hi"),
        prompt="hi",
        message_id="m",
        model="m",
        provider="p",
    )
    row = await database.run(partial(begin_turn, new=new, owner=owner.id))
    await database.run(partial(finish_turn, turn_id=row.id, owner=owner.id, state="completed"))
    return row.id


def change(path: str, before: bytes | None, after: bytes | None) -> FileChange:
    return FileChange(path=path, before=before, after=after, mode=0o640, made=1)


async def blobs(folder: Path) -> list[str]:
    return sorted([path.name async for path in anyio.Path(folder, "media").iterdir()])


def name(data: bytes) -> str:
    return sha256(data).hexdigest()


async def test_changes_are_kept_in_order_with_names_of_any_bytes(tmp_path: Path) -> None:
    async with open_database(tmp_path / "octo.db", media=tmp_path / "media") as database:
        session = (await database.run(partial(create_session, address=CHAT, title="t"))).id
        turn = await turn_of(database, session)
        odd = "100%/é\n\udcff"
        changes = [change(odd, None, b"new"), change("b", b"old", None)]
        await database.run(
            partial(store_changes, turn_id=turn, changes=changes, unknown=["shell: make"])
        )
        kept = await database.read(partial(changes_of, session_id=session))
        assert [(row.path, row.before, row.after, row.mode, row.made) for row in kept] == [
            (odd, "", name(b"new"), 0o640, 1),
            ("b", name(b"old"), "", 0o640, 1),
            ("", "", "", 0, 0),
        ]
        assert [row.what for row in kept] == ["", "", "shell: make"]
        assert await anyio.Path(tmp_path, "media", name(b"old")).read_bytes() == b"old"
        await database.run(partial(mark_undone, ids=[kept[0].id], undone=True))
        again = await database.read(partial(changes_of, session_id=session))
        assert [row.undone for row in again] == [True, False, False]


async def test_the_oldest_turns_are_forgotten_first_with_their_bytes(tmp_path: Path) -> None:
    async with open_database(tmp_path / "octo.db", media=tmp_path / "media") as database:
        session = (await database.run(partial(create_session, address=CHAT, title="t"))).id
        for data in (b"1" * 60, b"2" * 60, b"3" * 60):
            turn = await turn_of(database, session)
            changes = [change("f", b"shared", data)]
            await database.run(
                partial(store_changes, turn_id=turn, changes=changes, unknown=[], limit=140)
            )
        kept = await database.read(partial(changes_of, session_id=session))
        assert [row.after for row in kept] == [name(b"2" * 60), name(b"3" * 60)]
        assert await blobs(tmp_path) == sorted([name(b"shared"), name(b"2" * 60), name(b"3" * 60)])


async def test_a_change_that_is_kept_ahead_can_be_dropped_again(tmp_path: Path) -> None:
    async with open_database(tmp_path / "octo.db", media=tmp_path / "media") as database:
        session = (await database.run(partial(create_session, address=CHAT, title="t"))).id
        turn = await turn_of(database, session)
        made = change("f", b"shared", b"made")
        not_made = change("f", b"shared", b"not made")
        numbers = [
            await database.run(partial(keep_change, turn_id=turn, change=one))
            for one in (made, not_made)
        ]
        await database.run(partial(drop_change, number=numbers[1]))
        kept = await database.read(partial(changes_of, session_id=session))
        assert [(row.id, row.path, row.after) for row in kept] == [(numbers[0], "f", name(b"made"))]
        assert await blobs(tmp_path) == sorted([name(b"shared"), name(b"made")])


async def test_a_deleted_dialog_takes_its_changes_along(tmp_path: Path) -> None:
    async with open_database(tmp_path / "octo.db", media=tmp_path / "media") as database:
        session = (await database.run(partial(create_session, address=CHAT, title="t"))).id
        turn = await turn_of(database, session)
        await database.run(
            partial(store_changes, turn_id=turn, changes=[change("f", None, b"x")], unknown=[])
        )
        await database.run(partial(delete_session, session_id=session))
        assert await blobs(tmp_path) == []
