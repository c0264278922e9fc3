"""Runs one tool for a person: on the path of an agent's call, and so that it can be undone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import anyio
from sqlalchemy import Connection

from octo_lab.agent.dispatch import Dispatch
from octo_lab.agent.hooks import HookScope, TurnHooks
from octo_lab.agent.ports import NO_HOOKS, NO_STEERING, Hooks
from octo_lab.agent.session_limits import SessionUsage
from octo_lab.agent.transcript import Transcript
from octo_lab.core.errors import ToolDenied, UsageError
from octo_lab.core.events import Decision, Noticed, ToolProgressed, TurnEvent
from octo_lab.core.ids import new_id
from octo_lab.core.keys import ChatAddress
from octo_lab.core.messages import Message, ToolCall
from octo_lab.core.text import first_line
from octo_lab.core.tool_mail import BY_HAND, CallTool, ToolAnswer
from octo_lab.security.taint import Taint
from octo_lab.session.call_context import CallContexts
from octo_lab.session.changes import TurnLedger, keep_changes
from octo_lab.session.dialogs import Dialogs
from octo_lab.session.parts import TurnParts
from octo_lab.storage.history import Seen
from octo_lab.storage.sessions import SessionRow, create_session, find_session
from octo_lab.storage.turns import NewTurn, begin_turn, finish_turn, load_turns
from octo_lab.tools.changes import Changes
from octo_lab.tools.tool import Question, Tool
from octo_lab.tools.verdict import Verdict

_RAN = "A person ran this tool; what it said is not kept."
_SHOWN = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class HandCalls:
    """Calls that persons make. ``said`` is told what they say on their way."""

    parts: TurnParts
    dialogs: Dialogs
    said: Callable[[str], None]

    async def run(self, tool: Tool, address: ChatAddress, wanted: CallTool) -> ToolAnswer:
        """Decide and run; raises UsageError for arguments that do not fit."""
        if why := self.parts.policy.why_not(tool, address.channel):
            return ToolAnswer(name=tool.name, decision="deny", reason=why)
        session = await self.dialogs.current(address)
        hand = _Hand(
            parts=self.parts,
            address=address,
            wanted=wanted,
            dialog=session,
            said=self.said,
        )
        mask = self.parts.policy.privacy.mask
        ledger = TurnLedger(database=self.parts.database, turn=hand.turn, mask=mask)
        changes = Changes(ledger)
        dispatch = self._dispatch(tool, hand, changes, await self._seen(session))
        try:
            result = await _dispatched(dispatch, hand, tool)
        finally:
            with anyio.CancelScope(shield=True):
                hand.note(await self._kept(hand, changes))
        return hand.answer(tool, result, undo=bool(changes.files))

    async def _kept(self, hand: _Hand, changes: Changes) -> str:
        mask = self.parts.policy.privacy.mask
        return await keep_changes(self.parts.database, hand.turn, changes, mask)

    def _dispatch(self, tool: Tool, hand: _Hand, changes: Changes, seen: Seen) -> Dispatch:
        policy = self.parts.policy
        return Dispatch(
            tools={tool.name: tool},
            approver=hand,
            context=CallContexts(
                policy=policy,
                address=hand.address,
                session=hand.session,
                turn_id=hand.turn_id,
                changes=changes,
                taint=Taint(*seen.taint),
                screen=policy.privacy.screen(hand.note, Taint(*seen.alarms)),
            ),
            limits=policy.limits,
            hooks=self._hooks(hand),
            steering=NO_STEERING,
            session=SessionUsage(),
        )

    def _hooks(self, hand: _Hand) -> Hooks:
        if self.parts.hooks is None or hand.wanted.dry:
            return NO_HOOKS
        profile = hand.address.profile
        mask = self.parts.policy.privacy.mask
        scope = HookScope(session=hand.session, profile=profile, tell=hand.note, mask=mask)
        return TurnHooks(hooks=self.parts.hooks, scope=scope)

    async def _seen(self, session: SessionRow | None) -> Seen:
        """What the chat's dialog has seen: each turn knows it of all before it."""
        if session is None:
            return Seen()
        newest = await self.dialogs.database.read(
            lambda db: load_turns(db, session.id, context_only=True, limit=1)
        )
        return Seen(newest[-1].turn.taint, newest[-1].turn.alarms) if newest else Seen()


@dataclass(slots=True, kw_only=True)
class _Hand:
    """One call: decides as for an agent, hears what it says, keeps what it changed in a turn of
    the dialog of all such calls.
    """

    parts: TurnParts
    address: ChatAddress
    wanted: CallTool
    dialog: SessionRow | None
    said: Callable[[str], None]
    turn_id: str = field(default_factory=new_id)
    verdict: Verdict | None = None
    ran: bool = False
    notes: list[str] = field(default_factory=list)
    _begun: bool = False

    async def approve(self, question: Question) -> Decision:
        """Whoever calls has answered beforehand."""
        self.verdict = self.parts.desk.verdict(self.dialog.id if self.dialog else "", question)
        asks = self.verdict.decision == "ask" and not self.wanted.yes
        if self.wanted.dry or asks or self.verdict.decision == "deny":
            raise ToolDenied(self.verdict.reason)
        self.ran = True
        return "once"

    @property
    def session(self) -> str:
        return str(self.dialog.key) if self.dialog else ""

    def note(self, text: str) -> None:
        if text:
            self.notes.append(text)

    def hear(self, event: TurnEvent) -> None:
        match event:
            case Noticed(text=text):
                self.note(text)
            case ToolProgressed(text=text):
                self.said(text)

    def turn(self, db: Connection) -> str:
        """The turn that the call's changes belong to, stored with the first of them."""
        if self._begun:
            return self.turn_id
        place = str(self.parts.policy.workspace)
        found = find_session(db, self.address, BY_HAND, workspace=place)
        session = found or create_session(db, self.address, title=BY_HAND, workspace=place)
        mask = self.parts.policy.privacy.mask
        line = f"{self.wanted.name} {mask(self.wanted.arguments)}"
        new = NewTurn(
            session_id=session.id,
            message=Message(role="user", content=line[:_SHOWN]),
            prompt=first_line(line, _SHOWN),
            message_id=self.turn_id,
            model="",
            provider="",
            turn_id=self.turn_id,
        )
        begin_turn(db, new, owner=self.parts.owner)
        said = [Message(role="assistant", content=_RAN)]
        finish_turn(db, self.turn_id, owner=self.parts.owner, state="completed", messages=said)
        self._begun = True
        return self.turn_id

    def answer(self, tool: Tool, result: Message, *, undo: bool) -> ToolAnswer:
        said = result.content.removeprefix("Error: ")
        if self.verdict is None and result.outcome != "denied":
            raise UsageError(said)
        verdict = self.verdict or Verdict("deny", said)
        answer = ToolAnswer(name=tool.name, decision=verdict.decision, reason=verdict.reason)
        answer = replace(answer, notes=tuple(self.notes))
        if not self.ran:
            return answer
        return replace(
            answer,
            state=result.outcome,
            text=result.content,
            seconds=result.seconds or 0.0,
            media=result.media,
            diff=result.diff,
            undo=undo,
        )


async def _dispatched(dispatch: Dispatch, hand: _Hand, tool: Tool) -> Message:
    """The result of one call, which goes through all that an agent's goes through."""
    transcript = Transcript()
    transcript.add_call(ToolCall(id=new_id(), name=tool.name, arguments=hand.wanted.arguments))
    await dispatch.run(transcript, hand.hear)
    _, result = transcript.complete()
    return result
