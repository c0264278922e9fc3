"""Another model for a dialog, from a command or from inside of a turn."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from octo_lab.core.errors import UsageError
from octo_lab.core.text import first_line
from octo_lab.session.dialogs import Dialogs
from octo_lab.session.models import ChosenModel, ModelSource
from octo_lab.session.worker import Workers
from octo_lab.storage.sessions import SessionRow

USUAL = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoices:
    """Changes what answers in a dialog, in its running turn from the next step on."""

    dialogs: Dialogs
    workers: Workers
    models: ModelSource

    async def chosen(self, name: str) -> ChosenModel:
        """``default`` is the usual one. Raises OctoErrors; an unknown name comes with near ones."""
        try:
            return await self.models.choose(None if name == USUAL else name)
        except UsageError as exc:
            near = difflib.get_close_matches(name, self.models.names(), n=3, cutoff=0.4)
            if not near:
                raise
            raise UsageError(exc.message, hint=f"did you mean {' or '.join(near)}?") from exc

    async def use(self, session: SessionRow, name: str, chosen: ChosenModel) -> str:
        """Tells what is used now."""
        await self.dialogs.use_model(session, None if name == USUAL else name)
        running = [turn for turn in self.workers.running if turn.job.session.id == session.id]
        for turn in running:
            turn.use(chosen)
        too = ", its running turn from the next step on" if running else ""
        return f"This session now uses `{first_line(chosen.name, 200)}`{too}."
