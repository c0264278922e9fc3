"""``octo tools``, in real processes."""

from __future__ import annotations

import json
import os
import pty
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.octo import Done, Octo, ended


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

    lines = plain.out.splitlines()
    assert "group        fs" in lines
    assert "decision     allow: runs unasked (it only looks)" in lines
    assert (shown.json["name"], shown.json["risk"]) == ("grep", "read")
    assert "pattern" in shown.json["schema"]["properties"]
    assert (unknown.code, unknown.err) == (2, "octo: No tool named 'gerp' (did you mean 'grep'?)\n")


KEYED = {"url": "https://example.org/?k=sk-abcdefghijklmnop1234567890"}
READ, WRITE, SITE = {"path": "x"}, {"path": "x", "content": ""}, {"url": "https://example.org"}


@pytest.mark.parametrize(
    ("settings", "name", "args", "decision", "reason"),
    [
        ({}, "read_file", READ, "allow", "it only looks"),
        ({}, "write_file", WRITE, "allow", "what it changes is shown and can be undone"),
        ({}, "http_request", SITE, "ask", "it reaches other machines"),
        ({"allow": ["*"], "deny": ["read_*"]}, "read_file", READ, "deny", "tools.deny names it"),
        ({"allow": ["grep"]}, "read_file", READ, "deny", "tools.allow does not name it"),
        (
            {"rules": {"*": "allow", "read_*": "deny"}},
            "read_file",
            READ,
            "deny",
            "the settings deny it",
        ),
        ({"rules": {"group:fs": "ask"}}, "read_file", READ, "ask", "the settings ask about it"),
        (
            {"rules": {"group:fs": "deny", "read_file": "allow"}},
            "read_file",
            READ,
            "allow",
            "the settings allow it",
        ),
        ({"rules": {"web_*": "deny"}}, "web_fetch", SITE, "deny", "the settings deny it"),
        (
            {"channels": {"terminal": {"origin": "stranger"}}},
            "read_file",
            READ,
            "deny",
            "a stranger may not use it",
        ),
        (
            {"channels": {"terminal": {"deny": ["read_*"]}}},
            "read_file",
            READ,
            "deny",
            "tools.channels.terminal.deny names it",
        ),
        ({"risks": {"write": "ask"}}, "write_file", WRITE, "ask", "the settings ask about it"),
        ({"risks": {"network": "deny"}}, "web_fetch", SITE, "deny", "the settings deny it"),
        ({"hosts": ["*.org"]}, "http_request", SITE, "allow", "example.org may be reached"),
        (
            {"hosts": ["*.org"]},
            "http_request",
            {**SITE, "method": "POST"},
            "ask",
            "it sends a POST request",
        ),
        (
            {"rules": {"web_fetch": "allow"}},
            "web_fetch",
            KEYED,
            "ask",
            "after private data was read: it holds something that looks like a key",
        ),
        ({"rules": {"web_fetch": "deny"}}, "web_fetch", KEYED, "deny", "the settings deny it"),
        (
            {},
            "shell",
            {"command": "echo 'rm -rf /'"},
            "allow",
            "nothing in it is known to do harm",
        ),
        (
            {"rules": {"shell": "allow"}},
            "shell",
            {"command": "rm -fr /"},
            "deny",
            "'rm -fr /' removes the whole file system",
        ),
        (
            {"risks": {"execute": "allow"}},
            "shell",
            {"command": "git push --force"},
            "ask",
            "'git push --force' overwrites or removes what others may have",
        ),
        ({}, "git", {"action": "log"}, "allow", "git log only looks"),
        ({}, "git", {"action": "commit"}, "ask", "git commit changes the repository"),
    ],
)
def test_a_dry_run_prints_the_decision_and_runs_nothing(
    octo: Octo, settings: dict[str, object], name: str, args: object, decision: str, reason: str
) -> None:
    if settings:
        config(octo, settings)

    done = call(octo, name, args, "--dry-run", "--yes")

    assert (done.code, done.err) == (0, "")
    assert done.json == {"decision": decision, "reason": reason}
    assert not (octo.workspace / "x").exists()


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
        (["gerp", "{}", "--dry-run"], 1, "No tool named 'gerp' (did you mean 'grep'?)"),
        (["grep", "{"], 2, "The arguments are no JSON"),
        (["grep", "[]"], 2, "The arguments are no JSON object"),
        (["grep", "[" * 100_000], 2, "The arguments are no JSON"),
        (["grep", "-"], 2, "The arguments are no JSON"),
        (["grep", "{}"], 1, "pattern is missing"),
        (["read_file", '{"path": "none.txt"}'], 1, ""),
    ],
)
def test_what_does_not_fit_is_said_in_a_line(
    octo: Octo, words: Sequence[str], code: int, said: str
) -> None:
    done = octo("tools", "call", *words, stdin=b"no")

    assert (done.code, said in done.err, len(done.err.splitlines()) <= 1) == (code, True, True)


DIFF = """  --- a/a.txt
  +++ b/a.txt
  @@ -1 +1 @@
  -one
  +two
· take it back with: octo tools undo
"""


def test_what_a_tool_changes_is_shown_and_can_be_taken_back(octo: Octo) -> None:
    octo.workspace.mkdir()
    file = octo.workspace / "a.txt"
    file.write_text("one\n")

    done = call(octo, "edit_file", {"path": "a.txt", "old_string": "one", "new_string": "two"})
    assert (done.out, done.err) == ("Edited 'a.txt' at line 1.\n", DIFF)
    assert octo("tools", "undo").out == "Taken back:\n- restored 'a.txt'\n"
    assert file.read_text() == "one\n"
    assert octo("tools", "redo").code == 0
    file.write_text("mine\n")
    refused = octo("tools", "undo")
    assert (refused.code, refused.err) == (
        1,
        "octo: Nothing was changed: 'a.txt' was changed since "
        "(`octo tools undo force` overwrites what is there now)\n",
    )
    assert octo("tools", "undo", "force").code == 0
    assert file.read_text() == "one\n"


