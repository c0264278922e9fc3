"""Slash commands: what they are, and how a typed line finds its command.

A new command is one file in ``session`` that makes a ``Command``, and one line where
``octo_lab/app.py`` builds ``Commands``; a face adds its own with ``Setup.commands``.
"""

from __future__ import annotations

import difflib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from octo_lab.core.keys import ChatAddress
from octo_lab.core.replies import CommandInfo, Told


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandCall:
    """A command as typed in one chat; ``args`` is the rest of its line.

    ``session`` names the dialog that is meant; empty: the one that the chat is in.
    """

    address: ChatAddress
    sender_id: str
    args: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One slash command. ``bypass``: it does not wait for earlier messages of its chat.

    ``channels`` limits who may use it (``None``: every channel). ``run`` raises OctoErrors.
    """

    name: str
    summary: str
    run: Callable[[CommandCall], Awaitable[Told]]
    usage: str = ""
    aliases: tuple[str, ...] = ()
    bypass: bool = False
    channels: frozenset[str] | None = None

    @property
    def info(self) -> CommandInfo:
        usage = f"/{self.name} {self.usage}".rstrip()
        return CommandInfo(name=self.name, usage=usage, summary=self.summary, aliases=self.aliases)

    def offered_to(self, channel: str) -> bool:
        return self.channels is None or channel in self.channels


class Commands:
    """The commands there are. ``/help`` is one of them, generated from the others."""

    def __init__(self, commands: Iterable[Command]) -> None:
        self._commands = (*commands, self._help_command())
        self._names = {
            name: command for command in self._commands for name in (command.name, *command.aliases)
        }

    def infos(self, channel: str) -> tuple[CommandInfo, ...]:
        return tuple(command.info for command in self._commands if command.offered_to(channel))

    def find(self, line: str, channel: str) -> Command | None:
        command = self._names.get(_word(line))
        return command if command and command.offered_to(channel) else None

    def bypasses(self, line: str, channel: str) -> bool:
        command = self.find(line, channel) if is_command(line) else None
        return command is not None and command.bypass

    async def run(self, line: str, address: ChatAddress, sender_id: str, session: str = "") -> Told:
        """Run a typed line; an unknown command is named, with the next step."""
        command = self.find(line, address.channel)
        if command is None:
            return self._unknown(line, address.channel)
        args = "".join(line.split(maxsplit=1)[1:]).strip()
        return await command.run(
            CommandCall(address=address, sender_id=sender_id, args=args, session=session)
        )

    def help_text(self, channel: str) -> str:
        return "\n".join(f"- {_usages(one)}: {one.summary}" for one in self.infos(channel))

    def _unknown(self, line: str, channel: str) -> Told:
        known = [info.name for info in self.infos(channel)]
        near = difflib.get_close_matches(_word(line), known, n=1)
        hint = f"did you mean /{near[0]}?" if near else "/help lists them"
        return Told(text=f"No command /{_word(line)}", failed=True, hint=hint)

    def _help_command(self) -> Command:
        async def run(call: CommandCall) -> Told:
            return Told(text=self.help_text(call.address.channel))

        return Command(name="help", summary="show this list", run=run, aliases=("?",))


def is_command(text: str) -> bool:
    """Whether a message is a slash command: ``/word``, but not a path like ``/tmp/a``."""
    head = "".join(text.split(maxsplit=1)[:1])
    return head.startswith("/") and len(head) > 1 and not set(head[1:]) & set("/.\\")


def _word(line: str) -> str:
    return "".join(line.split(maxsplit=1)[:1]).removeprefix("/").lower()


def _usages(info: CommandInfo) -> str:
    return " or ".join(f"`{way}`" for way in (info.usage, *(f"/{one}" for one in info.aliases)))
