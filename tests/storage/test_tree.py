"""Whatever people do, each dialog shows the turns it should, and no turn is left unreachable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, select

from octo_lab.core.ids import new_id
from octo_lab.core.keys import ChatAddress
from octo_lab.core.messages import Message
from octo_lab.storage.engines import Engines, make_engines
from octo_lab.storage.migrate import ensure_schema
from octo_lab.storage.owners import register_process
from octo_lab.storage.schema import turns
from octo_lab.storage.sessions import (
    SessionRow,
    clear_context,
    create_session,
    delete_session,
    list_sessions,
)
from octo_lab.storage.turns import NewTurn, begin_turn, finish_turn, load_turns

Slot = str
Path_ = list[tuple[str, Slot]]


@pytest.fixture
def engines(tmp_path: Path) -> Iterator[Engines]:
    engines = make_engines(tmp_path / "octo.db", None)
    ensure_schema(engines.writer, engines.where)
    yield engines
    engines.dispose()


@dataclass(slots=True)
class Dialogs:
    """The same dialogs, as plain lists: the newest turn is last, ``cursors`` counts turns."""

    db: Connection
    owner: str
    chat: ChatAddress
    paths: dict[str, Path_] = field(default_factory=dict)
    branch_of: dict[str, str] = field(default_factory=dict)
    cursors: dict[str, int] = field(default_factory=dict)

    def pick(self, number: int) -> str:
        if not self.paths:
            session = create_session(self.db, self.chat)
            self.paths[session.id], self.cursors[session.id] = [], 0
        return sorted(self.paths)[number % len(self.paths)]

    def ask(self, session: str, slot: Slot, again: bool, finished: bool) -> None:
        new = NewTurn(
            session_id=session,
            message=Message(role="user", content="hi"),
            prompt="hi",
            message_id="m",
            slot=slot,
            replace=again,
            model="m",
            provider="p",
        )
        begin_turn(self.db, new, owner=self.owner)
        if finished:
            finish_turn(self.db, new.turn_id, owner=self.owner, state="completed")
        self._expect(session, new, again)

    def _expect(self, session: str, new: NewTurn, again: bool) -> None:
        path, cursor = self.paths[session], self.cursors[session]
        same = [n for n, (_, slot) in enumerate(path) if slot == new.slot and n >= cursor]
        if new.slot and again and same:
            (branch,) = {s.id for s in self._listed()} - set(self.paths)
            self.paths[branch], self.cursors[branch] = path, cursor
            self.branch_of[branch] = session
            path = path[: same[-1]]
        self.paths[session] = [*path, (new.turn_id, new.slot)]
        self.branch_of.pop(session, None)

    def clear(self, session: str) -> None:
        clear_context(self.db, session)
        self.cursors[session] = len(self.paths[session])

    def delete(self, session: str) -> None:
        delete_session(self.db, session)
        branches = [branch for branch, of in self.branch_of.items() if of == session]
        for gone in (session, *branches):
            del self.paths[gone], self.cursors[gone]
            self.branch_of.pop(gone, None)

    def _listed(self) -> list[SessionRow]:
        return list_sessions(self.db, self.chat, limit=1000, branches=True)

    def check(self) -> None:
        for session, path in self.paths.items():
            ids = [turn for turn, _ in path]
            assert self._shown(session, False) == ids
            assert self._shown(session, True) == ids[self.cursors[session] :]
        listed = {row.id: (row.turns, row.branch_of) for row in self._listed()}
        assert listed == {
            session: (len(path), self.branch_of.get(session))
            for session, path in self.paths.items()
        }
        for branch in self.branch_of:
            others = [path for session, path in self.paths.items() if session != branch]
            kept = self.paths[branch]
            assert not any(path[: len(kept)] == kept for path in others), "kept twice"
        reachable = {turn for path in self.paths.values() for turn, _ in path}
        assert set(self.db.scalars(select(turns.c.id))) == reachable

    def _shown(self, session: str, context_only: bool) -> list[str]:
        records = load_turns(self.db, session, context_only=context_only)
        return [record.turn.id for record in records]


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["ask", "ask", "ask", "ask", "clear", "delete"]),
        st.integers(0, 5),
        st.sampled_from(["", "a", "b", "c"]),
        st.booleans(),
        st.booleans(),
    ),
    max_size=25,
)


@given(steps=STEPS)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_each_dialog_shows_its_own_turns(
    engines: Engines, steps: list[tuple[str, int, Slot, bool, bool]]
) -> None:
    with engines.writer.connect() as db, db.begin() as transaction:
        chat = ChatAddress(channel="notebook", chat_id=new_id())
        dialogs = Dialogs(db, register_process(db).id, chat)
        for action, number, slot, again, finished in steps:
            session = dialogs.pick(number)
            if action == "ask":
                dialogs.ask(session, slot, again, finished)
            elif action == "clear":
                dialogs.clear(session)
            else:
                dialogs.delete(session)
        dialogs.check()
        transaction.rollback()
