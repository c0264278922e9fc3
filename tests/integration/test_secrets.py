"""A secret is planted wherever text comes from, and searched byte for byte wherever it goes."""

from __future__ import annotations

import json
import signal
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx
import pytest

from octo_lab.security.spellings import spellings
from octo_lab.testing.llm_script import Turn, call, calls, fails, says
from octo_lab.testing.llm_server import LlmServer
from tests.cli.octo import OCTO, Octo
from tests.gateway.running import gateway
from tests.notebook.kernels import Kernel, kernel, with_model

pytestmark = [pytest.mark.kernel, pytest.mark.timeout(240)]

SECRET = 'hunter2/"correct horse"+battery'
SAMPLE = "sk-ant-api03-0123456789abcdefghij"
FORMS = sorted(spellings(SECRET))
TOOLS = "-t python -t list_variables -t inspect -t read_file -t write_file"
CONFIG = {
    "version": 1,
    "session": {"compact": False},
    "tools": {"python": "allow", "rules": {"write_file": "allow"}},
}


@pytest.fixture
def no_blocking_calls() -> None:
    """Not here: what is under test runs in other processes."""


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer() as started:
        yield started


@pytest.fixture
def octo(server: LlmServer, tmp_path: Path) -> Iterator[Kernel]:
    config = tmp_path / "octo_lab" / "config.json"
    config.parent.mkdir()
    config.write_text(json.dumps(CONFIG))
    (tmp_path / "notes.txt").write_text(f"the token is {SECRET}\nand {SAMPLE}\n")
    with kernel(tmp_path, with_model(server, DEMO_TOKEN=SECRET)) as running:
        yield running


def leaks(data: bytes, secrets: Sequence[str] = (*FORMS, SAMPLE)) -> list[str]:
    """The spellings that stand there, as they are or in JSON."""
    told = [(each, json.dumps(each)[1:-1]) for each in secrets]
    return [each for each, escaped in told if each.encode() in data or escaped.encode() in data]


def sent_to(server: LlmServer) -> bytes:
    requests = [json.dumps(each.body, ensure_ascii=False) for each in server.requests]
    assert requests
    return "\n".join(requests).encode()


def stored_by(data: Path) -> bytes:
    """All rows but for the person's own words."""
    with sqlite3.connect(data / "octo_lab.db") as db:
        db.row_factory = sqlite3.Row
        names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type='table'")]
        rows = [(name, dict(row)) for name in names for row in db.execute(f"SELECT * FROM {name}")]
    db.close()
    for name, row in rows:
        if name == "turns":
            row["prompt"] = ""
        if row.get("role") == "user":
            row["content"] = ""
    assert len(rows) > 5
    return "\n".join(f"{name} {row!r}" for name, row in rows).encode()


def in_pieces(text: str, size: int) -> Turn:
    return says(*(text[at : at + size] for at in range(0, len(text), size)))


def yes(question: str) -> str:
    assert leaks(question.encode()) == []
    return "y"


def log_of(data: Path) -> bytes:
    return (data / "octo_lab.log").read_bytes()


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_secret_that_the_model_says_is_shown_and_kept_nowhere(
    octo: Kernel, server: LlmServer, tmp_path: Path, size: int
) -> None:
    answer = "```json\n" + json.dumps({"of": "all", "forms": [*FORMS, SAMPLE]}) + "\n```\nDone."
    server.script(in_pieces(answer, size))

    shown = octo.run("turn = %octo say it")
    again = octo.run("print(turn.text)\n%octo and now?")

    saved = json.dumps([*shown.outputs, *again.outputs], default=str, ensure_ascii=False)
    assert leaks(saved.encode()) == []
    assert leaks(sent_to(server)) == []
    assert leaks(stored_by(tmp_path / "data")) == []
    assert leaks(log_of(tmp_path / "data")) == []
    code = again.printed.split("```json\n")[1].split("\n```")[0]
    assert json.loads(code)["of"] == "all"
    assert again.printed.rstrip().endswith("```\nDone.")
    assert "was hidden here as `***`" in shown.everything