def test_several_calls_are_taken_back_at_once_and_a_shell_is_named(octo: Octo) -> None:
    for number in range(2):
        call(octo, "write_file", {"path": f"{number}.txt", "content": ""})
    call(octo, "shell", {"command": "true"})

    assert octo("tools", "undo", "2").out == (
        "Taken back:\n- removed '1.txt'\n- removed '0.txt'\n\n"
        "What these changed cannot be undone: `shell: true`\n"
    )


def test_without_a_call_nothing_is_taken_back(octo: Octo) -> None:
    nothing = "octo: No tool that was called here changed a file\n"
    never = octo("tools", "undo")
    call(octo, "write_file", {"path": "a", "content": ""})
    octo("tools", "undo")
    again, redone = octo("tools", "undo"), [octo("tools", "redo") for _ in range(2)]

    assert [(one.code, one.err) for one in (never, again)] == [(1, nothing), (1, nothing)]
    assert [(one.code, one.err) for one in redone] == [
        (0, ""),
        (1, "octo: Nothing was taken back here\n"),
    ]
    odd = octo("tools", "undo", "x")
    assert odd.err == "octo: 'x' is no number of turns (for example `octo tools undo 2`)\n"


def test_the_owners_hooks_run_as_for_the_agent(octo: Octo) -> None:
    place = octo.workspace / ".octo"
    place.mkdir(parents=True)
    log, no = octo.folder / "log", {"event": "before_tool_call", "tool_filter": ["glob"]}
    hooks = [
        {**no, "command": ["sh", "-c", "echo not today; exit 1"]},
        {"event": "after_tool_call", "command": ["sh", "-c", f"cat >> {log}"]},
    ]
    (place / "config.json").write_text(json.dumps({"version": 1, "hooks": hooks}))
    octo.trust()

    denied, done = call(octo, "glob", {"pattern": "*"}), call(octo, "grep", {"pattern": "x"})
    dry = call(octo, "glob", {"pattern": "*"}, "--dry-run")

    assert (denied.code, denied.err) == (
        1,
        "octo: 'glob' was denied: A hook denied 'glob': not today\n",
    )
    assert (done.code, dry.json["decision"]) == (0, "allow")
    told = [json.loads(line) for line in log.read_text().replace("}{", "}\n{").splitlines()]
    assert [(one["tool_name"], one["success"]) for one in told] == [("glob", False), ("grep", True)]


def test_large_arguments_come_on_stdin(octo: Octo) -> None:
    content = "žluť\n" * 100_000
    sent = json.dumps({"path": "big.txt", "content": content}, ensure_ascii=False).encode()

    done = octo("tools", "call", "write_file", "-", "--json", stdin=sent)

    assert (done.code, done.json["state"]) == (0, "ok")
    assert (octo.workspace / "big.txt").read_text() == content
    assert octo("tools", "call", "write_file", "-", stdin=b" " * 4_000_001).code == 2


def test_pictures_of_a_result_are_kept_where_one_says(octo: Octo) -> None:
    octo.workspace.mkdir()
    data = b"\x89PNG\r\n\x1a\n" + bytes(50)
    (octo.workspace / "p.png").write_bytes(data)
    out, args = octo.folder / "out", {"path": "p.png"}
    out.mkdir()

    plain = call(octo, "read_file", args)
    kept = [call(octo, "read_file", args, "--json", "--out", str(out)) for _ in range(2)]
    named = call(octo, "read_file", args, "--out", str(octo.folder / "x.png"))

    assert plain.out.splitlines()[-1] == "[image/png, keep it with --out PATH]"
    assert [one.json["media"] for one in kept] == [
        [{"mime": "image/png", "name": "p.png", "size": 58, "path": str(out / name)}]
        for name in ("p.png", "p-2.png")
    ]
    assert named.out.splitlines()[-1] == f"[image/png, in '{octo.folder / 'x.png'}']"
    for path in (out / "p.png", out / "p-2.png", octo.folder / "x.png"):
        assert path.read_bytes() == data


def test_what_a_long_tool_says_is_seen_meanwhile(octo: Octo) -> None:
    master, terminal = pty.openpty()
    waits = "echo one; while [ ! -e go ]; do sleep 0.05; done; echo two"
    args = json.dumps({"command": waits})
    process = octo.start("tools", "call", "shell", args, stderr=terminal)
    os.close(terminal)
    seen = b""
    while b"one" not in seen:
        seen += os.read(master, 1000)

    (octo.workspace / "go").touch()
    done = ended(process)

    os.close(master)
    assert (done.code, done.out) == (0, "one\ntwo\n[exit code 0]\n")


def test_ctrl_c_ends_the_tool_and_all_that_it_started(octo: Octo) -> None:
    sleep = f"sleep 86{os.getpid()}.5"
    args = json.dumps({"command": f"setsid {sleep} & touch ready; {sleep}"})
    process = octo.start("tools", "call", "shell", args)
    while not (octo.workspace / "ready").exists():
        assert process.poll() is None
    assert running(sleep)

    process.send_signal(signal.SIGINT)
    done = ended(process)

    assert (done.code, done.err.splitlines()[-1]) == (130, "octo: Stopped")
    assert not running(sleep)


def running(command: str) -> list[str]:
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found.append(place.read_bytes().replace(b"\0", b" ").decode(errors="replace").strip())
    return [line for line in found if line == command]
