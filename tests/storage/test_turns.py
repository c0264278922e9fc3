from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from octo_lab.core.errors import SessionBusy, SessionMoved, StorageError, UsageError
from octo_lab.core.keys import ChatAddress
from octo_lab.core.messages import Media, Message, ProviderState, ToolCall, Usage
from octo_lab.core.turns import TurnState
from octo_lab.storage.database import Database
from octo_lab.storage.owners import Owner, reclaim, register_owner, remove_owner
from octo_lab.storage.sessions import (
    SessionRow,
    clear_context,
    count_branches,
    create_session,
    delete_session,
    get_session,
    list_sessions,
)
from octo_lab.storage.turns import (
    NewTurn,
    TurnRecord,
    TurnRow,
    append_step,
    begin_turn,
    finish_turn,
    load_turns,
    save_partial,
)

pytestmark = pytest.mark.anyio

CHAT = ChatAddress(channel="notebook", chat_id="a.ipynb")
CALLS = (
    ToolCall(id="c1", name="grep", arguments='{"x": "é'),
    ToolCall(id="c2", name="python", arguments="{}"),
)
STEP = (
    Message(
        role="assistant",
        content="Let me look. 😀\r\n\0",
        reasoning="hm",
        tool_calls=CALLS,
        provider_state=ProviderState(provider="p", model="m", blob='{"sig": "…"}'),
    ),
    Message(role="tool", content="out", tool_call_id="c1", tool_name="grep", seconds=0.25),
    Message(
        role="tool",
        content="boom",
        tool_call_id="c2",
        tool_name="python",
        outcome="denied",
        media=(Media(mime="image/png", data=b"\x89PNG", name="plot.png"),),
    ),
)
ANSWER = Message(role="assistant", content="Done.")
USAGE = Usage(input_tokens=10, output_tokens=5, cached_tokens=3, requests=2)


@pytest.fixture
async def session(database: Database) -> SessionRow:
    return await database.run(partial(create_session, address=CHAT, title="Work"))


@pytest.fixture
async def dead(database: Database, owner: Owner) -> Owner:
    """An owner whose process is gone."""
    dead = replace(owner, id="dead", pid=2**22 + 1)
    await database.run(partial(register_owner, owner=dead))
    return dead


def new_turn(
    session: SessionRow, prompt: str = "hi", *, slot: str = "", again: bool = True
) -> NewTurn:
    return NewTurn(
        session_id=session.id,
        message=Message(role="user", content=f"{prompt}!"),
        prompt=prompt,
        message_id="message-1",
        slot=slot,
        replace=again,
        model="m",
        provider="p",
    )


async def begin(database: Database, owner: Owner, new: NewTurn) -> TurnRow:
    return await database.run(partial(begin_turn, new=new, owner=owner.id))


async def finish(
    database: Database,
    owner: Owner,
    turn: TurnRow,
    messages: Sequence[Message] = (ANSWER,),
    state: TurnState = "completed",
) -> None:
    await database.run(
        lambda db: finish_turn(
            db, turn.id, owner=owner.id, state=state, messages=messages, usage=USAGE
        )
    )


async def ask(database: Database, owner: Owner, new: NewTurn) -> TurnRow:
    turn = await begin(database, owner, new)
    await finish(database, owner, turn)
    return turn


async def load(database: Database, session: SessionRow) -> list[TurnRecord]:
    return await database.read(partial(load_turns, session_id=session.id, context_only=False))


async def prompts(database: Database, session: SessionRow) -> list[str]:
    return [record.turn.prompt for record in await load(database, session)]


async def refreshed(database: Database, session: SessionRow) -> SessionRow:
    found = await database.read(partial(get_session, session_id=session.id))
    assert found is not None
    return found


async def test_a_running_turn_and_the_words_of_the_user_are_there_at_once(
    database: Database, owner: Owner, session: SessionRow
) -> None:
    turn = await begin(database, owner, new_turn(session))

    (record,) = await load(database, session)

    assert record == TurnRecord(turn=turn, messages=(Message(role="user", content="hi!"),))
    assert (turn.state, turn.parent, turn.depth, turn.owner) == ("running", None, 1, owner.id)
    now = await refreshed(database, session)
    assert (now.head, now.turns, now.updated_at) == (turn.id, 1, turn.started_at)


