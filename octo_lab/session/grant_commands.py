"""The commands /allow and /deny: what a person lets the agent do without being asked each time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from octo_lab.core.errors import UsageError
from octo_lab.core.events import Decision
from octo_lab.core.replies import Told
from octo_lab.session.approvals import ApprovalDesk
from octo_lab.session.commands import Command, CommandCall
from octo_lab.session.dialogs import Dialogs
from octo_lab.tools.policy import OWNED
from octo_lab.tools.tool import Tool

CHANNELS = frozenset({"notebook", "terminal"})  # where whoever types owns the machine
_ALWAYS = "always"
_YES: dict[str, Decision] = {
    "": "once",
    "once": "once",
    "session": "session",
    "always": "always",
}
_ANSWERED: dict[Decision, str] = {
    "once": "Allowed once",
    "session": "Allowed for this session",
    "always": "Always allowed here",
    "deny": "Denied",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantCommands:
    """Grants hold for the chat's current dialog until octo_lab closes, or always."""

    dialogs: Dialogs
    approvals: ApprovalDesk
    tools: Iterable[Tool]

    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                name="allow",
                usage="[always] [TOOL [COMMAND]]",
                summary="let a tool, or one sort of its commands, run unasked, or list what may",
                run=self.allow,
                channels=CHANNELS,
            ),
            Command(
                name="deny",
                usage="TOOL [COMMAND]",
                summary="take that back: ask again",
                run=self.deny,
                channels=CHANNELS,
            ),
            Command(
                name="yes",
                usage="[session|always]",
                summary="let the tool run that is being asked about",
                run=self.yes,
                bypass=True,
            ),
            Command(
                name="no",
                summary="do not let it run",
                run=self.no,
                bypass=True,
            ),
        )

    async def yes(self, call: CommandCall) -> Told:
        decision = _YES.get(call.args.strip().lower())
        if decision is None:
            raise UsageError(f"Yes for how long: {call.args!r}?", hint="/yes, /yes session")
        if decision == "always" and call.address.channel not in OWNED:
            raise UsageError("Only the owner says always", hint="/yes, /yes session")
        return self._answered(call, decision)

    async def no(self, call: CommandCall) -> Told:
        return self._answered(call, "deny")

    def _answered(self, call: CommandCall, decision: Decision) -> Told:
        if asked := self.approvals.answer(call.address, call.sender_id, decision):
            return Told(text=f"{_ANSWERED[decision]}: {_quoted((asked,))}.")
        return Told(text="Nothing is asked of you here", failed=True, hint="it may have expired")

    async def allow(self, call: CommandCall) -> Told:
        first, _, rest = call.args.strip().partition(" ")
        always = first == _ALWAYS
        scopes = self._scopes(rest if always else call.args)
        if not scopes:
            return await self._listed(call)
        for scope in scopes:
            self._check(scope, call.address.channel)
        if always:
            await self.approvals.standing.add(scopes)
            return Told(text=f"{_quoted(scopes)} may always run in this workspace.")
        session = await self.dialogs.meant_or_new(call.address, call.session)
        for scope in scopes:
            self.approvals.grant(session.id, scope)
        return Told(text=f"{_quoted(scopes)} may run in this session until octo_lab closes.")

    async def deny(self, call: CommandCall) -> Told:
        scopes = self._scopes(call.args.removeprefix(f"{_ALWAYS} "))
        if not scopes:
            raise UsageError("Deny which tool?", hint="list those that may run with `/allow`")
        session = await self.dialogs.meant(call.address, call.session)
        taken = [
            scope for scope in scopes if await self._taken(session.id if session else "", scope)
        ]
        if not taken:
            return Told(
                text=f"{_quoted(scopes)} was not allowed here",
                failed=True,
                hint="list what is with `/allow`",
            )
        return Told(text=f"{_quoted(taken)} is asked about again.")

    async def _taken(self, session: str, scope: str) -> bool:
        here = self.approvals.revoke(session, scope)
        return await self.approvals.standing.remove(scope) or here

    def _scopes(self, args: str) -> list[str]:
        """``shell git status`` is a command of the tool; ``python shell`` are two tools."""
        first, _, rest = args.replace(": ", " ", 1).strip().partition(" ")
        names = {tool.name: tool for tool in self.tools}
        if rest and not {first, *rest.split()} <= set(names):
            tool = names.get(first)
            if tool is not None and tool.scopes is not None:
                return [f"{first}: {rest.strip()}"]
        return [first, *rest.split()] if first else []

    async def _listed(self, call: CommandCall) -> Told:
        session = await self.dialogs.meant(call.address, call.session)
        granted = self.approvals.grants(session.id) if session else ()
        standing = self.approvals.standing.scopes
        lines = [
            f"{_quoted(granted)} may run in this session until octo_lab closes." if granted else "",
            f"{_quoted(standing)} may always run in this workspace." if standing else "",
        ]
        if not granted and not standing:
            asking = [tool.name for tool in self._asking(call.address.channel)]
            return Told(text=f"Nothing is allowed unasked. What asks: {_quoted(asking) or 'none'}.")
        return Told(text="\n\n".join(filter(None, lines)))

    def _asking(self, channel: str) -> list[Tool]:
        return [tool for tool in self.tools if tool.asks and tool.offered_to(channel)]

    def _check(self, scope: str, channel: str) -> None:
        """Raise UsageError for what is never asked about, or never allowed."""
        name, part, _ = scope.partition(":")
        asking = [tool.name for tool in self._asking(channel)]
        parted = [tool.name for tool in self.tools if tool.scopes and tool.offered_to(channel)]
        if name not in (parted if part else asking):
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
