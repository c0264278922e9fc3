"""Shows the tools, and runs one for a person under the policy that holds for agents."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field

from octo_lab.core.errors import UsageError
from octo_lab.core.keys import ChatAddress
from octo_lab.core.messages import ToolCall
from octo_lab.core.replies import Told
from octo_lab.core.text import first_line
from octo_lab.core.tool_mail import CallTool, GetProgress, ToolAnswer, ToolInfo, ToolList
from octo_lab.session.by_hand import HandCalls
from octo_lab.session.commands import Command, CommandCall
from octo_lab.session.dialogs import Dialogs
from octo_lab.session.parts import TurnParts
from octo_lab.tools.tool import Question, Tool
from octo_lab.tools.verdict import Verdict

_LONGEST = 100_000
_DEPENDS = "Run or ask, depending on what they are to do:"
_HEADS = {"allow": "Run unasked:", "ask": "Ask first:", "deny": "Denied:"}
_OTHERS = "Not offered here:"


class _Said:
    """The end of what a running call has said."""

    def __init__(self) -> None:
        self._text = ""
        self._dropped = 0

    def add(self, text: str) -> None:
        whole = self._text + text
        self._text = whole[-_LONGEST:]
        self._dropped += len(whole) - len(self._text)

    def after(self, seen: int) -> str:
        return self._text[max(0, seen - self._dropped) :]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDesk:
    """Answers what is asked about tools. ``said`` is the progress of the calls that run."""

    parts: TurnParts
    dialogs: Dialogs
    said: dict[tuple[ChatAddress, str], _Said] = field(default_factory=dict)

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
        lists: dict[str, list[str]] = {head: [] for head in _ORDER}
        for info in listed.tools:
            lists[_head(info)].append(f"- `{info.name}`: {_line(info)}")
        parts = ["\n".join((head, "", *rows)) for head, rows in lists.items() if rows]
        return Told(text="\n\n".join(parts) or "There are no tools.")

    async def listed(self, address: ChatAddress) -> ToolList:
        session = await self._session(address)
        infos = (self._info(tool, address.channel, session) for tool in self.parts.tools)
        return ToolList(tools=tuple(infos))

    async def call(self, address: ChatAddress, wanted: CallTool) -> ToolAnswer:
        """Decide and run; raises UsageError for an unknown tool or arguments that do not fit."""
        tool = self._named(wanted.name)
        said = self.said[address, wanted.id] = _Said()
        try:
            calls = HandCalls(parts=self.parts, dialogs=self.dialogs, said=said.add)
            return await calls.run(tool, address, wanted)
        finally:
            del self.said[address, wanted.id]

    def progress(self, address: ChatAddress, asked: GetProgress) -> str:
        said = self.said.get((address, asked.id))
        return said.after(asked.seen) if said else ""

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
        verdict = self.parts.desk.verdict(session, question)
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
            why_not=self.parts.policy.why_not(tool, channel),
            judged=tool.judge is not None,
            schema=tool.schema,
        )

    async def _session(self, address: ChatAddress) -> str:
        session = await self.dialogs.current(address)
        return session.id if session else ""

    def _named(self, name: str) -> Tool:
        tools = {tool.name: tool for tool in self.parts.tools}
        if name in tools:
            return tools[name]
        near = difflib.get_close_matches(name, tools, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(tools) or 'none'}"
        raise UsageError(f"No tool named {name!r}", hint=hint)


_ORDER = (_HEADS["allow"], _DEPENDS, _HEADS["ask"], _HEADS["deny"], _OTHERS)


def _head(info: ToolInfo) -> str:
    """Under which heading a person finds the tool."""
    if info.why_not:
        return _OTHERS
    return _DEPENDS if info.judged and info.decision == "allow" else _HEADS[info.decision]


def _line(info: ToolInfo) -> str:
    return info.why_not or first_line(info.description, 80)
