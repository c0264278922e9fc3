"""Runs one call: arguments, policy, timeout, and a bounded result whatever happens."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import anyio

from octo_lab.core.errors import ToolDenied, ToolFailed
from octo_lab.core.messages import CallOutcome, Media, ToolCall
from octo_lab.core.text import clean, first_line, head_and_tail
from octo_lab.tools.arguments import read_arguments
from octo_lab.tools.decision import question_of
from octo_lab.tools.policy import get_approval
from octo_lab.tools.tool import Approver, Tool, ToolContext, ToolResult

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a call; ``text`` goes to the model and to the person."""

    state: CallOutcome
    text: str
    media: tuple[Media, ...] = ()


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
    try:
        result = await _run(tool, call, ctx, (approver, bounds, started))
        return _success(tool, result, bounds)
    except anyio.get_cancelled_exc_class():
        if _is_cancelled():
            raise
        return Outcome(state="cancelled", text=f"Error: {tool.name!r} cancelled itself.")
    except BaseException as exc:  # noqa: BLE001 - the tool boundary
        return _failure(tool, exc, bounds.output)


async def _run(
    tool: Tool,
    call: ToolCall,
    ctx: ToolContext,
    desk: tuple[Approver, CallBounds, Callable[[], None]],
) -> ToolResult | str:
    approver, bounds, started = desk
    if not tool.offered_to(ctx.channel):
        raise ToolDenied(f"{tool.name!r} may not run for a turn from {ctx.channel!r}")
    args = tool.parse(read_arguments(call, bounds.arguments))
    await get_approval(question_of(tool, call, args, ctx.workspace), approver)
    started()
    return await _within_timeout(tool, ctx, args)


async def _within_timeout(tool: Tool, ctx: ToolContext, args: Any) -> ToolResult | str:
    with anyio.move_on_after(tool.timeout):
        return await tool.run(ctx, args)
    raise ToolFailed(f"{tool.name!r} was stopped: it took longer than {tool.timeout:g} s")


def _is_cancelled() -> bool:
    """Whether this task is being cancelled, or a tool merely let a CancelledError slip."""
    return anyio.current_effective_deadline() == -math.inf


def _success(tool: Tool, result: ToolResult | str, bounds: CallBounds) -> Outcome:
    if isinstance(result, str):
        result = ToolResult(text=result)
    media, note = _bounded(result.media, bounds.media)
    text = clean(head_and_tail(result.text, tool.output or bounds.output))
    return Outcome(state="ok", text=text + note, media=media)


def _bounded(media: tuple[Media, ...], limit: int) -> tuple[tuple[Media, ...], str]:
    kept: list[Media] = []
    for item in media:
        limit -= len(item.data)
        if limit >= 0:
            kept.append(item)
    left = len(media) - len(kept)
    return tuple(kept), f"\n[{left} pictures or files left out: too large]" if left else ""


def _failure(tool: Tool, exc: BaseException, limit: int) -> Outcome:
    match exc:
        case ToolDenied():
            return Outcome(state="denied", text=f"Error: {clean(str(exc))}")
        case ToolFailed():
            return Outcome(state="error", text=clean(head_and_tail(f"Error: {exc}", limit)))
        case KeyboardInterrupt():
            return Outcome(state="cancelled", text=f"Error: {tool.name!r} was interrupted.")
    log.warning("The tool %r raised an error of its own", tool.name, exc_info=exc)
    said = clean(first_line(str(exc), 500))
    kind = type(exc).__name__
    return Outcome(state="error", text=f"Error: {tool.name!r} raised {kind}: {said}".rstrip(": "))
