from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from octo_lab.core.messages import ToolCall
from octo_lab.tools.builtin import write_file
from octo_lab.tools.decision import ToolRules, decide, question_of
from octo_lab.tools.tool import Question
from octo_lab.tools.verdict import Ruling, Verdict

FINE, DOUBT, NEVER = Verdict("allow", "fine"), Verdict("ask", "doubt"), Verdict("deny", "never")


def question(
    name: str = "shell",
    *,
    risk: str = "execute",
    asks: bool = True,
    judged: Verdict | None = None,
    scopes: tuple[str, ...] = (),
    hosts: tuple[str, ...] = (),
) -> Question:
    return Question(
        call=ToolCall(id="c", name=name, arguments="{}"),
        scope=", ".join(scopes) or name,
        detail="",
        risk=risk,
        tool=name,
        group="runtime",
        scopes=scopes,
        judged=judged,
        asks=asks,
        hosts=hosts,
    )


@pytest.mark.parametrize(
    ("asked", "rules", "granted", "decision"),
    [
        # By default: what asks is asked about, what the arguments mean decides.
        (question(), ToolRules(), (), "ask"),
        (question(asks=False, risk="read"), ToolRules(), (), "allow"),
        (question(judged=FINE), ToolRules(), (), "allow"),
        (question(judged=DOUBT), ToolRules(), (), "ask"),
        (question(judged=NEVER), ToolRules(), (), "deny"),
        # Rules: the very name, then the strictest pattern, then the risk.
        (question(), ToolRules(rules={"shell": "allow"}), (), "allow"),
        (question(), ToolRules(rules={"*": "deny", "shell": "allow"}), (), "allow"),
        (question(), ToolRules(rules={"sh*": "allow", "group:runtime": "deny"}), (), "deny"),
        (question(), ToolRules(rules={"s*": "ask"}, risks={"execute": "allow"}), (), "ask"),
        (question(), ToolRules(risks={"execute": "allow"}), (), "allow"),
        (question(), ToolRules(risks={"write": "allow"}), (), "ask"),
        (question("python"), ToolRules(rules={"group:runtime": "deny"}), (), "deny"),
        (question(asks=False, risk="write"), ToolRules(risks={"write": "ask"}), (), "ask"),
        # No rule lets through what is doubtful or never allowed.
        (question(judged=DOUBT), ToolRules(rules={"shell": "allow"}), (), "ask"),
        (question(judged=NEVER), ToolRules(rules={"shell": "allow"}), ("shell",), "deny"),
        (question(judged=FINE), ToolRules(rules={"shell": "ask"}), (), "ask"),
        (question(judged=FINE), ToolRules(rules={"shell": "deny"}), ("shell",), "deny"),
        # Grants: the whole tool where it is harmless, else every scope.
        (question(), ToolRules(), ("shell",), "allow"),
        (question(), ToolRules(), ("python",), "ask"),
        (question(judged=DOUBT), ToolRules(), ("shell",), "ask"),
        (question(judged=DOUBT, scopes=("a", "b")), ToolRules(), ("a",), "ask"),
        (question(judged=DOUBT, scopes=("a", "b")), ToolRules(), ("a", "b"), "allow"),
        (question(scopes=("a",)), ToolRules(rules={"shell": "ask"}), ("a",), "allow"),
        (question(scopes=("a",)), ToolRules(rules={"shell": "deny"}), ("a",), "deny"),
        # Hosts that may be reached.
        (question(hosts=("a.org",)), ToolRules(hosts=("*.org",)), (), "allow"),
        (question(hosts=("a.org", "b.com")), ToolRules(hosts=("*.org",)), (), "ask"),
        (question(hosts=()), ToolRules(hosts=("*",)), (), "ask"),
    ],
)
def test_deny_wins_then_grants_then_what_it_means_then_rules(
    asked: Question, rules: ToolRules, granted: tuple[str, ...], decision: Ruling
) -> None:
    assert decide(asked, rules, granted).decision == decision


def test_what_is_shown_to_who_is_asked_is_what_would_run() -> None:
    tool = replace(write_file.TOOL, detail=lambda args: "rm x #\u202e ok\x1b[1A")
    args = tool.parse({"path": "a", "content": ""})
    asked = question_of(tool, ToolCall(id="1", name="t", arguments="{}"), args, Path("/work"))

    assert asked.detail == "rm x #\\u202e ok\\x1b[1A"
