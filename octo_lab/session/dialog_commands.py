"""The slash commands that work on dialogs: the same in a cell, a panel and a terminal."""

from __future__ import annotations

from dataclasses import dataclass

from octo_lab.core.errors import UsageError
from octo_lab.core.ids import short_id
from octo_lab.core.keys import ChatAddress
from octo_lab.core.replies import Told
from octo_lab.session.commands import Command, CommandCall
from octo_lab.session.dialogs import Dialogs
from octo_lab.session.model_choice import ModelChoices
from octo_lab.session.models import ModelSource
from octo_lab.session.status import StatusDesk, status_text
from octo_lab.session.worker import Workers
from octo_lab.storage.sessions import SessionRow

NO_DIALOG = Told(text="This chat has no session yet", failed=True, hint="ask something first")
ALL = "all"
NONE_YET = "This chat has no session yet."
NONE_FITS = "No session says that."


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogCommands:
    """Carries out the commands; each answers with what it did."""

    dialogs: Dialogs
    workers: Workers
    models: ModelSource
    desk: StatusDesk

    def commands(self) -> tuple[Command, ...]:
        return (
            Command(name="new", usage="[title]", summary="open a new session", run=self.new),
            Command(name="clear", summary="go on with an empty context", run=self.clear),
            Command(name="stop", summary="stop the running turn", run=self.stop, bypass=True),
            Command(
                name="sessions",
                usage="[all] [WORDS]",
                summary="list the sessions; all: their earlier versions, too",
                run=self.sessions,
            ),
            Command(
                name="switch",
                usage="NAME",
                summary="go on in another session",
                run=self.switch,
                aliases=("s",),
            ),
            Command(
                name="model", usage="[NAME]", summary="show or choose the model", run=self.model
            ),
            Command(name="status", summary="show what is going on", run=self.status),
        )

    async def new(self, call: CommandCall) -> Told:
        session = await self.dialogs.new(call.address, call.args)
        return Told(text=f"New session{f' {session.title!r}' if session.title else ''}.")

    async def clear(self, call: CommandCall) -> Told:
        session = await self.dialogs.meant(call.address, call.session)
        if session is None:
            return NO_DIALOG
        await self.dialogs.clear(session)
        return Told(text="The context is empty now; what was said stays in the history.")

    async def stop(self, call: CommandCall) -> Told:
        if call.session:
            session = await self.dialogs.named(call.address, call.session)
            stopped = self.workers.stop_session(session.id, call.sender_id)
        else:
            stopped = await stop_current(self.dialogs, self.workers, call.address, call.sender_id)
        return Told(text="Stopped." if stopped else "Nothing is running here.", failed=not stopped)

    async def sessions(self, call: CommandCall) -> Told:
        first, _, rest = call.args.partition(" ")
        everything = first.lower() == ALL
        query = rest.strip() if everything else call.args
        listing = await self.dialogs.listed(
            call.address, query=query, limit=200 if everything else 50, branches=everything
        )
        ids = [row.id for row in listing.sessions]
        lines = [_line(row, ids, current=row.id == listing.current) for row in listing.sessions]
        text = "\n".join(lines) or (NONE_FITS if query else NONE_YET)
        return Told(text="\n\n".join(filter(None, [text, _earlier(listing.earlier, query)])))

    async def switch(self, call: CommandCall) -> Told:
        if not call.args:
            raise UsageError("Switch to which session?", hint="list them with `/sessions`")
        session = await self.dialogs.named(call.address, call.args)
        await self.dialogs.switch(session)
        return Told(text=f"Now in {session.title or session.id!r}.")

    async def model(self, call: CommandCall) -> Told:
        session = await self.dialogs.meant(call.address, call.session)
        if not call.args:
            chosen = await self.models.choose(session.model if session else None)
            known = ", ".join(f"`{name}`" for name in self.models.names())
            parts = (f"`{chosen.name}` answers.", chosen.note, f"There are: {known}.")
            return Told(text="\n\n".join(filter(None, parts)))
        choices = ModelChoices(dialogs=self.dialogs, workers=self.workers, models=self.models)
        chosen = await choices.chosen(call.args)
        session = session or await self.dialogs.new(call.address)
        return Told(text=await choices.use(session, call.args, chosen))

    async def status(self, call: CommandCall) -> Told:
        return Told(text=status_text(await self.desk.status(call.address, call.session)))


async def stop_current(
    dialogs: Dialogs, workers: Workers, address: ChatAddress, sender_id: str
) -> int:
    """Stop what runs or waits in the chat's current dialog, else in any other of its dialogs."""
    current = await dialogs.current(address)
    stopped = workers.stop_session(current.id, sender_id) if current else 0
    return stopped or workers.stop_chat(address)


def _line(row: SessionRow, ids: list[str], *, current: bool) -> str:
    title = row.title or "(no title)"
    turns = "1 turn" if row.turns == 1 else f"{row.turns} turns"
    name = f"**{title}**" if current else title
    indent = "  " if row.branch_of else ""
    return f"{indent}- {name} · {turns} · `{short_id(row.id, ids)}`"


def _earlier(count: int, query: str) -> str:
    """How to see the versions that are not listed."""
    if not count:
        return ""
    versions = "1 earlier version" if count == 1 else f"{count} earlier versions"
    return f"{versions}: `{f'/sessions {ALL} {query}'.rstrip()}`"
