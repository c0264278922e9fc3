"""Asks people before a tool runs, and decides by policy where nobody can be asked."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import anyio

from octo_lab.core.errors import StorageError, ToolDenied
from octo_lab.core.events import ApprovalAsked, ApprovalSettled, Decision, Emit, Noticed
from octo_lab.core.ids import new_id
from octo_lab.core.keys import ChatAddress
from octo_lab.session.standing import Standing
from octo_lab.tools.decision import ToolRules, decide, is_covered
from octo_lab.tools.policy import OWNED
from octo_lab.tools.tool import Question
from octo_lab.tools.verdict import Ruling, Verdict

_SAID: Mapping[str, Callable[[str], str]] = {
    "terminal": lambda line: f"octo run {shlex.quote(line)}",
    "notebook": lambda line: f"%octo {line}",
}
"""How a command is said where nobody answers questions."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalPolicy:
    """What the owner decided beforehand. ``seconds`` are those that a person has to answer.

    ``rules`` by tool or pattern, ``risks`` by class of risk; ``hosts`` may be reached unasked.
    """

    rules: Mapping[str, Ruling] = field(default_factory=dict)
    risks: Mapping[str, Ruling] = field(default_factory=dict)
    hosts: tuple[str, ...] = ()
    seconds: float = 300.0

    @property
    def tool_rules(self) -> ToolRules:
        return ToolRules(rules=self.rules, risks=self.risks, hosts=self.hosts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """The turn that asks. ``attended``: somebody sees the question; ``named``: the tools this
    turn was explicitly given by name, which counts as a yes where nobody can be asked. ``sender``
    is who spoke, and alone may answer in a chat.
    """

    address: ChatAddress
    session: str
    emit: Emit
    attended: bool
    named: frozenset[str] = frozenset()
    sender: str = ""


@dataclass(slots=True)
class _Open:
    address: ChatAddress
    sender: str = ""
    scope: str = ""
    answered: anyio.Event = field(default_factory=anyio.Event)
    decision: Decision = "deny"


class ApprovalDesk:
    """Holds the open questions and what people granted: for a session, or in ``standing`` for
    the workspace.
    """

    def __init__(self, policy: ApprovalPolicy, standing: Standing | None = None) -> None:
        self.policy = policy
        self.standing = standing or Standing()
        self._open: dict[str, _Open] = {}
        self._granted: set[tuple[str, str]] = set()

    def settle(
        self, address: ChatAddress, approval_id: str, decision: Decision, *, sender: str = ""
    ) -> bool:
        """Answer an open question of this chat; False when it is not open any more.

        In a chat with others only who was asked may answer, as ``sender``, and not for always.
        """
        question = self._open.get(approval_id)
        if question is None or question.address != address or question.answered.is_set():
            return False
        others = address.channel not in OWNED
        if others and (decision == "always" or question.sender not in ("", sender)):
            return False
        question.decision = decision
        question.answered.set()
        return True

    def answer(self, address: ChatAddress, sender: str, decision: Decision) -> str:
        """Answer the oldest question that is open for whoever speaks in a chat.

        What it was about; '': none is open.
        """
        for approval_id, question in self._open.items():
            mine = question.sender in ("", sender)
            if mine and self.settle(address, approval_id, decision, sender=sender):
                return question.scope
        return ""

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
        logger.info("allowed in a session: %s", scope)

    def verdict(self, session: str, question: Question) -> Verdict:
        """What is decided of a call before anybody is asked."""
        return decide(question, self.policy.tool_rules, self.scopes(session))

    def scopes(self, session: str) -> frozenset[str]:
        """All that was granted: in the session and in the workspace."""
        return frozenset((*self.grants(session), *self.standing.scopes))

    async def keep(self, session: str, question: Question, decision: Decision) -> None:
        """Remember a yes for as long as the person said; log every answer."""
        logger.info("%s: %s (%s)", decision, question.scope, question.risk)
        scopes = question.scopes or (question.scope,)
        if decision == "session":
            self._granted |= {(session, scope) for scope in scopes}
        elif decision == "always":
            await self.standing.add(scopes)

    async def _kept(self, asker: Asker, question: Question, decision: Decision) -> None:
        try:
            await self.keep(asker.session, question, decision)
        except StorageError as exc:
            await self.keep(asker.session, question, "session")
            asker.emit(Noticed(f"This is allowed for this session only: {exc}"))

    def revoke(self, session: str, scope: str) -> bool:
        """Take one grant back; False when there was none."""
        had = self.granted(session, scope)
        self._granted.discard((session, scope))
        return had

    async def ask(self, asker: Asker, question: Question) -> Decision:
        """Show the question and wait for its answer; none in time is a no."""
        approval_id = new_id()
        waiting = self._open[approval_id] = _Open(asker.address, asker.sender, question.scope)
        asker.emit(
            ApprovalAsked(
                approval_id=approval_id,
                call_id=question.call.id,
                tool=question.call.name,
                detail=question.detail,
                risk=_grave(question),
            )
        )
        try:
            with anyio.move_on_after(self.policy.seconds):
                await waiting.answered.wait()
        finally:
            del self._open[approval_id]
        if not waiting.answered.is_set():
            asker.emit(Noticed(f"Nobody answered within {self.policy.seconds:g} s: denied."))
        await self._kept(asker, question, waiting.decision)
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
        verdict = self._verdict(question)
        if verdict.decision == "deny":
            hint = _setting(question) if question.judged is None else ""
            raise self._refused(question, verdict.reason, hint)
        if verdict.decision == "allow":
            return "session" if self._granted(question) else "once"
        async with self._locks.setdefault(question.scope, anyio.Lock()):
            if self._verdict(question).decision == "allow":
                return "session"
            if self._asker.attended:
                return await self._desk.ask(self._asker, question)
        if question.call.name in self._asker.named and question.judged is None:
            return "once"
        doubt = question.why or (question.judged.reason if question.judged else "")
        nobody = ": ".join(filter(None, ("nobody can be asked here", doubt)))
        raise self._refused(question, nobody, self._way(question))

    def _granted(self, question: Question) -> bool:
        return is_covered(question, self._desk.scopes(self._asker.session))

    def _verdict(self, question: Question) -> Verdict:
        return self._desk.verdict(self._asker.session, question)

    def _way(self, question: Question) -> str:
        """What lets the call run where nobody can be asked."""
        name = question.tool or question.call.name
        if question.why:
            trust = ", name hosts you trust in security.trusted_hosts" if question.hosts else ""
            return f"ask where somebody can answer{trust}, or begin a new session"
        if question.judged is not None:
            return self._beforehand(question.scopes or (question.scope,))
        hint = f"name it in the question: --tools {question.call.name}"
        return f"{hint}, or {_setting(question)}" if name in self._desk.policy.rules else hint

    def _beforehand(self, scopes: tuple[str, ...]) -> str:
        said = _SAID.get(self._asker.address.channel, str)
        lines = [f"`{said(f'/allow always {scope}')}`" for scope in scopes]
        return f"say {' and '.join(lines)} first"

    def _refused(self, question: Question, why: str, hint: str) -> ToolDenied:
        what = f"{question.call.name!r} was denied: {why}"
        self._asker.emit(Noticed(f"{what}. To allow it, {hint}." if hint else f"{what}."))
        return ToolDenied(what, hint="go on without it")


def _grave(question: Question) -> str:
    """Why it is asked, in a line."""
    judged = question.judged
    doubt = judged.reason if judged is not None and judged.decision == "ask" else ""
    stands = f"a yes that stays covers {question.scope!r}" if question.scopes else ""
    return ", ".join(dict.fromkeys(filter(None, (question.risk, question.why, doubt, stands))))


def _setting(question: Question) -> str:
    name = question.tool or question.call.name
    key = "tools.python" if name == "python" else f"tools.rules.{name}"
    return f'set {key} to "allow" in .octo/config.json'
