"""Asks people before a tool runs, and decides by policy where nobody can be asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import anyio

from octo_lab.core.errors import ToolDenied
from octo_lab.core.events import ApprovalAsked, ApprovalSettled, Decision, Emit, Noticed
from octo_lab.core.ids import new_id
from octo_lab.core.keys import ChatAddress
from octo_lab.tools.tool import Question

Rule = Literal["ask", "allow", "deny"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalPolicy:
    """What the owner decided beforehand, per tool; others are asked. ``seconds`` to answer."""

    rules: Mapping[str, Rule] = field(default_factory=dict)
    seconds: float = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """The turn that asks. ``attended``: somebody sees the question; ``named``: the tools this
    turn was explicitly given by name, which counts as a yes where nobody can be asked.
    """

    address: ChatAddress
    session: str
    emit: Emit
    attended: bool
    named: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Open:
    address: ChatAddress
    answered: anyio.Event = field(default_factory=anyio.Event)
    decision: Decision = "deny"


class ApprovalDesk:
    """Holds the open questions and the grants people gave for a session."""

    def __init__(self, policy: ApprovalPolicy) -> None:
        self.policy = policy
        self._open: dict[str, _Open] = {}
        self._granted: set[tuple[str, str]] = set()

    def settle(self, address: ChatAddress, approval_id: str, decision: Decision) -> bool:
        """Answer an open question of this chat; False when it is not open any more."""
        question = self._open.get(approval_id)
        if question is None or question.address != address or question.answered.is_set():
            return False
        question.decision = decision
        question.answered.set()
        return True

    def forget(self, session: str) -> None:
        """Take back every grant of a session."""
        self._granted = {grant for grant in self._granted if grant[0] != session}

    def granted(self, session: str, scope: str) -> bool:
        return (session, scope) in self._granted

    def grants(self, session: str) -> tuple[str, ...]:
        """What may run unasked in a session."""
        return tuple(sorted(scope for holder, scope in self._granted if holder == session))

    def grant(self, session: str, scope: str) -> None:
        self._granted.add((session, scope))

    def revoke(self, session: str, scope: str) -> bool:
        """Take one grant back; False when there was none."""
        had = self.granted(session, scope)
        self._granted.discard((session, scope))
        return had

    async def ask(self, asker: Asker, question: Question) -> Decision:
        """Show the question and wait for its answer; none in time is a no."""
        approval_id = new_id()
        waiting = self._open[approval_id] = _Open(asker.address)
        asker.emit(
            ApprovalAsked(
                approval_id=approval_id,
                call_id=question.call.id,
                tool=question.call.name,
                detail=question.detail,
                risk=question.risk,
            )
        )
        try:
            with anyio.move_on_after(self.policy.seconds):
                await waiting.answered.wait()
        finally:
            del self._open[approval_id]
        if not waiting.answered.is_set():
            asker.emit(Noticed(f"Nobody answered within {self.policy.seconds:g} s: denied."))
        if waiting.decision == "session":
            self.grant(asker.session, question.scope)
        asker.emit(ApprovalSettled(approval_id, question.call.id, waiting.decision))
        return waiting.decision


class TurnApprover:
    """Decides for the calls of one turn. Calls of one scope that come together ask once."""

    def __init__(self, desk: ApprovalDesk, asker: Asker) -> None:
        self._desk = desk
        self._asker = asker
        self._locks: dict[str, anyio.Lock] = {}

    async def approve(self, question: Question) -> Decision:
        """The decision; raises ToolDenied, with the way to allow it, where none can be asked."""
        rule = self._desk.policy.rules.get(question.call.name, "ask")
        if rule == "deny":
            raise self._refused(question, "the settings deny it", _setting(question))
        if rule == "allow":
            return "once"
        async with self._locks.setdefault(question.scope, anyio.Lock()):
            if self._desk.granted(self._asker.session, question.scope):
                return "session"
            if self._asker.attended:
                return await self._desk.ask(self._asker, question)
        if question.call.name in self._asker.named:
            return "once"
        hint = f"name it in the question: --tools {question.call.name}"
        if question.call.name in self._desk.policy.rules:
            hint = f"{hint}, or {_setting(question)}"
        raise self._refused(question, "nobody can be asked here", hint)

    def _refused(self, question: Question, why: str, hint: str) -> ToolDenied:
        what = f"{question.call.name!r} was denied: {why}"
        self._asker.emit(Noticed(f"{what}. To allow it, {hint}."))
        return ToolDenied(what, hint="go on without it")


def _setting(question: Question) -> str:
    return f'set tools.{question.call.name} to "allow" in .octo/config.json'
