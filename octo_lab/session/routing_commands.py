"""The command /router: how the models that share the work do, and how they should."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from octo_lab.core.errors import UsageError
from octo_lab.core.replies import Routing, Told
from octo_lab.core.words import ROUTER_ALONE, ROUTER_COLUMNS, router_row
from octo_lab.llm.resilience.policy import Mode
from octo_lab.session.commands import Command, CommandCall
from octo_lab.session.models import ModelSource

MODES: dict[str, Mode] = {mode: mode for mode in get_args(Mode)}
CHANNELS = frozenset({"notebook", "terminal"})  # where whoever types owns the machine
WHAT = {
    "off": "In order of preference, the next when one fails.",
    "hedge": "Two are asked at once, the first to begin answers.",
    "lane": "The one that does best answers.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingCommands:
    """A mode chosen here holds until octo_lab closes or other fallbacks are set."""

    models: ModelSource

    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                name="router",
                usage=f"[{'|'.join(MODES)}]",
                summary="show how the models that share the work do, or choose how they share it",
                run=self.router,
                channels=CHANNELS,
            ),
        )

    async def router(self, call: CommandCall) -> Told:
        wanted = call.args.lower()
        if wanted and wanted not in MODES:
            raise UsageError(f"No such mode: {wanted!r}", hint=f"one of: {', '.join(MODES)}")
        if wanted:
            self.models.share_by(MODES[wanted])
        return Told(text=_text(await self.models.routing()))


def _text(routing: Routing) -> str:
    """A Markdown table of the models."""
    if not routing.slots:
        return ROUTER_ALONE
    rows = [ROUTER_COLUMNS, ["---"] * len(ROUTER_COLUMNS), *map(router_row, routing.slots)]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"`{routing.mode}`: {WHAT[routing.mode]}\n\n{table}"