def test_a_secret_of_the_environment_a_variable_a_file_and_the_person_reaches_no_model(
    octo: Kernel, server: LlmServer, tmp_path: Path
) -> None:
    octo.run(f"import os\nkey = os.environ['DEMO_TOKEN']\nother = {SAMPLE!r}\nbox = {{'k': key}}")
    server.script(
        calls(call("python", code="import base64\nprint(key, other)\nkey")),
        calls(call("python", code="print(repr(key), base64.b64encode(key.encode()))\n1 / 0")),
        calls(call("python", code="raise ValueError(key, other)")),
        calls(call("list_variables"), call("inspect", name="box", id="call_2")),
        calls(call("read_file", path="notes.txt")),
        calls(call("python", code=f"said = {SECRET!r}\nsaid == key")),
        calls(call("write_file", path="new.txt", content=f"{SECRET}\n{SAMPLE}\n")),
        says("done"),
    )

    shown = octo.run(
        f"%octo {TOOLS} use {{{{ key }}}} and @box and @notes.txt, not {SAMPLE}", answer=yes
    )
    octo.run("%octo and now?")

    saved = json.dumps(shown.outputs, default=str, ensure_ascii=False).encode()
    assert leaks(saved) == []
    assert leaks(sent_to(server)) == []
    assert leaks(log_of(tmp_path / "data")) == []
    assert server.refused == []
    written = (tmp_path / "new.txt").read_text()
    assert written == f"{SECRET}\n{SAMPLE}\n"
    results = [m["content"] for m in server.requests[-1].body["messages"] if m["role"] == "tool"]
    assert "True" in results[6]
    assert "was hidden here as `***`" in shown.everything


def test_a_command_prints_no_secret_and_a_gateway_sends_none(
    server: LlmServer, tmp_path: Path
) -> None:
    octo = Octo(folder=tmp_path, env={"DEMO_TOKEN": SECRET}).with_model(server)
    octo.workspace.mkdir()
    (octo.workspace / "notes.txt").write_text(f"{SECRET} {SAMPLE}")
    watch_with_hooks(octo)
    answer = f"it is {SECRET} and {SAMPLE}"
    read = calls(call("read_file", path="notes.txt"))
    for args in (["run"], ["run", "--json"]):
        server.script(read, in_pieces(answer, 3))
        done = octo(*args, f"is it {SECRET}?")
        assert leaks(done.out.encode() + done.err.encode()) == []
        assert "***" in done.out
    for args in (["run", f"/new {SECRET}"], ["run", "-s", SECRET, "hi"], ["sessions", "--all"]):
        named = octo(*args)
        assert named.code == 0
        assert leaks(named.out.encode() + named.err.encode()) == []
    assert named.out.count("***") > 1
    server.script(fails(400, f"the key {SECRET} and {SAMPLE} are bad"))
    failed = octo("run", "hi")
    assert failed.code
    assert leaks(failed.err.encode()) == []
    assert "***" in failed.err

    seen = tmp_path / "seen.jsonl"
    server.script(calls(call("shell", command=f"printf %s '{SECRET}' > got.txt")), says("done"))
    assert octo("run", "write it").code == 0
    assert (octo.workspace / "got.txt").read_text() == SECRET
    assert seen.read_text().count("got.txt") == 2
    assert leaks(seen.read_bytes()) == []

    with gateway(octo, [*OCTO, "gateway"]) as running:
        server.script(read, in_pieces(answer, 3))
        frames = asked_over_http(running.endpoint.authority, running.endpoint.token, answer)
        running.stop(signal.SIGTERM)
    assert leaks(frames) == []
    assert b"***" in frames
    assert leaks(sent_to(server)) == []
    assert leaks(stored_by(octo.data)) == []
    assert leaks(log_of(octo.data)) == []


def watch_with_hooks(octo: Octo) -> None:
    """What hooks are told of tools goes into a file."""
    command = ["sh", "-c", f"cat >> '{octo.folder}/seen.jsonl'"]
    events = ("before_tool_call", "after_tool_call")
    hooks = [{"event": event, "command": command} for event in events]
    config = octo.workspace / ".octo" / "config.json"
    config.parent.mkdir()
    config.write_text(json.dumps({"hooks": hooks}))
    octo.trust()


def asked_over_http(authority: str, token: str, text: str) -> bytes:
    reply = httpx.post(
        f"http://{authority}/api/chat",
        headers={"Authorization": f"Bearer {token}"},
        json={"message": text},
        timeout=30,
    )
    assert reply.status_code == 200
    return reply.content