async def test_a_finished_turn_is_read_back_whole(
    database: Database, owner: Owner, session: SessionRow, location: Path | str
) -> None:
    turn = await begin(database, owner, new_turn(session))
    await database.run(partial(append_step, turn_id=turn.id, owner=owner.id, messages=STEP))
    await finish(database, owner, turn)

    (record,) = await load(database, session)

    step = STEP
    if isinstance(location, str):  # PostgreSQL keeps no NUL
        step = (replace(STEP[0], content="Let me look. 😀\r\n\ufffd"), *STEP[1:])
    assert record.messages == (Message(role="user", content="hi!"), *step, ANSWER)
    assert record.turn.ended_at is not None
    assert record.turn == replace(
        turn, state="completed", usage=USAGE, ended_at=record.turn.ended_at
    )


async def test_lone_surrogates_are_stored_as_the_replacement_character(
    database: Database, owner: Owner, session: SessionRow
) -> None:
    bad = "a\ud800b"
    new = replace(new_turn(session), prompt=bad, message=Message(role="user", content=bad))
    await begin(database, owner, new)

    (record,) = await load(database, session)

    assert (record.turn.prompt, record.messages[0].content) == ("a\ufffdb", "a\ufffdb")


async def test_a_missing_picture_does_not_break_the_history(
    database: Database, owner: Owner, session: SessionRow, tmp_path: Path
) -> None:
    turn = await begin(database, owner, new_turn(session))
    await finish(database, owner, turn, STEP)
    (picture,) = (tmp_path / "media").iterdir()
    picture.unlink()

    (record,) = await load(database, session)

    assert record.messages[3].media == ()
    assert record.messages[3].content == "boom"


async def test_a_picture_goes_with_the_last_session_that_shows_it(
    database: Database, session: SessionRow, owner: Owner, tmp_path: Path
) -> None:
    other = await database.run(partial(create_session, address=CHAT))
    for each in (session, other):
        turn = await begin(database, owner, new_turn(each))
        await finish(database, owner, turn, STEP)
    (picture,) = (tmp_path / "media").iterdir()

    await database.run(partial(delete_session, session_id=session.id))
    assert picture.exists()

    await database.run(partial(delete_session, session_id=other.id))
    assert not picture.exists()


async def test_a_picture_that_cannot_be_kept_fails_the_step_and_leaves_nothing_of_it(
    database: Database, session: SessionRow, owner: Owner, tmp_path: Path
) -> None:
    turn = await begin(database, owner, new_turn(session))
    (tmp_path / "media").write_text("in the way")
    store = partial(append_step, turn_id=turn.id, owner=owner.id, messages=STEP)

    with pytest.raises(StorageError, match="Cannot write"):
        await database.run(store)

    (record,) = await load(database, session)
    assert record == TurnRecord(turn=turn, messages=(Message(role="user", content="hi!"),))


@pytest.mark.parametrize(
    "messages",
    [
        STEP[:2],
        STEP[1:],
        (STEP[0], ANSWER, *STEP[1:]),
        (*STEP, STEP[1]),
        (STEP[0], STEP[1], STEP[1], STEP[2]),
    ],
)
async def test_a_call_without_exactly_one_result_is_never_stored(
    database: Database, owner: Owner, session: SessionRow, messages: Sequence[Message]
) -> None:
    turn = await begin(database, owner, new_turn(session))
    store = partial(append_step, turn_id=turn.id, owner=owner.id, messages=messages)

    with pytest.raises(StorageError, match="does not have exactly one result"):
        await database.run(store)
    with pytest.raises(StorageError, match="does not have exactly one result"):
        await finish(database, owner, turn, messages)

    (record,) = await load(database, session)
    assert record == TurnRecord(turn=turn, messages=(Message(role="user", content="hi!"),))


async def test_turns_follow_each_other(
    database: Database, owner: Owner, session: SessionRow
) -> None:
    turns = [await ask(database, owner, new_turn(session, str(n))) for n in range(4)]

    assert [t.parent for t in turns] == [None, *(t.id for t in turns[:-1])]
    assert [t.depth for t in turns] == [1, 2, 3, 4]
    assert await prompts(database, session) == ["0", "1", "2", "3"]
    newest = partial(load_turns, session_id=session.id, context_only=False, limit=2)
    assert [r.turn.prompt for r in await database.read(newest)] == ["2", "3"]


