"""The commands /undo and /redo: what turns changed in files is taken back, or made again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import anyio.to_thread
from sqlalchemy import Connection

from octo_lab.core.errors import UsageError
from octo_lab.core.remarks import person_has
from octo_lab.core.replies import Told
from octo_lab.core.text import first_line
from octo_lab.security.paths import Enclosure
from octo_lab.session.commands import Command, CommandCall
from octo_lab.session.dialogs import Dialogs
from octo_lab.session.undo import Result, Step, steps_again, steps_back, take_steps
from octo_lab.session.worker import Workers
from octo_lab.storage.changes import StoredChange, changes_of, mark_undone
from octo_lab.storage.media import read_blob
from octo_lab.storage.sessions import add_remark
from octo_lab.tools.policy import OWNED

FORCE = "force"
_NAMED = 20
_ELSEWHERE = "`/sessions` lists the other sessions, `/switch NAME` goes to one"


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoCommands:
    """Works on the turns of the chat's current dialog, with the files of the workspace."""

    dialogs: Dialogs
    workers: Workers
    files: Callable[[], Enclosure]

    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                name="undo",
                usage="[N] [force]",
                summary="take back what the last turn, or the last N, changed in files",
                run=self.undo,
                channels=OWNED,
            ),
            Command(
                name="redo",
                usage="[force]",
                summary="make again what was last taken back",
                run=self.redo,
                channels=OWNED,
            ),
        )

    async def undo(self, call: CommandCall) -> Told:
        count, force = _arguments(call.args, "/undo")
        session, changes = await self._changes(call)
        chosen = _newest(changes, count)
        unknown = [change.what for change in changes if change.what and change.turn_id in chosen]
        mine = [change for change in changes if _undoable(change) and change.turn_id in chosen]
        if not mine:
            return _nothing(unknown)
        result = await self._take(steps_back(mine), force=force)
        await self._mark(session, result, undone=True)
        again = "/undo " + (f"{count} {FORCE}" if count > 1 else FORCE)
        return _told("Taken back", result, again, unknown)

    async def redo(self, call: CommandCall) -> Told:
        _, force = _arguments(call.args, "/redo")
        session, found = await self._changes(call)
        changes = [change for change in found if change.undone]
        if not changes:
            return Told(text="Nothing was taken back here", failed=True, hint=_ELSEWHERE)
        mine = [change for change in changes if change.turn_id == changes[0].turn_id]
        result = await self._take(steps_again(mine), force=force)
        await self._mark(session, result, undone=False)
        return _told("Made again", result, f"/redo {FORCE}", [])

    async def _changes(self, call: CommandCall) -> tuple[str, list[StoredChange]]:
        """The dialog's id, and what its turns changed."""
        session = await self.dialogs.meant(call.address, call.session)
        if session is None:
            return "", []
        if self.workers.busy(session.id):
            raise UsageError("A turn runs in this session", hint="stop it first, with `/stop`")
        load = partial(changes_of, session_id=session.id)
        return session.id, await self.dialogs.database.read(load)

    async def _take(self, steps: Sequence[Step], *, force: bool) -> Result:
        def load(db: Connection) -> dict[str, bytes | None]:
            return {step.then: read_blob(db, step.then) for step in steps if step.then}

        blobs = await self.dialogs.database.read(load)
        take = partial(take_steps, self.files(), steps, blobs.get, force=force)
        return await anyio.to_thread.run_sync(take)

    async def _mark(self, session: str, result: Result, *, undone: bool) -> None:
        """The model is told of it with the next message: it has not seen it happen."""

        def store(db: Connection) -> None:
            mark_undone(db, result.ids, undone)
            add_remark(db, session, _remark(result, undone=undone))

        if result.ids:
            await self.dialogs.database.run(store)


def _remark(result: Result, *, undone: bool) -> str:
    done = "taken back" if undone else "made again"
    more = len(result.done) - _NAMED
    files = "; ".join((*result.done[:_NAMED], *((f"and {more} more",) if more > 0 else ())))
    return person_has(f"{done} what was changed in files here: {files}")


def _arguments(args: str, command: str) -> tuple[int, bool]:
    """How many turns, and whether files changed since are overwritten."""
    words = args.lower().split()
    force = FORCE in words
    rest = [word for word in words if word != FORCE]
    if len(rest) > 1 or any(not word.isdecimal() or not int(word) for word in rest):
        raise UsageError(f"{args!r} is no number of turns", hint=f"for example `{command} 2`")
    return (int(rest[0]) if rest else 1), force


def _undoable(change: StoredChange) -> bool:
    return not change.what and not change.undone


def _newest(changes: Sequence[StoredChange], count: int) -> set[str]:
    """The last ``count`` turns with something to take back, and the turns after these.

    Without any: the last turn that changed something unknown.
    """
    order = list(dict.fromkeys(change.turn_id for change in changes))
    able = {change.turn_id for change in changes if _undoable(change)}
    chosen = [turn for turn in order if turn in able][-count:]
    if not chosen:
        return set(order[-1:])
    undone = {change.turn_id for change in changes if change.undone}
    return set(order[order.index(chosen[0]) :]) - (undone - able)


def _nothing(unknown: Sequence[str]) -> Told:
    if not unknown:
        text = "No turn here changed files that can be restored"
        return Told(text=text, failed=True, hint=_ELSEWHERE)
    return Told(text=_not_undone(unknown), failed=True)


def _told(done: str, result: Result, again: str, unknown: Sequence[str]) -> Told:
    if result.conflicts:
        return Told(
            text=f"Nothing was changed: {_listed(result.conflicts)} "
            f"{'was' if len(result.conflicts) == 1 else 'were'} changed since",
            failed=True,
            hint=f"`{again}` overwrites what is there now",
        )
    lines = [f"{done}:", *(f"- {line}" for line in result.done[:_NAMED])] if result.done else []
    if len(result.done) > _NAMED:
        lines.append(f"- and {len(result.done) - _NAMED} more files")
    if result.failures:
        lines += ["Failed:", *(f"- {line}" for line in result.failures[:_NAMED])]
    text = "\n".join(lines)
    if unknown:
        text = f"{text}\n\n{_not_undone(unknown)}"
    return Told(text=text, failed=bool(result.failures))


def _not_undone(unknown: Sequence[str]) -> str:
    """Nobody saw what these changed."""
    said = [first_line(what, 100).replace("`", "'") for what in dict.fromkeys(unknown)]
    listed = "; ".join(f"`{what}`" for what in said[:_NAMED])
    return f"What these changed cannot be undone: {listed}"


def _listed(paths: Sequence[str]) -> str:
    shown = ", ".join(map(repr, paths[:_NAMED]))
    return f"{shown} and {len(paths) - _NAMED} more" if len(paths) > _NAMED else shown
