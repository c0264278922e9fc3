"""``octo task`` as a person uses it: a real process, a real model server."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
from pathlib import Path

from octo_lab.testing.llm_script import Turn, call, calls, last_text, says
from octo_lab.testing.llm_server import LlmServer
from tests.cli.octo import Octo, ended

ENDLESS = says(*(f"word{n} " for n in range(1000)), delay=0.05)


def write(path: str) -> Turn:
    return calls(call("write_file", path=path, content="x = 1\n"))


def allowed(octo: Octo, **more: object) -> None:
    """Writing is allowed unasked, for nobody can be asked."""
    folder = octo.folder / "home" / ".config" / "octo_lab"
    folder.mkdir(parents=True, exist_ok=True)
    settings = {"tools": {"risks": {"write": "allow"}}, **more}
    (folder / "config.json").write_text(json.dumps(settings))


def test_the_result_goes_to_stdout_and_how_it_goes_to_stderr(octo: Octo, server: LlmServer) -> None:
    octo.workspace.mkdir()
    server.script(calls(call("list_dir", path="."), text="I look."), says("It is ", "empty."))

    done = octo.with_model(server)("task", "Look around", "-f", "a.py")

    assert (done.code, done.out) == (0, "It is empty.\n")
    lines = [re.sub(r"\d+(\.\d+)?(ms|s)\b", "T", line) for line in done.err.splitlines()]
    assert lines.pop(0).startswith("· Its session is task-")
    assert [line for line in lines if not line.startswith("Tokens:")] == [
        "⟳ Thinking… (iteration 1)",
        "◆ I look.",
        "⚙ list_dir",
        "✓ list_dir (T)",
        "⟳ Thinking… (iteration 2)",
        "◆ It is empty.",
        "✓ Done (2 iterations, T)",
    ]
    assert last_text(server.requests[0].body) == "Look around\n\nFiles that matter: a.py"


def test_on_one_screen_an_answer_is_printed_once(octo: Octo, server: LlmServer) -> None:
    server.script(calls(call("list_dir", path="."), text="I look."), says("It is empty."))
    master, screen = pty.openpty()

    process = octo.with_model(server).start("task", "Look", stdout=screen, stderr=screen)
    os.close(screen)
    seen = b""
    while piece := _read(master):
        seen += piece
    os.close(master)

    assert ended(process).code == 0
    assert (seen.count(b"I look."), seen.count(b"It is empty.")) == (1, 1)


def _read(master: int) -> bytes:
    """Linux says so with an error when nobody can write to the screen any more."""
    try:
        return os.read(master, 4096)
    except OSError:
        return b""


def test_json_tells_the_files_and_the_tokens(octo: Octo, server: LlmServer) -> None:
    allowed(octo)
    server.script(write("a.py"), says("Written."))

    done = octo.with_model(server)("task", "--json", "-q", "Write it")

    told = done.json
    assert (done.code, done.err) == (0, "")
    assert [
        told[name] for name in ("success", "output", "files_modified", "subtasks", "error")
    ] == [
        True,
        "Written.",
        ["a.py"],
        [],
        "",
    ]
    assert told["token_usage"]["input_tokens"] > 0
    assert len(told["task_id"]) == 36


def test_what_a_task_changed_can_be_taken_back_in_its_session(
    octo: Octo, server: LlmServer
) -> None:
    allowed(octo)
    octo = octo.with_model(server)
    server.script(write("a.py"), says("Written."))
    done = octo("task", "Write it")
    assert "📝 a.py" in done.err
    session = done.err.splitlines()[0].removeprefix("· Its session is ")

    assert octo("run", "-s", session, "/undo").code == 0

    assert not (octo.workspace / "a.py").exists()


def test_each_kind_asks_in_its_own_words_and_a_command_is_none(
    octo: Octo, server: LlmServer
) -> None:
    octo = octo.with_model(server)

    assert octo("task", "--kind", "plan", "stop").code == 0
    assert octo("task", "--kind", "test", "/undo").code == 0

    assert [last_text(request.body) for request in server.requests] == [
        "Make a plan for this goal, as a numbered list of steps:\n\nstop",
        "Run this and report what fails and why:\n\n/undo",
    ]


def test_a_task_that_cannot_be_done_ends_with_1_and_its_reason(
    octo: Octo, server: LlmServer
) -> None:
    server.script(says(""), says(""), says(""), says(""), says(""))

    done = octo.with_model(server)("task", "-q", "Say something")

    assert (done.code, done.out) == (1, "")
    assert done.err == "octo: Not done: The model gave an empty answer.\n"


def test_ctrl_c_ends_a_task_with_what_it_has(octo: Octo, server: LlmServer) -> None:
    server.script(ENDLESS)
    process = octo.with_model(server).start("task", "--json", "Talk")
    assert server.wait_until(lambda: len(server.requests) == 1)
    process.send_signal(signal.SIGINT)

    done = ended(process)

    assert done.code == 130
    assert "octo: Stopped before the task was done" in done.err
    assert (done.json["success"], done.json["error"]) == (False, "Stopped before it was done")


def test_a_task_out_of_time_says_so(octo: Octo, server: LlmServer) -> None:
    server.script(ENDLESS)

    done = octo.with_model(server)("task", "-q", "--timeout", "1", "Talk")

    assert done.code == 124
    assert "not done within 1 s" in done.err
    assert Path(octo.data / "octo_lab.db").exists()


def test_a_terminal_asks_a_model_20_times_where_the_settings_do_not_say(
    octo: Octo, server: LlmServer
) -> None:
    octo = octo.with_model(server)
    server.script(*[calls(call("list_dir", path=f"d{n}")) for n in range(60)])
    assert octo("task", "-q", "Go round").err.startswith(
        "octo: Not done: Stopped at the limit of 20"
    )
    allowed(octo, limits={"iterations": 23})
    assert octo("run", "-q", "Go round").code == 0

    assert len(server.requests) == 20 + 23
