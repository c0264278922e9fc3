"""Sees that private data leaves, and that strangers' orders run, only when a person says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from octo_lab.core.messages import ToolCall
from octo_lab.tools.screen import Called, named_private
from octo_lab.tools.tool import Question, Tool, ToolContext
from octo_lab.tools.verdict import Verdict

_AFTER = "after private data was read"
_ALARMED = "after a suspicious text"


def guarded(question: Question, tool: Tool, called: Called, ctx: ToolContext) -> Question:
    """The question, made graver where what was read before, or is read now, could get out.

    What was granted, set or named before does not cover it: it is asked about under a scope of
    its own, and where nobody can be asked it is denied.
    """
    reasons = _leak_reasons(tool, called, ctx)
    alarmed = ctx.screen.alarms and tool.asks and tool.risk in ("execute", "network")
    alarms = tuple(ctx.screen.alarms[:3]) if alarmed else ()
    when = " and ".join(words for words, found in ((_AFTER, reasons), (_ALARMED, alarms)) if found)
    return _graver(question, when, (*alarms, *reasons)) if when else question


def called_of(tool: Tool, call: ToolCall, given: Mapping[str, Any], args: Any) -> Called:
    """What is known of a call before it runs."""
    return Called(
        tool=tool.own_name or tool.name,
        source=tool.source,
        risk=tool.risk,
        given=given,
        arguments=call.arguments,
        hosts=tuple(tool.hosts(args)) if tool.hosts else (),
        digests="git" in (tool.name, tool.group),
    )


def _leak_reasons(tool: Tool, called: Called, ctx: ToolContext) -> tuple[str, ...]:
    if tool.offline() or ctx.channel in tool.local or tool.risk not in ("execute", "network"):
        return ()
    if called.hosts and all(_trusted(host, ctx) for host in called.hosts):
        return ()
    named = named_private(ctx.screen.private, called)
    own = (f"it names {named!r}",) if named else ()
    if ctx.screen.mask(called.arguments) != called.arguments:
        own = (*own, "it holds something that looks like a key")
    return (*ctx.taint.reasons, *own)


def _trusted(host: str, ctx: ToolContext) -> bool:
    return any(fnmatchcase(host.lower(), one.lower()) for one in ctx.screen.trusted)


def _graver(question: Question, when: str, reasons: tuple[str, ...]) -> Question:
    why = "; ".join(reasons[:3])
    verdict = Verdict("ask", f"{when}: {why}")
    judged = question.judged.or_worse(verdict) if question.judged else verdict
    scopes = question.scopes or (question.scope,)
    return replace(
        question,
        asks=True,
        judged=judged if judged.decision == "deny" else verdict,
        scope=f"{question.scope} {when}",
        scopes=tuple(f"{scope} {when}" for scope in scopes),
        why=verdict.reason,
    )
