from __future__ import annotations

from functools import partial
from pathlib import Path

import anyio.to_thread
import pytest

from octo_lab.core.errors import SessionMoved
from octo_lab.core.keys import ChatAddress
from octo_lab.core.messages import Message, ToolCall
from octo_lab.storage.database import open_database
from octo_lab.storage.history import taint_at
from octo_lab.storage.owners import register_owner, this_process
from octo_lab.storage.sessions import create_session
from octo_lab.storage.turns import NewTurn, append_step, begin_turn, load_turns, taint_turn

pytestmark = pytest.mark.anyio

STEP = (
    Message(role="assistant", tool_calls=(ToolCall(id="1", name="web_fetch", arguments="{}"),)),
    Message(
        role="tool", content="x", tool_call_id="1", tool_name="web_fetch", origin="web_fetch, a.org"
    ),
)


async def test_whose_words_and_what_private_data_are_kept(tmp_path: Path) -> None:
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
        reasons = ("read_file read '.env'", "a\nb")
        await database.run(partial(taint_turn, turn_id=turn.id, owner=owner.id, reasons=reasons))
        with pytest.raises(SessionMoved):
            await database.run(partial(taint_turn, turn_id=turn.id, owner="other", reasons=reasons))

        load = partial(load_turns, session_id=session, context_only=True)
        (record,) = await database.read(load)
        assert await database.read(partial(taint_at, turn_id=turn.id)) == record.turn.taint
        assert await database.read(partial(taint_at, turn_id=None)) == ()

    assert record.turn.taint == ("read_file read '.env'", "a b")
    assert record.messages[1:] == STEP
