"""Shows the tools, and runs one for a person under the policy that holds for agents."""

from __future__ import annotations

import difflib
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

from octo_lab.core.errors import ToolFailed, UsageError
from octo_lab.core.events import Decision
from octo_lab.core.ids import new_id
from octo_lab.core.keys import ChatAddress
from octo_lab.core.messages import ToolCall
from octo_lab.core.replies import Told
from octo_lab.core.text import first_line
from octo_lab.core.tool_mail import CallTool, ToolAnswer, ToolInfo, ToolList
from octo_lab.security.taint import Taint
from octo_lab.session.approvals import ApprovalDesk
from octo_lab.session.ask import AskPolicy
from octo_lab.session.commands import Command, CommandCall
from octo_lab.session.dialogs import Dialogs
from octo_lab.storage.turns import load_turns
from octo_lab.tools.arguments import read_arguments
from octo_lab.tools.call import CallBounds, run_call
from octo_lab.tools.decision import question_of
from octo_lab.tools.leaks import called_of, guarded
from octo_lab.tools.tool import Question, Tool, ToolContext
from octo_lab.tools.verdict import Verdict

_MARKS = {"allow": "✓", "ask": "?", "deny": "✗"}
_LEGEND = "✓ runs unasked, ? asks, or what it is given decides, ✗ is denied"


class _Settled:
    """Approves what was decided already."""

    async def approve(self, question: Question) -> Decision:
        return "once"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDesk:
    """Answers what is asked about tools."""

    tools: Iterable[Tool]
    policy: AskPolicy
    approvals: ApprovalDesk
    dialogs: Dialogs

    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                name="tools",
                summary="show the tools that are offered here, what asks, and why another is not",
                run=self.show,
            ),
        )

    async def show(self, call: CommandCall) -> Told:
        listed = await self.listed(call.address)
        offered = [_row(info) for info in listed.tools if not info.why_not]
        others = [f"- {info.name}: {info.why_not}" for info in listed.tools if info.why_not]
        legend = ["", _LEGEND] if offered else []
        parts = [*offered, *legend, *(["", "Not offered here:", "", *others] if others else [])]
        return Told(text="\n".join(parts) or "There are no tools.")

    async def listed(self, address: ChatAddress) -> ToolList:
        session = await self._session(address)
        infos = (self._info(tool, address.channel, session) for tool in self.tools)
        return ToolList(tools=tuple(infos))

    async def call(self, address: ChatAddress, wanted: CallTool) -> ToolAnswer:
        """Decide and run; raises UsageError for an unknown tool or arguments that do not fit."""
        tool = self._named(wanted.name)
        call = ToolCall(id=new_id(), name=tool.name, arguments=wanted.arguments)
        verdict = await self._verdict(tool, call, address)
        answer = ToolAnswer(name=tool.name, decision=verdict.decision, reason=verdict.reason)
        asks = verdict.decision == "ask" and not wanted.yes
        if wanted.dry or asks or verdict.decision == "deny":
            return answer
        return await self._run(tool, call, address, answer)

    async def _run(
        self, tool: Tool, call: ToolCall, address: ChatAddress, answer: ToolAnswer
    ) -> ToolAnswer:
        began = time.perf_counter()
        outcome = await run_call(
            tool,
            call,
            self._context(address, call),
            approver=_Settled(),
            bounds=CallBounds(),
            started=lambda: None,
        )
        return ToolAnswer(
            name=tool.name,
            decision=answer.decision,
            reason=answer.reason,
            state=outcome.state,
            text=outcome.text,
            seconds=round(time.perf_counter() - began, 3),
            media=tuple(media.mime for media in outcome.media),
        )

    def _context(self, address: ChatAddress, call: ToolCall) -> ToolContext:
        return ToolContext(
            workspace=self.policy.workspace,
            private=self.policy.private,
            roots=self.policy.roots,
            soft=self.policy.soft,
            channel=address.channel,
            chat_id=address.chat_id,
            session="",
            turn_id="",
            call_id=call.id,
            report=lambda _: None,
            screen=self.policy.privacy.screen(lambda _: None),
        )

    async def _verdict(self, tool: Tool, call: ToolCall, address: ChatAddress) -> Verdict:
        """Raises UsageError when the arguments do not fit."""
        if why := self.policy.why_not(tool, address.channel):
            return Verdict("deny", why)
        try:
            given = read_arguments(call, CallBounds().arguments)
            args = tool.parse(given)
            if tool.ready is not None:
                await tool.ready()
        except ToolFailed as exc:
            raise UsageError(exc.message, hint=exc.hint) from exc
        question = question_of(tool, call, args, self.policy.workspace)
        context = replace(self._context(address, call), taint=await self._taint(address))
        question = guarded(question, tool, called_of(tool, call, given, args), context)
        return self.approvals.verdict(await self._session(address), question)

    async def _taint(self, address: ChatAddress) -> Taint:
        """What the chat's dialog has seen: each turn knows it of all before it."""
        session = await self.dialogs.current(address)
        if session is None:
            return Taint()
        newest = await self.dialogs.database.read(
            lambda db: load_turns(db, session.id, context_only=True, limit=1)
        )
        return Taint(*(reason for record in newest for reason in record.turn.taint))

    def _info(self, tool: Tool, channel: str, session: str) -> ToolInfo:
        question = Question(
            call=ToolCall(id="", name=tool.name, arguments="{}"),
            scope=tool.name,
            detail="",
            risk=tool.risk,
            tool=tool.name,
            group=tool.group,
            asks=tool.asks and tool.judge is None,
        )
        verdict = self.approvals.verdict(session, question)
        if tool.judge is not None and verdict.decision == "allow":
            verdict = Verdict("allow", "what it is given decides")
        return ToolInfo(
            name=tool.name,
            group=tool.group,
            risk=tool.risk,
            source=tool.source,
            description=tool.description,
            decision=verdict.decision,
            reason=verdict.reason,
            why_not=self.policy.why_not(tool, channel),
            judged=tool.judge is not None,
            schema=tool.schema,
        )

    async def _session(self, address: ChatAddress) -> str:
        session = await self.dialogs.current(address)
        return session.id if session else ""

    def _named(self, name: str) -> Tool:
        tools = {tool.name: tool for tool in self.tools}
        if name in tools:
            return tools[name]
        near = difflib.get_close_matches(name, tools, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(tools) or 'none'}"
        raise UsageError(f"No tool named {name!r}", hint=hint)


def _row(info: ToolInfo) -> str:
    mark = "?" if info.judged and info.decision == "allow" else _MARKS[info.decision]
    return f"- {mark} `{info.name}`: {first_line(info.description, 80)}"
