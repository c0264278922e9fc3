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
    its own, for each host where hosts are known, and where nobody can be asked it is denied.
    """
    private = _leak_reasons(tool, called, ctx)
    alarms = ctx.screen.alarms.reasons if _obeys(question, tool, called, ctx) else ()
    found = ((_AFTER, private), (_ALARMED, alarms))
    when = " and ".join(words for words, reasons in found if reasons)
    return _graver(question, called, when, (*alarms[:3], *private)) if when else question


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
        sends=tool.sends(args),
    )


def _leak_reasons(tool: Tool, called: Called, ctx: ToolContext) -> tuple[str, ...]:
    """Why private data may get out. What is shown to the owner gets into a notebook that is saved:
    there only what the call itself names counts.
    """
    shown = ctx.channel in tool.local
    if not shown and (not _leaves(tool, called, ctx) or _known(called, ctx.screen.trusted)):
        return ()
    named = named_private(ctx.screen.private, called)
    own = (f"it names {named!r}",) if named else ()
    if ctx.screen.mask(called.arguments) != called.arguments:
        own = (*own, "it holds something that looks like a key")
    return own if shown else (*ctx.taint.reasons, *own)


def _obeys(question: Question, tool: Tool, called: Called, ctx: ToolContext) -> bool:
    """Whether the call would do what a stranger may have ordered: run a program, or tell another
    machine something. The address of a page is enough to tell it.

    Known hosts are left out, but not for what is asked about anyway.
    """
    leaves = _leaves(tool, called, ctx)
    if tool.risk == "execute" or not leaves:
        return leaves or (tool.risk == "execute" and tool.asks)
    judged = question.judged
    plain = judged is None or judged.decision == "allow"
    return not (plain and _known(called, (*ctx.screen.trusted, *ctx.screen.reachable)))


def _leaves(tool: Tool, called: Called, ctx: ToolContext) -> bool:
    """Whether something may leave the machine with the call."""
    here = tool.offline() or ctx.channel in tool.local or not called.sends
    return tool.risk in ("execute", "network") and not here


def _known(called: Called, patterns: tuple[str, ...]) -> bool:
    """Whether the call reaches hosts, and none but these."""
    return bool(called.hosts) and all(
        any(fnmatchcase(host.lower(), one.lower()) for one in patterns) for host in called.hosts
    )


def _graver(question: Question, called: Called, when: str, reasons: tuple[str, ...]) -> Question:
    verdict = Verdict("ask", f"{when}: {'; '.join(reasons[:3])}")
    judged = question.judged.or_worse(verdict) if question.judged else verdict
    by_host = tuple(f"{called.tool}: {host}" for host in called.hosts)
    scopes = tuple(f"{one} {when}" for one in question.scopes or by_host or (question.scope,))
    return replace(
        question,
        asks=True,
        judged=judged if judged.decision == "deny" else verdict,
        scope=", ".join(scopes),
        scopes=scopes,
        why=verdict.reason,
    )
