from __future__ import annotations

from functools import partial

import pytest
from sqlalchemy import Connection, func, select

from octo_lab.core.errors import UsageError
from octo_lab.core.keys import ChatAddress
from octo_lab.core.messages import Message
from octo_lab.storage.database import Database
from octo_lab.storage.owners import Owner
from octo_lab.storage.schema import messages, turns
from octo_lab.storage.sessions import (
    SessionRow,
    archive_session,
    clear_context,
    count_branches,
    create_session,
    current_session,
    delete_session,
    find_session,
    get_session,
    list_sessions,
    make_current,
    rename_session,
    set_model,
)
from octo_lab.storage.turns import NewTurn, begin_turn, finish_turn, load_turns

pytestmark = pytest.mark.anyio

CHAT = ChatAddress(channel="notebook", chat_id="a.ipynb")
OTHER = ChatAddress(channel="notebook", chat_id="b.ipynb")


async def create(database: Database, title: str = "", workspace: str = "") -> SessionRow:
    return await database.run(
        partial(create_session, address=CHAT, title=title, workspace=workspace)
    )


async def ask(
    database: Database, owner: Owner, session: SessionRow, prompt: str, slot: str = ""
) -> str:
    new = NewTurn(
        session_id=session.id,
        message=Message(role="user", content=prompt),
        prompt=prompt,
        message_id="m",
        slot=slot,
        model="m",
        provider="p",
    )
    await database.run(partial(begin_turn, new=new, owner=owner.id))
    answer = [Message(role="assistant", content=f"answer to {prompt}")]
    await database.run(
        lambda db: finish_turn(db, new.turn_id, owner=owner.id, state="completed", messages=answer)
    )
    return new.turn_id


async def titles(database: Database, **filters: object) -> list[str]:
    listed = await database.read(partial(list_sessions, address=CHAT, **filters))  # type: ignore[arg-type]
    return [session.title for session in listed]


async def test_a_new_session_is_read_back_whole(database: Database) -> None:
    session = await create(database, "My work 😀", "/w")

    found = await database.read(partial(get_session, session_id=session.id))

    assert found == session
    assert session.key.address == CHAT
    assert session.key.dialog == session.id


async def test_a_chat_is_in_no_dialog_until_one_is_made_current(database: Database) -> None:
    first, second = await create(database, "1"), await create(database, "2")
    assert await database.read(partial(current_session, address=CHAT)) is None

    for session in (first, second):
        await database.run(partial(make_current, address=CHAT, session_id=session.id))
        assert await database.read(partial(current_session, address=CHAT)) == session

    assert await database.read(partial(current_session, address=OTHER)) is None


async def test_equal_chats_of_two_workspaces_are_kept_apart_when_asked(
    database: Database,
) -> None:
    first, second = await create(database, "x", "/1"), await create(database, "x", "/2")
    for session in (first, second):
        await database.run(partial(make_current, address=CHAT, session_id=session.id))

    current = partial(current_session, address=CHAT, workspace="/1")
    assert await database.read(current) == first
    find = partial(find_session, address=CHAT, name="x", workspace="/2")
    assert await database.read(find) == second
    listed = await database.read(partial(list_sessions, address=CHAT, workspace="/1"))
    assert listed == [first]


async def test_making_an_unknown_session_current_is_refused(database: Database) -> None:
    with pytest.raises(UsageError, match="No session 'none'"):
        await database.run(partial(make_current, address=CHAT, session_id="none"))


async def test_a_session_is_found_by_id_title_or_unique_beginning(database: Database) -> None:
    session = await create(database, "Sales")
    for name in (session.id, "Sales", session.id[:-1], session.id[:-1].upper()):
        assert await database.read(partial(find_session, address=CHAT, name=name)) == session
    for name in ("sale", session.id[:3], "%", "____", ""):
        assert await database.read(partial(find_session, address=CHAT, name=name)) is None
    assert await database.read(partial(find_session, address=OTHER, name="Sales")) is None


async def test_an_ambiguous_name_is_refused_with_the_ids(database: Database) -> None:
    first, second = await create(database, "x"), await create(database, "x")
    with pytest.raises(UsageError, match="2 sessions are called 'x'") as raised:
        await database.read(partial(find_session, address=CHAT, name="x"))
    assert first.id in raised.value.hint
    assert second.id in raised.value.hint

    await database.run(partial(archive_session, session_id=first.id, archived=True))
    assert await database.read(partial(find_session, address=CHAT, name="x")) == second


