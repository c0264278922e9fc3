"""Calls a tool of the person's own, or asks for what is missing to call it."""

from __future__ import annotations

from collections.abc import Sequence

from octo_lab.llm.offline.arguments import example, fill
from octo_lab.llm.offline.own import ENOUGH, LEAD, Fit
from octo_lab.llm.offline.slots import Request
from octo_lab.llm.offline.steps import Call, Step, say

_TO_ASK = 0.7  # a question, or a call with nothing in it, needs a tool that is plainly meant
_FAR = 0.3


def own_step(request: Request, fits: Sequence[Fit], others: float) -> Step | None:
    """The call, or a question; None when the request is about none of them.

    ``others`` is how sure it is that something else is meant.
    """
    best, *rest = fits
    if best.score < ENOUGH or best.score < others + LEAD:
        return None
    close = [fit for fit in rest if fit.score >= ENOUGH and best.score - fit.score < LEAD]
    if close:
        names = ", ".join(f"`{fit.tool.name}`" for fit in (best, *close))
        return say(request, "which_tool", names=names)
    filled = fill(request, best.tool)
    if filled.arguments and not filled.missing:
        return Call(tool=best.tool.name, arguments=filled.arguments)
    if best.score < _TO_ASK or best.score < others + _FAR:
        return None
    if not filled.missing:
        return Call(tool=best.tool.name)
    needed = ", ".join(f"`{name}`" for name in filled.missing)
    shown = example(best.tool, filled.missing)
    return say(request, "need_argument", tool=best.tool.name, missing=needed, example=shown)
