"""Runs one call: arguments, policy, timeout, and a bounded result whatever happens."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import anyio
import anyio.to_thread

from octo_lab.core.errors import ToolDenied, ToolFailed
from octo_lab.core.messages import CallOutcome, Media, ToolCall
from octo_lab.core.text import clean, first_line, head_and_tail
from octo_lab.tools.arguments import read_arguments
from octo_lab.tools.decision import question_of
from octo_lab.tools.leaks import called_of, guarded
from octo_lab.tools.policy import get_approval
from octo_lab.tools.screen import Called, media_note, screened, sound_alarm
from octo_lab.tools.tool import Approver, Tool, ToolContext, ToolResult

log = logging.getLogger(__name__)

_AT_ONCE = 10_000  # characters; more are read in a thread


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a call; ``text`` goes to the model and to the person. ``origin``: whose words
    these are, if a stranger's. ``note`` is our own last line.
    """

    state: CallOutcome
    text: str
    media: tuple[Media, ...] = ()
    origin: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallBounds:
    """How much one call may take and give: characters, and the bytes of all its media."""

    arguments: int = 1_000_000
    output: int = 50_000
    media: int = 10_000_000


async def run_call(
    tool: Tool,
    call: ToolCall,
    ctx: ToolContext,
    *,
    approver: Approver,
    bounds: CallBounds,
    started: Callable[[], None],
) -> Outcome:
    """Run ``call`` and say how it ended. Raises nothing but the caller's own cancellation.

    ``started`` is called once the call is allowed, just before the tool runs.
    """
    work = _Work(tool=tool, call=call, ctx=ctx, bounds=bounds)
    try:
        outcome = await work.run(approver, started)
    except anyio.get_cancelled_exc_class():
        if _is_cancelled():
            raise
        outcome = Outcome(state="cancelled", text=f"Error: {tool.name!r} cancelled itself.")
    except BaseException as exc:  # noqa: BLE001 - the tool boundary
        outcome = _failure(tool, exc)
    return await work.screened(outcome)


@dataclass(slots=True, kw_only=True)
class _Work:
    """One call on its way; ``called`` is known once the tool is about to run."""

    tool: Tool
    call: ToolCall
    ctx: ToolContext
    bounds: CallBounds
    called: Called | None = None

    async def run(self, approver: Approver, started: Callable[[], None]) -> Outcome:
        tool, ctx = self.tool, self.ctx
        if not tool.offered_to(ctx.channel):
            raise ToolDenied(f"{tool.name!r} may not run for a turn from {ctx.channel!r}")
        given = read_arguments(self.call, self.bounds.arguments)
        args = tool.parse(given)
        if tool.ready is not None:
            await tool.ready()
        called = called_of(tool, self.call, given, args)
        question = question_of(tool, self.call, args, ctx.workspace)
        await get_approval(guarded(question, tool, called, ctx), approver)
        started()
        self.called = called
        return _success(await _within_timeout(tool, _masked(ctx), args), self.bounds.media)

    async def screened(self, outcome: Outcome) -> Outcome:
        """The outcome as it may be seen: masked, bounded, and marked where a stranger speaks."""
        limit = self.tool.output or self.bounds.output
        if self.called is None:
            return replace(outcome, text=head_and_tail(outcome.text, limit))
        look = partial(screened, self.ctx.screen, self.called, outcome.text, limit)
        long = len(outcome.text) > _AT_ONCE
        seen = await anyio.to_thread.run_sync(look) if long else look()
        self.ctx.taint.mark_all(seen.private)
        sound_alarm(self.ctx.screen, self.called, seen)
        note = outcome.note + media_note(self.called, len(outcome.media))
        return replace(outcome, text=seen.text + note, note="", origin=seen.origin)


def _masked(ctx: ToolContext) -> ToolContext:
    """Progress is seen by people only, and written down all the same."""
    return replace(ctx, report=lambda line: ctx.report(ctx.screen.mask(line)))


async def _within_timeout(tool: Tool, ctx: ToolContext, args: Any) -> ToolResult | str:
    with anyio.move_on_after(tool.timeout):
        return await tool.run(ctx, args)
    raise ToolFailed(f"{tool.name!r} was stopped: it took longer than {tool.timeout:g} s")


def _is_cancelled() -> bool:
    """Whether this task is being cancelled, or a tool merely let a CancelledError slip."""
    return anyio.current_effective_deadline() == -math.inf


def _success(result: ToolResult | str, most: int) -> Outcome:
    if isinstance(result, str):
        result = ToolResult(text=result)
    media, note = _bounded(result.media, most)
    return Outcome(state="ok", text=clean(result.text), media=media, note=note)


def _bounded(media: tuple[Media, ...], limit: int) -> tuple[tuple[Media, ...], str]:
    kept: list[Media] = []
    for item in media:
        limit -= len(item.data)
        if limit >= 0:
            kept.append(item)
    left = len(media) - len(kept)
    return tuple(kept), f"\n[{left} pictures or files left out: too large]" if left else ""


def _failure(tool: Tool, exc: BaseException) -> Outcome:
    match exc:
        case ToolDenied():
            return Outcome(state="denied", text=f"Error: {clean(str(exc))}")
        case ToolFailed():
            return Outcome(state="error", text=clean(f"Error: {exc}"))
        case KeyboardInterrupt():
            return Outcome(state="cancelled", text=f"Error: {tool.name!r} was interrupted.")
    log.warning("The tool %r raised an error of its own", tool.name, exc_info=exc)
    said = clean(first_line(str(exc), 500))
    kind = type(exc).__name__
    return Outcome(state="error", text=f"Error: {tool.name!r} raised {kind}: {said}".rstrip(": "))
