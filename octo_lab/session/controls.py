"""Answers controls: at once, whatever the agents are doing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from octo_lab.core.errors import OctoError, UsageError
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import (
    AnswerProposal,
    CheckProvider,
    ControlRequest,
    EditSession,
    GetCommands,
    GetHistory,
    GetProviders,
    GetRouting,
    GetSessions,
    GetStatus,
    RunCommand,
    Settle,
    Stop,
    UseCassette,
)
from octo_lab.core.replies import (
    CommandList,
    ControlReply,
    History,
    ProviderList,
    SessionInfo,
    SessionList,
    Told,
)
from octo_lab.core.tool_mail import CallTool, GetProgress, GetTools
from octo_lab.core.turns import TurnSnapshot
from octo_lab.llm.model_lists import PATIENCE
from octo_lab.session.approvals import ApprovalDesk
from octo_lab.session.cassette_words import cassette_words
from octo_lab.session.commands import Commands
from octo_lab.session.dialog_commands import stop_current
from octo_lab.session.dialogs import Dialogs
from octo_lab.session.history import stored_snapshot
from octo_lab.session.models import ModelSource
from octo_lab.session.provider_check import provider_check
from octo_lab.session.status import StatusDesk
from octo_lab.session.tool_calls import ToolDesk
from octo_lab.session.worker import Workers
from octo_lab.storage.sessions import SessionRow
from octo_lab.storage.turns import load_turns
from octo_lab.tools.sandbox.programs import Programs

LONGEST_HISTORY = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Controls:
    """One reply to each control; raises OctoErrors, which the bus puts into words."""

    dialogs: Dialogs
    workers: Workers
    commands: Commands
    approvals: ApprovalDesk
    desk: StatusDesk
    models: ModelSource
    tools: ToolDesk
    workspace: Path
    programs: Programs | None = None

    async def answer(self, request: ControlRequest) -> ControlReply:
        address = request.address
        match request.control:
            case Stop() as stop:
                return await self._stop(request, stop)
            case Settle(approval_id=approval_id, decision=decision):
                settled = self.approvals.settle(
                    address, approval_id, decision, sender=request.sender_id
                )
                return Told(text=decision) if settled else _SETTLED
            case RunCommand(line=line, session=session):
                return await self.commands.run(line, address, request.sender_id, session)
            case GetCommands():
                return CommandList(commands=self.commands.infos(address.channel))
            case GetStatus():
                return await self.desk.status(address)
            case GetProviders(patience=patience):
                return await self._providers(min(max(patience, 0.0), PATIENCE))
            case GetRouting():
                return await self.models.routing()
            case CheckProvider() as checked:
                return await provider_check(self.models, checked)
            case UseCassette() as cassette:
                return await self._cassette(cassette)
            case other:
                return await self._about_more(address, other)

    async def _about_more(
        self,
        address: ChatAddress,
        control: GetSessions
        | GetHistory
        | EditSession
        | GetTools
        | CallTool
        | GetProgress
        | AnswerProposal,
    ) -> ControlReply:
        match control:
            case GetTools():
                return await self.tools.listed(address)
            case CallTool():
                return await self.tools.call(address, control)
            case GetProgress():
                return Told(text=self.tools.progress(address, control))
            case GetSessions():
                return await self._sessions(address, control)
            case GetHistory():
                return await self._history(address, control)
            case EditSession():
                return await self._edit(address, control)
            case AnswerProposal():
                return Told(text="Cells are proposed in notebooks only.", failed=True)

    async def _stop(self, request: ControlRequest, stop: Stop) -> Told:
        address = request.address
        if stop.turn_id:
            stopped = self.workers.stop_turn(address, stop.turn_id)
        elif stop.message_id:
            stopped = self.workers.stop_message(address, stop.message_id)
        else:
            stopped = await stop_current(self.dialogs, self.workers, address, request.sender_id)
        return Told(text="Stopped." if stopped else "Nothing is running here.", failed=not stopped)

    async def _sessions(self, address: ChatAddress, wanted: GetSessions) -> SessionList:
        listing = await self.dialogs.listed(
            address,
            query=wanted.query,
            limit=wanted.limit,
            branches=wanted.branches,
            everywhere=wanted.everywhere,
        )
        infos = tuple(self._info(row, listing.current) for row in listing.sessions)
        return SessionList(sessions=infos, earlier=listing.earlier)

    def _info(self, row: SessionRow, current: str) -> SessionInfo:
        return SessionInfo(
            session=str(row.key),
            title=row.title,
            current=row.id == current,
            archived=row.archived,
            turns=row.turns,
            updated_at=row.updated_at,
            busy=self.workers.busy(row.id),
            branch_of=str(row.address.dialog(row.branch_of)) if row.branch_of else "",
        )

    async def _history(self, address: ChatAddress, wanted: GetHistory) -> History:
        session = await self.dialogs.meant(address, wanted.session)
        if session is None:
            return History(session="", title="", turns=())
        limit = max(1, min(wanted.limit, LONGEST_HISTORY))
        before = self.workers.running
        records = await self.dialogs.database.read(
            lambda db: load_turns(db, session.id, context_only=False, limit=limit)
        )
        # A turn that was read as running may have ended since, or have begun meanwhile.
        live = {turn.row.id: turn.controller for turn in (*before, *self.workers.running)}
        key, mask = str(session.key), self.tools.parts.policy.privacy.mask
        turns: list[TurnSnapshot] = [
            live[record.turn.id].snapshot()
            if record.turn.id in live
            else stored_snapshot(record, key, mask)
            for record in records
        ]
        return History(session=key, title=session.title, turns=tuple(turns))

    async def _edit(self, address: ChatAddress, edit: EditSession) -> Told:
        if (edit.title is not None) + (edit.archived is not None) + edit.deleted != 1:
            raise UsageError("One of title, archived and deleted must be set")
        session = await self.dialogs.named(address, edit.session)
        if edit.title is not None:
            title = await self.dialogs.rename(session, edit.title)
            return Told(text=f"Renamed to {title!r}.")
        if self.workers.busy(session.id):
            raise UsageError("A turn runs in this session", hint="stop it first, with `/stop`")
        if edit.archived is not None:
            await self.dialogs.archive(session, edit.archived)
            await self._closed(session, edit.archived)
            return Told(text="Archived." if edit.archived else "Back from the archive.")
        await self.dialogs.delete(session)
        await self._closed(session, True)
        self.approvals.forget(session.id)
        return Told(text="Deleted.")

    async def _closed(self, session: SessionRow, closed: bool) -> None:
        """Nobody would find the programs of a dialog that is put away."""
        if closed and self.programs is not None:
            await self.programs.end_all(str(session.key))

    async def _providers(self, patience: float) -> ProviderList:
        found = await self.models.providers(patience)
        cards = self.models.cards(name for info in found for name in info.models)
        listed = ProviderList(providers=found, cards=cards)
        try:
            chosen = await self.models.choose(None, patience)
        except OctoError as exc:
            return replace(listed, note=str(exc))
        return replace(listed, current=chosen.name, note=chosen.note)

    async def _cassette(self, wanted: UseCassette) -> Told:
        if wanted.mode != "off" and not wanted.path:
            raise UsageError("Which cassette?", hint="name a file, such as demo.cassette")
        used = await self.models.use_cassette(wanted.mode, self.workspace / wanted.path)
        return Told(text=cassette_words(used, self.workspace))


_SETTLED = Told(text="This question is not open any more", failed=True, hint="ask again")
