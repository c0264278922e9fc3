"""A dialog whose scripted turns change files, for tests of what takes them back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from octo_lab.app import Setup, open_app
from octo_lab.core.mail import AskOptions, OutboundMessage
from octo_lab.core.messages import ToolCall
from octo_lab.core.stream import Done, StreamEvent, ToolCalled
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.providers import ScriptedProvider, says
from octo_lab.testing.setups import setup_in
from octo_lab.tools.tool import Tool, ToolContext

Change = dict[str, Any]


def writes(path: str, content: str) -> Change:
    return {"name": "write_file", "path": path, "content": content}


def edits(path: str, old: str, new: str) -> Change:
    return {"name": "edit_file", "path": path, "old_string": old, "new_string": new}


def patches(path: str, diff: str) -> Change:
    return {"name": "diff_edit", "path": path, "diff": diff}


RUNS: Change = {"name": "unseen"}


def unseen() -> Tool:
    """A tool whose effects nobody sees, as those of a shell."""

    async def run(ctx: ToolContext, args: object) -> str:
        await ctx.changes.unseen("shell: make all")
        return "done"

    return Tool(
        name="unseen",
        description="",
        schema={"type": "object"},
        parse=dict,
        run=run,
        group="runtime",
        source="own",
    )


def turn(*changes: Change) -> list[list[StreamEvent]]:
    """One turn that makes these calls one after the other."""
    steps: list[list[StreamEvent]] = []
    for number, change in enumerate(changes):
        args = {name: value for name, value in change.items() if name != "name"}
        call = ToolCall(id=f"c{number}", name=change["name"], arguments=json.dumps(args))
        steps.append([ToolCalled(call), Done("tool_use")])
    return [*steps, says("done")]


class Chat:
    """A dialog whose turns make given changes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def setup(self, channel: MemoryChannel, *turns: list[list[StreamEvent]]) -> Setup:
        provider = ScriptedProvider(*(step for steps in turns for step in steps))
        return setup_in(self.folder, channel, provider=provider, tools=[unseen()])

    async def run(
        self,
        *turns: tuple[Change, ...],
        lines: tuple[str, ...] = (),
        session: str | None = None,
        options: AskOptions | None = None,
    ) -> list[str]:
        """Start, take the turns, say the lines; gives the answers to the lines."""
        options = options or AskOptions(headless=True, session=session)
        channel = MemoryChannel("notebook")
        scripts = [turn(*changes) for changes in turns]
        async with open_app(self.setup(channel, *scripts)):
            for _ in turns:
                await channel.turn(await channel.ask("go", options))
            return [
                words_of(await channel.message(await channel.ask(line, options))) for line in lines
            ]

    async def tree(self) -> dict[str, tuple[bytes, int] | None]:
        return await anyio.to_thread.run_sync(self._tree)

    def _tree(self) -> dict[str, tuple[bytes, int] | None]:
        return {
            str(path.relative_to(self.folder)): (
                (path.read_bytes(), path.stat().st_mode & 0o777) if path.is_file() else None
            )
            for path in self.folder.rglob("*")
            if not _private(path, self.folder)
        }

    async def do(self, action: Callable[[Path], object]) -> None:
        await anyio.to_thread.run_sync(action, self.folder)


def _private(path: Path, folder: Path) -> bool:
    return path.relative_to(folder).parts[0] in ("data", ".octo")


def words_of(message: OutboundMessage) -> str:
    text = f"{message.text} ({message.hint})" if message.hint else message.text
    return f"failed: {text}" if message.failed else text
