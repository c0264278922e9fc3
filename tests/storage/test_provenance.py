from __future__ import annotations

from functools import partial
from pathlib import Path

import anyio.to_thread
import pytest

from octo_lab.core.errors import SessionMoved
from octo_lab.core.keys import ChatAddress
from octo_lab.core.messages import Message, ToolCall
from octo_lab.storage.database import open_database
from octo_lab.storage.history import Seen, seen_at
from octo_lab.storage.owners import register_owner, this_process
from octo_lab.storage.sessions import create_session
from octo_lab.storage.turns import NewTurn, append_step, begin_turn, load_turns, mark_turn

pytestmark = pytest.mark.anyio

STEP = (
    Message(role="assistant", tool_calls=(ToolCall(id="1", name="web_fetch", arguments="{}"),)),
    Message(
        role="tool", content="x", tool_call_id="1", tool_name="web_fetch", origin="web_fetch, a.org"
    ),
)


async def test_whose_words_what_private_data_and_which_orders_are_kept(tmp_path: Path) -> None:
    chat = ChatAddress(channel="notebook", chat_id="c")
    async with open_database(tmp_path / "octo.db") as database:
        session = (await database.run(partial(create_session, address=chat, title="t"))).id
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
        turn = await database.run(partial(begin_turn, new=new, owner=owner.id))
        await database.run(partial(append_step, turn_id=turn.id, owner=owner.id, messages=STEP))
        mark = partial(mark_turn, turn_id=turn.id, seen=Seen(("it read '.env'", "a\nb"), ("c",)))
        await database.run(partial(mark, owner=owner.id))
        with pytest.raises(SessionMoved):
            await database.run(partial(mark, owner="other"))

        load = partial(load_turns, session_id=session, context_only=True)
        (record,) = await database.read(load)
        seen = await database.read(partial(seen_at, turn_id=turn.id))
        assert await database.read(partial(seen_at, turn_id=None)) == Seen()

    assert seen == Seen(("it read '.env'", "a b"), ("c",))
    assert seen == (record.turn.taint, record.turn.alarms)
    assert record.messages[1:] == STEP
