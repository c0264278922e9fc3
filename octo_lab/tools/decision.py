"""Decides whether a call may run: a pure function of the call, its origin, rules and grants."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from octo_lab.core.messages import ToolCall
from octo_lab.core.text import visible
from octo_lab.tools.policy import names_of
from octo_lab.tools.tool import Question, Tool
from octo_lab.tools.verdict import Ruling, Verdict, strictest


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRules:
    """What the owner decided beforehand, the nearer first: ``rules`` by name pattern or
    ``group:NAME``, ``risks`` by class of risk. ``hosts`` may be reached unasked (``*.org`` too).
    """

    rules: Mapping[str, Ruling] = field(default_factory=dict)
    risks: Mapping[str, Ruling] = field(default_factory=dict)
    hosts: tuple[str, ...] = ()


def question_of(tool: Tool, call: ToolCall, args: Any, workspace: Path) -> Question:
    """All that the policy needs to know of a call."""
    scopes = tuple(tool.scopes(args, workspace)) if tool.scopes else ()
    name = tool.own_name or tool.name
    parts = tuple(f"{name}: {scope}" for scope in scopes)
    return Question(
        call=call,
        scope=", ".join(parts) or name,
        detail=visible(tool.detail(args)),
        risk=tool.risk,
        tool=name,
        group=tool.group,
        scopes=parts,
        judged=tool.judge(args, workspace) if tool.judge else None,
        asks=tool.asks,
        hosts=tuple(tool.hosts(args)) if tool.hosts else (),
    )


def decide(question: Question, rules: ToolRules, granted: Collection[str]) -> Verdict:
    """The verdict on a call. ``deny`` wins; then what a person granted; then the owner's rules."""
    ruled, judged = _ruled(question, rules), question.judged
    for verdict in (ruled, judged):
        if verdict is not None and verdict.decision == "deny":
            return verdict
    if is_covered(question, granted):
        return Verdict("allow", f"{question.scope!r} is allowed here")
    if judged is not None and (judged.decision == "ask" or ruled is None):
        return judged
    return ruled or _by_default(question, rules)


def is_covered(question: Question, granted: Collection[str]) -> bool:
    """Whether grants cover the call: the whole tool, where its arguments are harmless, or each
    of its scopes.
    """
    doubtful = question.judged is not None and question.judged.decision == "ask"
    if _name(question) in granted and not doubtful:
        return True
    scopes = question.scopes or (question.scope,)
    return scopes != (_name(question),) and all(scope in granted for scope in scopes)


def _ruled(question: Question, rules: ToolRules) -> Verdict | None:
    """What the owner's settings say, if they say something: of the tool's very name, else the
    strictest pattern that fits, else of its risk.
    """
    name, risk = _name(question), question.risk
    fitting = [name] if name in rules.rules else _patterns(question, rules)
    if fitting:
        found = [_set(rules.rules[one]) for one in fitting]
        return strictest(found, found[0])
    return _set(rules.risks[risk]) if risk in rules.risks else None


def _set(ruling: Ruling) -> Verdict:
    about = " about" if ruling == "ask" else ""
    return Verdict(ruling, f"the settings {ruling}{about} it")


def _patterns(question: Question, rules: ToolRules) -> list[str]:
    names = names_of(_name(question), question.group)
    return [one for one in rules.rules if any(fnmatchcase(own, one) for own in names)]


def _by_default(question: Question, rules: ToolRules) -> Verdict:
    if not question.asks:
        return Verdict("allow", _FREE.get(question.risk, "it runs unasked"))
    if question.hosts and all(_fits(host, rules.hosts) for host in question.hosts):
        return Verdict("allow", f"{', '.join(question.hosts)} may be reached")
    return Verdict("ask", _ASKED.get(question.risk, "it is asked about"))


def _fits(host: str, patterns: Collection[str]) -> bool:
    return any(fnmatchcase(host.lower(), pattern.lower()) for pattern in patterns)


def _name(question: Question) -> str:
    return question.tool or question.call.name


_FREE = {
    "read": "it only looks",
    "write": "what it changes is shown and can be undone",
    "network": "it only gets",
}
_ASKED = {
    "read": "it looks at what is private",
    "write": "it changes files",
    "execute": "it runs a program",
    "network": "it reaches other machines",
}