async def test_asking_again_from_a_slot_goes_back_and_keeps_the_old_path(
    database: Database, owner: Owner, session: SessionRow
) -> None:
    for slot in "abc":
        await ask(database, owner, new_turn(session, slot, slot=slot))
    turn = await ask(database, owner, new_turn(session, "b2", slot="b"))

    assert await prompts(database, session) == ["a", "b2"]
    now, old = await database.read(partial(list_sessions, address=CHAT, branches=True))
    if now.id != session.id:
        now, old = old, now
    assert (now.head, now.turns, now.title) == (turn.id, 2, "Work")
    assert old.title.startswith("Work (before ")
    assert old.turns == 3
    assert await prompts(database, old) == ["a", "b", "c"]


async def test_a_turn_asked_again_knows_how_many_of_other_cells_it_leaves_behind(
    database: Database, owner: Owner, session: SessionRow
) -> None:
    left = []
    for slot in ("a", "b", "b#2", "b_2", "c", "b", "b", "a", "d", "d"):
        turn = await ask(database, owner, new_turn(session, slot, slot=slot))
        left.append((slot, turn.left_behind))

    assert left == [
        *[("a", 0), ("b", 0), ("b#2", 0), ("b_2", 0), ("c", 0)],
        *[("b", 2), ("b", 0), ("a", 1), ("d", 0), ("d", 0)],
    ]


async def test_a_notebook_run_twice_means_the_same_twice(
    database: Database, owner: Owner, session: SessionRow
) -> None:
    for _ in range(2):
        for slot in "abc":
            await ask(database, owner, new_turn(session, slot, slot=slot))

    assert await prompts(database, session) == ["a", "b", "c"]
    now, *earlier = await database.read(partial(list_sessions, address=CHAT, branches=True))
    assert now.id == session.id
    assert [(old.branch_of, await prompts(database, old)) for old in earlier] == [
        (session.id, ["a", "b", "c"])
    ]
    assert await database.read(partial(list_sessions, address=CHAT)) == [now]
    assert await database.read(partial(count_branches, address=CHAT)) == 1


async def test_a_branch_that_is_asked_something_becomes_a_dialog_of_its_own(
    database: Database, owner: Owner, session: SessionRow
) -> None:
    for prompt in ("1", "2"):
        await ask(database, owner, new_turn(session, prompt, slot="a"))
    listing = partial(list_sessions, address=CHAT, branches=True)
    (old,) = [row for row in await database.read(listing) if row.branch_of]
    await ask(database, owner, new_turn(old, "more"))

    assert await prompts(database, old) == ["1", "more"]
    assert [row.branch_of for row in await database.read(listing)] == [None, None]


async def test_appending_from_a_slot_goes_on(
    database: Database, owner: Owner, session: SessionRow
) -> None:
    for prompt in "12":
        await ask(database, owner, new_turn(session, prompt, slot="a", again=False))

    assert await prompts(database, session) == ["1", "2"]


async def test_a_turn_before_the_cursor_is_not_replaced(
    database: Database, owner: Owner, session: SessionRow
) -> None:
    await ask(database, owner, new_turn(session, "1", slot="a"))
    await database.run(partial(clear_context, session_id=session.id))
    await ask(database, owner, new_turn(session, "2", slot="a"))
    await ask(database, owner, new_turn(session, "3", slot="a"))

    assert await prompts(database, session) == ["1", "3"]


async def test_the_same_slot_in_another_session_is_left_alone(
    database: Database, owner: Owner, session: SessionRow
) -> None:
    other = await database.run(partial(create_session, address=CHAT))
    await ask(database, owner, new_turn(session, "1", slot="a"))
    await ask(database, owner, new_turn(other, "2", slot="a"))

    assert await prompts(database, session) == ["1"]
    assert await prompts(database, other) == ["2"]


async def test_a_session_is_busy_while_another_living_process_runs_a_turn_in_it(
    database: Database, owner: Owner, session: SessionRow
) -> None:
    other = replace(owner, id="other")
    await database.run(partial(register_owner, owner=other))
    turn = await begin(database, other, new_turn(session))

    with pytest.raises(SessionBusy) as raised:
        await begin(database, owner, new_turn(session))
    assert str(raised.value) == (
        f"This session is busy in kernel {os.getpid()}"
        " (wait, start another with `/new`, or name one with `-s NAME`)"
    )

    await finish(database, other, turn)
    await begin(database, owner, new_turn(session))


