"""Turns that run beside another, answer several messages, or begin with a remark."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from sqlalchemy import update
from sqlalchemy.exc import IntegrityError

from octo_lab.core.errors import SessionBusy, StorageError
from octo_lab.core.messages import Message
from octo_lab.storage.database import Database
from octo_lab.storage.owners import Owner, reclaim, register_owner
from octo_lab.storage.schema import turns
from octo_lab.storage.sessions import SessionRow, add_remark, create_session
from octo_lab.storage.turns import NewTurn, TurnRow, finish_turn
from tests.storage.test_turns import ANSWER, CHAT, ask, begin, finish, load, new_turn, refreshed

pytestmark = pytest.mark.anyio


@pytest.fixture
async def session(database: Database) -> SessionRow:
    return await database.run(partial(create_session, address=CHAT, title="Work"))


def beside(session: SessionRow, prompt: str) -> NewTurn:
    return replace(new_turn(session, prompt), beside=True)


async def states(database: Database, session: SessionRow) -> list[tuple[str, str]]:
    return [(record.turn.prompt, record.turn.state) for record in await load(database, session)]


async def test_turns_beside_another_follow_it_in_the_order_they_were_asked(
    database: Database, owner: Owner, session: SessionRow
) -> None:
    await ask(database, owner, new_turn(session, "before"))
    main = await begin(database, owner, new_turn(session, "main"))
    one, two = [await begin(database, owner, beside(session, text)) for text in ("one", "two")]
    await finish(database, owner, two)
    await finish(database, owner, main)
    after = await begin(database, owner, new_turn(session, "after"))
    meanwhile = await states(database, session)
    for turn in (one, after):
        await finish(database, owner, turn)

    records = await load(database, session)
    assert meanwhile == [
        ("before", "completed"),
        ("main", "completed"),
        ("one", "running"),
        ("two", "completed"),
        ("after", "running"),
    ]
    assert [record.turn.depth for record in records] == [1, 2, 3, 4, 5]
    ids = [record.turn.id for record in records]
    assert [record.turn.parent for record in records] == [None, *ids[:-1]]
    assert [record.turn.side for record in records] == ["", "", one.id, two.id, ""]
    assert (await refreshed(database, session)).head == after.id


async def test_a_session_is_another_process_s_while_one_of_its_turns_runs_there(
    database: Database, owner: Owner, session: SessionRow
) -> None:
    other = replace(owner, id="other")
    await database.run(partial(register_owner, owner=other))
    main = await begin(database, owner, new_turn(session, "main"))
    side = await begin(database, owner, beside(session, "side"))
    await finish(database, owner, main)

    with pytest.raises(SessionBusy):
        await begin(database, other, new_turn(session, "mine"))

    await finish(database, owner, side)
    await ask(database, other, new_turn(session, "mine"))


async def test_all_that_a_dead_process_ran_are_closed(
    database: Database, owner: Owner, session: SessionRow
) -> None:
    async def run_both(dead: Owner) -> list[TurnRow]:
        await database.run(partial(register_owner, owner=dead))
        news = (new_turn(session, "main"), beside(session, "side"))
        return [await begin(database, dead, new) for new in news]

    await run_both(replace(owner, id="dead", pid=2**22 + 1))
    await ask(database, owner, new_turn(session, "next"))
    second = await run_both(replace(owner, id="dead too", pid=2**22 + 2))

    assert await database.run(reclaim) == [turn.id for turn in second]
    assert await states(database, session) == [
        ("main", "interrupted"),
        ("side", "interrupted"),
        ("next", "completed"),
        ("main", "interrupted"),
        ("side", "interrupted"),
    ]


async def test_the_database_itself_lets_one_main_turn_run(
    database: Database, owner: Owner, session: SessionRow
) -> None:
    await begin(database, owner, new_turn(session, "main"))
    side = await begin(database, owner, beside(session, "side"))

    with pytest.raises((StorageError, IntegrityError)):
        await database.run(
            lambda db: db.execute(update(turns).where(turns.c.id == side.id).values(side=""))
        )


async def test_the_ids_of_all_messages_that_a_turn_answers_are_kept(
    database: Database, owner: Owner, session: SessionRow
) -> None:
    new = replace(new_turn(session, "all"), also=("b", 'c "x"\n', "é"))
    await ask(database, owner, new)

    [record] = await load(database, session)
    assert (record.turn.message_id, record.turn.also) == ("message-1", ("b", 'c "x"\n', "é"))


async def test_a_remark_goes_before_the_next_message_and_only_that(
    database: Database, owner: Owner, session: SessionRow
) -> None:
    for remark in ("[one]", "[two]"):
        await database.run(partial(add_remark, session_id=session.id, remark=remark))
    first = await ask(database, owner, new_turn(session, "a"))
    await ask(database, owner, new_turn(session, "b"))

    said = [record.messages[0] for record in await load(database, session)]
    assert said == [
        Message(role="user", content="[one]\n[two]\n\na!"),
        Message(role="user", content="b!"),
    ]
    assert first.remark == "[one]\n[two]"


async def test_remarks_that_nobody_reads_do_not_grow_for_ever(
    database: Database, session: SessionRow
) -> None:
    for number in range(300):
        remark = f"[remark {number} {'x' * 50}]"
        await database.run(partial(add_remark, session_id=session.id, remark=remark))

    kept = (await refreshed(database, session)).remark
    assert len(kept) < 5000
    assert kept.startswith("[remark 0 ")
    assert "[remark 299 " in kept


async def test_a_turn_that_failed_to_store_its_end_does_not_hold_the_next_main_turn(
    database: Database, owner: Owner, session: SessionRow
) -> None:
    await begin(database, owner, new_turn(session, "lost"))
    side = await begin(database, owner, beside(session, "side"))
    await ask(database, owner, new_turn(session, "next"))
    end = partial(finish_turn, turn_id=side.id, owner=owner.id, state="completed")
    await database.run(partial(end, messages=(ANSWER,)))

    assert await states(database, session) == [
        ("lost", "interrupted"),
        ("side", "completed"),
        ("next", "completed"),
    ]
