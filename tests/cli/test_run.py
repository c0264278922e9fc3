"""``octo run`` as a person uses it: a real process, a real model server, no gateway."""

from __future__ import annotations

import os
import pty
import shlex
import signal
import time

import pytest

from octo_lab.testing.llm_script import Call, call, calls, last_text, says
from octo_lab.testing.llm_server import LlmServer
from tests.cli.octo import STOPPED, Done, Octo, ended

ENDLESS = says(*(f"word{n} " for n in range(1000)), delay=0.05)


def test_the_answer_goes_to_stdout_and_nothing_else(octo: Octo, server: LlmServer) -> None:
    server.script(says("The ", "answer 🐙"))
    done = octo.with_model(server)("run", "What?")
    assert done == Done(code=0, out="The answer 🐙\n", err="")


def test_tools_are_reported_on_stderr(octo: Octo, server: LlmServer) -> None:
    server.script(calls(call("list_dir", path=".")), says("Empty."))
    octo.workspace.mkdir()
    (octo.workspace / "a.txt").touch()
    done = octo.with_model(server)("run", "-q", "look")
    assert (done.code, done.out, done.err) == (0, "Empty.\n", "")
    server.script(calls(call("list_dir", path=".")), says("Still."))
    done = octo.with_model(server)("run", "look")
    assert done.out == "Still.\n"
    assert '→ list_dir {"path": "."}' in done.err or "✓ list_dir" in done.err
    assert "✓ list_dir" in done.err


def test_python_is_not_offered_without_a_notebook(octo: Octo, server: LlmServer) -> None:
    octo.with_model(server)("run", "hi")
    offered = {tool["function"]["name"] for tool in server.requests[0].body["tools"]}
    assert "read_file" in offered
    assert "python" not in offered


def test_words_are_joined_and_a_dash_reads_stdin(octo: Octo, server: LlmServer) -> None:
    octo = octo.with_model(server)
    text = "it's {ok} #1? \\n\n€".encode()
    assert octo("run", "Say:", "-", stdin=text).code == 0
    assert octo("run", stdin=b"all of it").code == 0
    assert [last_text(received.body) for received in server.requests] == [
        "Say: it's {ok} #1? \\n\n€",
        "all of it",
    ]


def test_bytes_that_are_no_text_become_replacement_characters(
    octo: Octo, server: LlmServer
) -> None:
    assert octo.with_model(server)("run", "-", stdin=b"a\xff\xed\xa0\x80b").code == 0
    assert last_text(server.requests[0].body).startswith("a\ufffd")


def test_json_holds_the_whole_answer(octo: Octo, server: LlmServer) -> None:
    server.script(calls(call("list_dir", path=".")), says("Done."))
    done = octo.with_model(server)("run", "--json", "-m", "openai/gpt-x", "look")
    answer = done.json
    assert answer.pop("session").startswith("default:terminal:run-")
    assert len(answer.pop("turn_id")) == 36
    assert answer == {
        "text": "Done.",
        "state": "completed",
        "model": "openai/gpt-x",
        "usage": {
            "input_tokens": 20,
            "output_tokens": 10,
            "cached_tokens": 0,
            "written_tokens": 0,
            "reasoning_tokens": 0,
            "requests": 2,
            "cost": 0.0,
            "priced": 0,
        },
        "cost": None,
        "tools": [{"name": "list_dir", "arguments": '{"path": "."}', "state": "ok"}],
        "notices": [],
    }
    assert done.err == ""


@pytest.mark.parametrize("form", ["--json", "--no-stream"])
def test_what_would_be_asked_about_is_refused_with_the_line_that_allows_it(
    octo: Octo, server: LlmServer, form: str
) -> None:
    octo = octo.with_model(server)
    push = call("shell", command="git push  origin")
    server.script(calls(push), says("No."), calls(push), says("Done."))

    refused = octo("run", "--tools", "grep, shell", form, "go")
    told = refused.json["notices"][0] if form == "--json" else refused.err
    line = shlex.split(told.partition("`octo run ")[2].partition("` first")[0])
    allowed = octo("run", *line)
    again = octo("run", "--json", "-q", "go")

    assert line == ["/allow always shell: git push  origin"]
    assert allowed.code == 0
    assert [tool["state"] for tool in again.json["tools"]] == ["ok"]


def test_each_run_is_on_its_own_unless_a_session_is_named(octo: Octo, server: LlmServer) -> None:
    octo = octo.with_model(server)
    for args in (["one"], ["two"], ["-s", "trip", "three"], ["-s", "trip", "four"]):
        assert octo("run", *args).code == 0
    said = [
        [m["content"] for m in r.body["messages"] if m["role"] == "user"] for r in server.requests
    ]
    assert said == [["one"], ["two"], ["three"], ["three", "four"]]


def test_stream_prints_each_piece_as_it_comes(octo: Octo, server: LlmServer) -> None:
    server.script(says("first ", "second", delay=3.0))
    process = octo.with_model(server).start("run", "--stream", "hi")
    assert process.stdout is not None
    assert os.read(process.stdout.fileno(), 100) == b"first "
    assert ended(process).out == "second\n"