async def test_a_turn_of_a_dead_process_is_closed_by_the_next_one(
    database: Database, owner: Owner, dead: Owner, session: SessionRow
) -> None:
    turn = await begin(database, dead, new_turn(session, "1"))
    store = partial(save_partial, turn_id=turn.id, owner=dead.id, text="half an ans")
    await database.run(store)
    await ask(database, owner, new_turn(session, "2"))

    first, second = await load(database, session)

    assert (first.turn.state, first.turn.partial) == ("interrupted", "")
    assert first.messages == (
        Message(role="user", content="1!"),
        Message(role="assistant", content="half an ans"),
    )
    assert (second.turn.prompt, second.turn.state) == ("2", "completed")


async def test_reclaiming_closes_the_turns_of_the_dead_and_no_others(
    database: Database, owner: Owner, dead: Owner, session: SessionRow
) -> None:
    other = await database.run(partial(create_session, address=CHAT))
    lost = await begin(database, dead, new_turn(session))
    alive = await begin(database, owner, new_turn(other))

    assert await database.run(reclaim) == [lost.id]
    assert await database.run(reclaim) == []

    (closed,) = await load(database, session)
    (running,) = await load(database, other)
    assert closed.turn.state == "interrupted"
    assert closed.messages == (Message(role="user", content="hi!"),)
    assert running.turn == alive


async def test_a_turn_whose_owner_is_unknown_is_reclaimed(
    database: Database, owner: Owner, session: SessionRow
) -> None:
    turn = await begin(database, owner, new_turn(session))
    await database.run(partial(remove_owner, owner_id=owner.id))

    assert await database.run(reclaim) == [turn.id]


async def test_nothing_more_is_stored_by_a_worker_whose_turn_was_taken_over(
    database: Database, owner: Owner, session: SessionRow
) -> None:
    stale = await begin(database, owner, new_turn(session, "1"))
    current = await begin(database, owner, new_turn(session, "2"))

    for store in (
        partial(append_step, turn_id=stale.id, owner=owner.id, messages=STEP),
        partial(save_partial, turn_id=stale.id, owner=owner.id, text="x"),
        partial(append_step, turn_id=current.id, owner="other", messages=STEP),
        partial(append_step, turn_id="none", owner=owner.id, messages=STEP),
    ):
        with pytest.raises(SessionMoved, match="no longer running here"):
            await database.run(store)
    with pytest.raises(SessionMoved):
        await finish(database, owner, stale)

    first, second = await load(database, session)
    assert (first.turn.state, len(first.messages)) == ("interrupted", 1)
    assert (second.turn.state, len(second.messages)) == ("running", 1)


async def test_a_turn_is_finished_once(
    database: Database, owner: Owner, session: SessionRow
) -> None:
    turn = await ask(database, owner, new_turn(session))
    with pytest.raises(SessionMoved):
        await finish(database, owner, turn)
    (record,) = await load(database, session)
    assert len(record.messages) == 2


async def test_a_turn_of_a_deleted_session_stores_nothing(
    database: Database, owner: Owner, session: SessionRow
) -> None:
    turn = await begin(database, owner, new_turn(session))
    await database.run(partial(delete_session, session_id=session.id))
    with pytest.raises(SessionMoved):
        await finish(database, owner, turn)


async def test_a_turn_in_an_unknown_session_is_refused(
    database: Database, owner: Owner, session: SessionRow
) -> None:
    with pytest.raises(UsageError, match="No session 'none'"):
        await begin(database, owner, replace(new_turn(session), session_id="none"))


async def test_a_failed_turn_keeps_what_arrived_and_why_it_failed(
    database: Database, owner: Owner, session: SessionRow
) -> None:
    turn = await begin(database, owner, new_turn(session))
    await database.run(
        lambda db: finish_turn(
            db, turn.id, owner=owner.id, state="failed", messages=[ANSWER], error="no", hint="do"
        )
    )

    (record,) = await load(database, session)

    assert (record.turn.state, record.turn.error, record.turn.hint) == ("failed", "no", "do")
    assert record.messages[1:] == (ANSWER,)
