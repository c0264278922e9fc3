"""``octo tools``, in real processes."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from tests.cli.octo import Done, Octo


def call(octo: Octo, name: str, args: object, *options: str) -> Done:
    return octo("tools", "call", name, json.dumps(args), *options)


def config(octo: Octo, tools: object) -> None:
    place = octo.workspace / ".octo"
    place.mkdir(parents=True, exist_ok=True)
    (place / "config.json").write_text(json.dumps({"version": 1, "tools": tools}))
    octo.trust()


def test_the_tools_are_listed_with_what_the_policy_says_of_them(octo: Octo) -> None:
    config(octo, {"deny": ["glob"], "rules": {"write_file": "ask"}})

    plain, listed = octo("tools", "list"), octo("tools", "list", "--json")

    rows = {line.split()[0]: line.split()[1:] for line in plain.out.splitlines()}
    assert (plain.code, listed.code) == (0, 0)
    assert rows["read_file"][0] == "allow"
    assert rows["write_file"][0] == "ask"
    assert rows["shell"][0] == "judge"
    assert rows["glob"] == ["-", "tools.deny", "names", "it"]
    found = {tool["name"]: tool for tool in listed.json["tools"]}
    assert set(found) == set(rows)
    assert found["write_file"]["reason"] == "the settings ask about it"


def test_one_tool_is_shown_with_what_it_takes(octo: Octo) -> None:
    plain, shown = octo("tools", "show", "grep"), octo("tools", "show", "grep", "--json")
    unknown = octo("tools", "show", "gerp")

    assert "group        fs" in plain.out.splitlines()
    assert (shown.json["name"], shown.json["risk"]) == ("grep", "read")
    assert "pattern" in shown.json["schema"]["properties"]
    assert (unknown.code, unknown.err.startswith("octo: No tool named 'gerp'")) == (2, True)


@pytest.mark.parametrize(
    ("name", "args", "decision"),
    [
        ("read_file", {"path": "x"}, "allow"),
        ("shell", {"command": "echo 'rm -rf /'"}, "allow"),
        ("shell", {"command": "rm -fr /"}, "deny"),
        ("shell", {"command": "git -c core.pager=x log"}, "ask"),
    ],
)
def test_a_dry_run_prints_the_decision_and_runs_nothing(
    octo: Octo, name: str, args: object, decision: str
) -> None:
    done = call(octo, name, args, "--dry-run")

    assert (done.code, done.err) == (0, "")
    assert (done.json["decision"], set(done.json)) == (decision, {"decision", "reason"})
    assert done.json["reason"]


def test_a_tool_runs_under_the_policy(octo: Octo) -> None:
    config(octo, {"rules": {"write_file": "ask", "glob": "deny"}})
    file = octo.workspace / "a.txt"
    args = {"path": "a.txt", "content": "hello\n"}

    asked = call(octo, "write_file", args)
    assert (asked.code, asked.out, file.exists()) == (1, "", False)
    assert asked.err == (
        "octo: 'write_file' would be asked about: the settings ask about it (allow it with --yes)\n"
    )
    assert call(octo, "write_file", args, "--yes").code == 0
    assert file.read_text() == "hello\n"
    read = call(octo, "read_file", {"path": "a.txt"}, "--json")
    assert (read.code, read.json["state"], read.json["decision"]) == (0, "ok", "allow")
    assert "hello" in read.json["text"]
    denied = call(octo, "glob", {"pattern": "*"}, "--yes")
    assert (denied.code, denied.out) == (1, "")
    assert "was denied: the settings deny it" in denied.err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nope"], 1, "No tool named 'nope'"),
        (["grep", "{"], 2, "The arguments are no JSON"),
        (["grep", "[]"], 2, "The arguments are no JSON object"),
        (["grep", "{}"], 1, "pattern is missing"),
        (["read_file", '{"path": "none.txt"}'], 1, ""),
    ],
)
def test_what_does_not_fit_is_said_in_a_line(
    octo: Octo, words: Sequence[str], code: int, said: str
) -> None:
    done = octo("tools", "call", *words)

    assert (done.code, said in done.err, len(done.err.splitlines()) <= 1) == (code, True, True)