def test_a_terminal_gets_a_stream_without_its_control_characters(
    octo: Octo, server: LlmServer
) -> None:
    server.script(says("red \x1b[31mtext\x07 and\u009b2J more"))
    master, slave = pty.openpty()
    process = octo.with_model(server).start("run", "hi", stdout=slave)
    os.close(slave)
    assert ended(process).code == 0
    assert os.read(master, 1000) == b"red [31mtext and2J more\r\n"
    os.close(master)


def test_a_terminal_that_knows_only_ascii_gets_question_marks(
    octo: Octo, server: LlmServer
) -> None:
    server.script(says("ok 🐙"))
    octo = octo.with_model(server)
    done = Octo(folder=octo.folder, env={**octo.env, "PYTHONIOENCODING": "ascii"})("run", "hi")
    assert done == Done(code=0, out="ok ?\n", err="")


def test_a_closed_pipe_is_no_traceback(octo: Octo, server: LlmServer) -> None:
    server.script(ENDLESS)
    reading, writing = os.pipe()
    process = octo.with_model(server).start("run", "--stream", "hi", stdout=writing)
    os.close(writing)
    assert os.read(reading, 5)
    os.close(reading)
    assert ended(process) == Done(code=141, out="", err="")


@pytest.mark.parametrize(("signum", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_the_turn_keeps_what_came_and_closes_the_stream(
    octo: Octo, server: LlmServer, signum: signal.Signals, code: int
) -> None:
    server.script(ENDLESS)
    process = octo.with_model(server).start("run", "-s", "trip", "hi")
    assert server.wait_until(lambda: len(server.requests) == 1, 30)
    time.sleep(0.5)
    process.send_signal(signum)
    done = ended(process)
    assert done.code == code
    assert done.out.startswith("word0 word1 ")
    assert done.err == STOPPED
    assert server.wait_until(lambda: len(server.disconnects) == 1)
    octo.with_model(server)("run", "-s", "trip", "go on")
    kept = [m["content"] for m in server.requests[1].body["messages"] if m["role"] == "assistant"]
    assert kept[0].startswith("word0 word1 ")


def test_the_time_limit_stops_the_turn_and_says_so(octo: Octo, server: LlmServer) -> None:
    server.script(ENDLESS)
    done = octo.with_model(server)("run", "--timeout", "1.5", "hi")
    assert done.code == 124
    assert done.out.startswith("word0 ")
    assert done.err == "octo: No complete answer within 1.5 s (allow more with --timeout)\n"
    assert server.wait_until(lambda: len(server.disconnects) == 1)


def test_a_slash_command_works_as_in_every_chat(octo: Octo, server: LlmServer) -> None:
    done = octo.with_model(server)("run", "/help")
    assert done.code == 0
    assert "/new" in done.out
    assert server.requests == []


def test_without_a_model_the_offline_helper_answers_and_says_what_it_is(octo: Octo) -> None:
    octo.workspace.mkdir()
    (octo.workspace / "notes.txt").write_text("hello")
    done = octo("run", "list the files in this folder")
    assert done.code == 0
    assert "notes.txt" in done.out
    assert "offline" in done.err.lower()


def test_invalid_arguments_and_a_failing_tool_are_the_models_to_mend(
    octo: Octo, server: LlmServer
) -> None:
    server.script(
        calls(Call(name="read_file", arguments='{"path": ')),
        calls(call("read_file", path="nothing.txt")),
        says("There is no such file."),
    )
    done = octo.with_model(server)("run", "read it")
    assert (done.code, done.out) == (0, "There is no such file.\n")
    assert len([line for line in done.err.splitlines() if "✗ read_file error" in line]) == 2
    told = [m["content"] for m in server.requests[2].body["messages"] if m["role"] == "tool"]
    assert "JSON" in told[0]
    assert "nothing.txt" in told[1]


def test_fifty_megabytes_from_a_tool_reach_neither_model_nor_screen_whole(
    octo: Octo, server: LlmServer
) -> None:
    octo.workspace.mkdir()
    (octo.workspace / "big.txt").write_text("x" * 50_000_000)
    server.script(calls(call("read_file", path="big.txt")), says("Long."))
    done = octo.with_model(server)("run", "read it")
    assert (done.code, done.out) == (0, "Long.\n")
    assert len(done.err) < 1000
    assert len(str(server.requests[1].body)) < 200_000


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_turn_stopped_before_it_began_is_no_answer(
    octo: Octo, server: LlmServer, options: list[str]
) -> None:
    """Whether it had begun or not, the exit code says that time was over."""
    server.script(ENDLESS)
    done = octo.with_model(server)("run", *options, "--timeout", "0.001", "hi")
    assert done.code == 124
    assert done.err == "octo: No complete answer within 0.001 s (allow more with --timeout)\n"
    assert not options or done.json["state"] in {"failed", "cancelled"}
    assert options or done.out == ""
