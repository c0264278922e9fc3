"""The command /compact: sum up what was said, so that less of it is sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from sqlalchemy import Connection

from octo_lab.agent.hooks import HookScope, HookSet, TurnHooks
from octo_lab.agent.model_call import ModelCall
from octo_lab.agent.ports import NO_HOOKS, Hooks
from octo_lab.core.errors import UsageError
from octo_lab.core.replies import Told
from octo_lab.llm.masked import Masked
from octo_lab.security.outgoing import Outgoing
from octo_lab.session.ask import AskPolicy
from octo_lab.session.commands import Command, CommandCall
from octo_lab.session.compact import RULES, SummedUp, keep, sum_up
from octo_lab.session.dialogs import Dialogs
from octo_lab.session.history import Earlier
from octo_lab.session.models import ModelSource
from octo_lab.session.worker import Workers
from octo_lab.storage.sessions import SessionRow
from octo_lab.storage.summaries import summary_of
from octo_lab.storage.turns import load_turns


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactCommands:
    """Sums up all but the newest turns of the chat's current dialog."""

    dialogs: Dialogs
    workers: Workers
    models: ModelSource
    policy: AskPolicy
    hooks: HookSet | None = None

    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                name="compact",
                summary="sum up the older part of this session; nothing is deleted",
                run=self.compact,
            ),
        )

    async def compact(self, call: CommandCall) -> Told:
        session = await self.dialogs.meant(call.address, call.session)
        if session is None or session.head is None:
            raise UsageError("Nothing was said here yet", hint="ask something first")
        earlier = await self._earlier(session)
        if self.workers.busy(session.id) or earlier.unfinished:
            raise UsageError("A turn runs in this session", hint="wait, or stop it with `/stop`")
        chosen = await self.models.choose(session.model)
        policy = replace(self.policy.compaction, keep=2)
        notes: list[str] = []
        mask = self.policy.privacy.mask
        provider = Masked(chosen.provider, Outgoing(mask))
        asked = ModelCall(provider=provider, hooks=self._hooks(session, notes.append))
        made = await sum_up(asked, earlier, policy, chosen.window, mask)
        if made is None:
            raise UsageError("There is too little to sum up", hint="go on; nothing is full yet")
        if not await keep(self.dialogs.database, session.id, earlier, made):
            raise UsageError("The session went on meanwhile", hint="ask for it again")
        return Told(text="\n\n".join([_words(made), *notes]))

    def _hooks(self, session: SessionRow, tell: Callable[[str], None]) -> Hooks:
        if self.hooks is None:
            return NO_HOOKS
        key = session.key
        profile, mask = key.address.profile, self.policy.privacy.mask
        scope = HookScope(session=str(key), profile=profile, tell=tell, mask=mask)
        return TurnHooks(hooks=self.hooks, scope=scope)

    async def _earlier(self, session: SessionRow) -> Earlier:
        def read(db: Connection) -> Earlier:
            load = partial(load_turns, db, session.id, context_only=True)
            turns = load(limit=self.policy.history)
            return Earlier(cursor=session.cursor, turns=turns, summary=summary_of(db, session.id))

        return await self.dialogs.database.read(read)


def _words(made: SummedUp) -> str:
    turns = "1 turn" if made.turns == 1 else f"{made.turns} turns"
    by = "by rules" if made.model == RULES else f"by `{made.model}`"
    by += f": {made.problem}" if made.problem else ""
    return f"{turns} summed up {by}.\n\n{made.text}"
