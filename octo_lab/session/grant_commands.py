"""The commands /allow and /deny: what a person lets the agent do without being asked each time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from octo_lab.core.errors import UsageError
from octo_lab.core.mail import Told
from octo_lab.session.approvals import ApprovalDesk
from octo_lab.session.commands import Command, CommandCall
from octo_lab.session.dialogs import Dialogs
from octo_lab.tools.tool import Tool

CHANNELS = frozenset({"notebook", "terminal"})  # where whoever types owns the machine


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantCommands:
    """Grants hold for the chat's current dialog, until octo_lab closes."""

    dialogs: Dialogs
    approvals: ApprovalDesk
    tools: Iterable[Tool]

    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                name="allow",
                usage="[TOOL]",
                summary="let a tool run unasked in this dialog, or list those that may",
                run=self.allow,
                channels=CHANNELS,
            ),
            Command(
                name="deny",
                usage="TOOL",
                summary="take that back: ask again",
                run=self.deny,
                channels=CHANNELS,
            ),
        )

    async def allow(self, call: CommandCall) -> Told:
        names = call.args.split()
        if not names:
            return await self._listed(call)
        for name in names:
            self._check(name, call.address.channel)
        session = await self.dialogs.current_or_new(call.address)
        for name in names:
            self.approvals.grant(session.id, name)
        return Told(text=f"{_quoted(names)} may run in this dialog until octo_lab closes.")

    async def deny(self, call: CommandCall) -> Told:
        names = call.args.split()
        if not names:
            raise UsageError("Deny which tool?", hint="list those that may run with `/allow`")
        session = await self.dialogs.current(call.address)
        taken = [name for name in names if session and self.approvals.revoke(session.id, name)]
        if not taken:
            return Told(
                text=f"{_quoted(names)} was not allowed here",
                failed=True,
                hint="list what is with `/allow`",
            )
        return Told(text=f"{_quoted(taken)} is asked about again.")

    async def _listed(self, call: CommandCall) -> Told:
        session = await self.dialogs.current(call.address)
        granted = self.approvals.grants(session.id) if session else ()
        if not granted:
            asking = [tool.name for tool in self._asking(call.address.channel)]
            return Told(text=f"Nothing is allowed unasked. What asks: {_quoted(asking) or 'none'}.")
        return Told(text=f"{_quoted(granted)} may run in this dialog until octo_lab closes.")

    def _asking(self, channel: str) -> list[Tool]:
        return [tool for tool in self.tools if tool.asks and tool.offered_to(channel)]

    def _check(self, name: str, channel: str) -> None:
        asking = [tool.name for tool in self._asking(channel)]
        if name not in asking:
            raise UsageError(
                f"No tool {name!r} asks before it runs",
                hint=f"these do: {', '.join(asking) or 'none'}",
            )
        if self.approvals.policy.rules.get(name) == "deny":
            raise UsageError(
                f"The settings deny {name!r}", hint="change tools in .octo/config.json"
            )


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