async def test_sessions_are_listed_newest_first_without_archived_ones(
    database: Database,
) -> None:
    made = {title: await create(database, title) for title in ("a", "b", "c")}
    await database.run(partial(archive_session, session_id=made["b"].id, archived=True))

    assert await titles(database) == ["c", "a"]
    assert await titles(database, archived=True) == ["c", "b", "a"]
    assert await titles(database, limit=1) == ["c"]


async def test_a_search_finds_titles_and_what_was_said_on_every_branch(
    database: Database, owner: Owner
) -> None:
    fruit, other = await create(database, "Fruit 100%"), await create(database, "Other")
    await ask(database, owner, other, "about APPLES", slot="cell")
    await ask(database, owner, other, "about pears", slot="cell")

    assert await titles(database, query="fruit") == ["Fruit 100%"]
    assert await titles(database, query="pears") == ["Other"]
    (branch,) = await titles(database, query="Answer to about apples", branches=True)
    assert branch.startswith("Other (before ")
    assert await titles(database, query="Answer to about apples") == []
    count = partial(count_branches, address=CHAT, query="Answer to about apples")
    assert await database.read(count) == 1
    assert await titles(database, query="0%") == ["Fruit 100%"]
    assert await titles(database, query="1%0") == []
    assert fruit.title == "Fruit 100%"


async def test_a_session_is_renamed_and_given_a_model(database: Database) -> None:
    session = await create(database)
    await database.run(partial(rename_session, session_id=session.id, title="New"))
    await database.run(partial(set_model, session_id=session.id, model="p/m"))

    found = await database.read(partial(get_session, session_id=session.id))

    assert found is not None
    assert (found.title, found.model) == ("New", "p/m")


async def test_changing_an_unknown_session_is_refused(database: Database) -> None:
    with pytest.raises(UsageError, match="No session 'none'"):
        await database.run(partial(rename_session, session_id="none", title="x"))


async def test_clearing_empties_the_context_and_keeps_the_rows(
    database: Database, owner: Owner
) -> None:
    session = await create(database)
    await ask(database, owner, session, "1")
    await database.run(partial(clear_context, session_id=session.id))
    await ask(database, owner, session, "2")

    context = await database.read(partial(load_turns, session_id=session.id, context_only=True))
    everything = await database.read(partial(load_turns, session_id=session.id, context_only=False))

    assert [record.turn.prompt for record in context] == ["2"]
    assert [record.turn.prompt for record in everything] == ["1", "2"]


async def test_a_title_means_the_dialog_rather_than_an_earlier_version(
    database: Database, owner: Owner
) -> None:
    session = await create(database, "s")
    await ask(database, owner, session, "1", slot="a")
    await ask(database, owner, session, "2", slot="a")
    (branch,) = [
        row
        for row in await database.read(partial(list_sessions, address=CHAT, branches=True))
        if row.branch_of
    ]
    find = partial(find_session, address=CHAT)

    assert (await database.read(partial(find, name=branch.title))) == branch
    assert (await database.read(partial(find, name=branch.id))) == branch
    await database.run(partial(rename_session, session_id=branch.id, title="s"))
    await database.run(partial(archive_session, session_id=session.id, archived=True))
    found = await database.read(partial(find, name="s"))
    assert found is not None
    assert found.id == session.id


async def test_deleting_a_dialog_deletes_its_earlier_versions(
    database: Database, owner: Owner
) -> None:
    session = await create(database, "s")
    for prompt in "123":
        await ask(database, owner, session, prompt, slot="a")
    await database.run(partial(delete_session, session_id=session.id))

    assert await database.read(partial(list_sessions, address=CHAT, branches=True)) == []
    assert await database.read(_count_rows) == (0, 0)


async def test_deleting_a_session_keeps_the_turns_another_one_holds(
    database: Database, owner: Owner
) -> None:
    session = await create(database, "s")
    await database.run(partial(make_current, address=CHAT, session_id=session.id))
    for prompt, slot in (("1", "a"), ("2", "b"), ("3", "b")):
        await ask(database, owner, session, prompt, slot)
    listed = await database.read(partial(list_sessions, address=CHAT, branches=True))
    (other,) = [row for row in listed if row.branch_of]
    await ask(database, owner, other, "4")
    await database.run(partial(delete_session, session_id=session.id))

    assert await database.read(partial(current_session, address=CHAT)) is None
    kept = await database.read(partial(load_turns, session_id=other.id, context_only=False))
    assert [record.turn.prompt for record in kept] == ["1", "2", "4"]

    await database.run(partial(delete_session, session_id=other.id))
    assert await database.read(_count_rows) == (0, 0)


def _count_rows(db: Connection) -> tuple[int, ...]:
    counted = (db.scalar(select(func.count()).select_from(t)) for t in (turns, messages))
    return tuple(count or 0 for count in counted)
