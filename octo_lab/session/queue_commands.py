"""The command /queue: what becomes of messages that come while a turn runs."""

from __future__ import annotations

from dataclasses import dataclass

from octo_lab.core.errors import UsageError
from octo_lab.core.replies import Told
from octo_lab.session.commands import Command, CommandCall
from octo_lab.session.dialogs import Dialogs
from octo_lab.session.queue_modes import MODES, mode_of
from octo_lab.session.worker import Workers

WHAT = {
    "followup": "What is said while a turn runs waits and gets a turn of its own.",
    "collect": "What is said while a turn runs waits and is answered together, in one turn.",
    "steer": "What is said while a turn runs is read by it before its next step.",
    "interrupt": "What is said while a turn runs stops it and is answered at once.",
    "speculative": "What is said while a slow turn runs is answered beside it, at the same time,"
    " from what was said before that turn.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueCommands:
    """A mode chosen here holds for the chat's dialog; that of ``workers`` where none was."""

    dialogs: Dialogs
    workers: Workers

    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                name="queue",
                usage=f"[{'|'.join(MODES)}]",
                summary="show or choose what becomes of messages that come while a turn runs",
                run=self.queue,
                bypass=True,
            ),
        )

    async def queue(self, call: CommandCall) -> Told:
        wanted = call.args.lower()
        mode = next((mode for mode in MODES if mode == wanted), None)
        if wanted and mode is None:
            raise UsageError(f"No such mode: {wanted!r}", hint=f"one of: {', '.join(MODES)}")
        if mode is None:
            return await self._shown(call)
        session = await self.dialogs.meant_or_new(call.address, call.session)
        await self.dialogs.use_queue_mode(session, mode)
        return Told(text=f"`{mode}`: {WHAT[mode]}")

    async def _shown(self, call: CommandCall) -> Told:
        session = await self.dialogs.meant(call.address, call.session)
        mode = mode_of(session, self.workers.usual)
        chosen = session is not None and session.queue_mode == mode
        note = "" if chosen or not self.workers.escalated else " So it is while answers are slow."
        return Told(text=f"`{mode}`: {WHAT[mode]}{note}")
