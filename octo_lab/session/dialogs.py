"""The dialogs of a workspace: which one a chat is in, and how they are named and found."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection

from octo_lab.core.errors import UsageError
from octo_lab.core.keys import ChatAddress, SessionKey
from octo_lab.core.text import clean, first_line
from octo_lab.session.ask import AskPolicy
from octo_lab.storage.database import Database
from octo_lab.storage.sessions import (
    SessionRow,
    archive_session,
    clear_context,
    count_branches,
    create_session,
    current_session,
    delete_session,
    find_session,
    list_sessions,
    make_current,
    rename_session,
    set_model,
    set_queue_mode,
)

TITLE_LENGTH = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Dialogs of a chat, the id of the one it is in, and how many versions are not listed."""

    sessions: list[SessionRow]
    current: str
    earlier: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogs:
    """Reads and changes sessions; each call is one transaction. No secret gets into a title."""

    database: Database
    workspace: str
    policy: AskPolicy

    async def current(self, address: ChatAddress) -> SessionRow | None:
        return await self.database.read(
            partial(current_session, address=address, workspace=self.workspace)
        )

    async def meant(self, address: ChatAddress, name: str) -> SessionRow | None:
        """The dialog of that name, which must be there; without a name the chat's current one."""
        return await self.named(address, name) if name else await self.current(address)

    async def meant_or_new(self, address: ChatAddress, name: str) -> SessionRow:
        """The dialog of that name, or the chat's current one, made if there is none."""
        if name:
            return await self.named_or_new(address, name)
        return await self.current_or_new(address)

    async def current_or_new(self, address: ChatAddress) -> SessionRow:
        found = await self.current(address)
        return found if found and not found.archived else await self.new(address)

    async def new(self, address: ChatAddress, title: str = "") -> SessionRow:
        """A new dialog, which this chat is in from now on."""

        def store(db: Connection) -> SessionRow:
            named = self._title(title)
            session = create_session(db, address, title=named, workspace=self.workspace)
            make_current(db, address, session.id)
            return session

        return await self.database.run(store)

    async def named_or_new(self, address: ChatAddress, name: str) -> SessionRow:
        """The dialog of that name, made if there is none; the chat stays where it is."""

        def store(db: Connection) -> SessionRow:
            found = self._find(db, address, name)
            title = self._title(name)
            return found or create_session(db, address, title=title, workspace=self.workspace)

        return await self.database.run(store)

    async def named(self, address: ChatAddress, name: str) -> SessionRow:
        """The dialog of that title, id or key; raises UsageError."""
        found = await self.database.read(lambda db: self._find(db, address, name))
        if found is None:
            raise UsageError(f"No session named {name!r}", hint="list them with `/sessions`")
        return found

    async def listed(
        self,
        address: ChatAddress,
        *,
        query: str = "",
        limit: int = 200,
        branches: bool = False,
        everywhere: bool = False,
    ) -> Listing:
        """Newest first; a search finds archived dialogs, too; each before its own branches.

        ``everywhere``: of every chat, not only this one.

        A chat that is in an earlier version finds it in every list.
        """
        words, most, place = clean(query), max(1, min(limit, 2000)), self.workspace
        archived = bool(words.strip())
        chat = None if everywhere else address

        def read(db: Connection) -> Listing:
            rows = list_sessions(
                db,
                chat,
                query=words,
                limit=most,
                archived=archived,
                branches=branches,
                workspace=place,
            )
            here = current_session(db, address, workspace=place)
            if here and here.branch_of and not archived and here not in rows:
                rows.append(here)
            left = 0 if branches else count_branches(db, chat, query=words, workspace=place)
            return Listing(sessions=_grouped(rows), current=here.id if here else "", earlier=left)

        return await self.database.read(read)

    async def switch(self, session: SessionRow) -> None:
        """From now on the chat is in ``session``, which comes back from the archive."""

        def store(db: Connection) -> None:
            if session.archived:
                archive_session(db, session.id, False)
            make_current(db, session.address, session.id)

        await self.database.run(store)

    async def clear(self, session: SessionRow) -> None:
        await self.database.run(partial(clear_context, session_id=session.id))

    async def use_model(self, session: SessionRow, model: str | None) -> None:
        await self.database.run(partial(set_model, session_id=session.id, model=model))

    async def use_queue_mode(self, session: SessionRow, mode: str) -> None:
        await self.database.run(partial(set_queue_mode, session_id=session.id, mode=mode))

    async def rename(self, session: SessionRow, title: str) -> str:
        """Returns the title as it is kept; raises UsageError when there is none."""
        kept = self._title(title)
        if not kept:
            raise UsageError("A session needs a title")
        await self.database.run(partial(rename_session, session_id=session.id, title=kept))
        return kept

    async def archive(self, session: SessionRow, archived: bool) -> None:
        def store(db: Connection) -> None:
            archive_session(db, session.id, archived)
            if archived:
                self._leave(db, session)

        await self.database.run(store)

    async def delete(self, session: SessionRow) -> None:
        def store(db: Connection) -> None:
            self._leave(db, session)
            delete_session(db, session.id)

        await self.database.run(store)

    def _leave(self, db: Connection, session: SessionRow) -> None:
        """A chat that was in ``session`` goes on in its newest other dialog, if there is one."""
        current = current_session(db, session.address, workspace=self.workspace)
        if current is None or current.id != session.id:
            return
        others = list_sessions(db, session.address, limit=2, workspace=self.workspace)
        other = next((row for row in others if row.id != session.id), None)
        if other is not None:
            make_current(db, session.address, other.id)

    def _title(self, text: str) -> str:
        """Any text as a title: its first line, storable and short."""
        return first_line(self.policy.privacy.mask(clean(text)), TITLE_LENGTH)

    def _find(self, db: Connection, address: ChatAddress, name: str) -> SessionRow | None:
        named = self._title(_dialog(address, name))
        return find_session(db, address, named, workspace=self.workspace)


def _grouped(rows: list[SessionRow]) -> list[SessionRow]:
    """Each dialog followed by its branches; those of a dialog that is not listed come last."""
    branches: dict[str, list[SessionRow]] = {}
    for row in rows:
        if row.branch_of:
            branches.setdefault(row.branch_of, []).append(row)
    own = [row for row in rows if not row.branch_of]
    listed = [row for top in own for row in (top, *branches.pop(top.id, ()))]
    return [*listed, *(row for left in branches.values() for row in left)]


def _dialog(address: ChatAddress, name: str) -> str:
    """The dialog of a session key of this chat; any other name stays as it is."""
    if name.count(":") != 3:
        return name
    try:
        key = SessionKey.parse(name)
    except UsageError:
        return name
    return key.dialog if key.address == address else name
