"""Each mistake is one clear line with the next step: no traceback, no key."""

from __future__ import annotations

import os
import socket
import sqlite3
from pathlib import Path

import pytest

from octo_lab.testing.llm_script import Turn, fails, says
from octo_lab.testing.llm_server import LlmServer
from tests.cli.octo import KEY, Done, Octo


def check(done: Done, *, code: int, says: str, out: str = "") -> None:
    assert (done.code, done.out) == (code, out), done
    lines = [line for line in done.err.splitlines() if not line.startswith("·")]
    assert len(lines) == 1, done.err
    assert lines[0].startswith("octo: ")
    assert says in lines[0]
    assert "(" in lines[0], "no next step"
    assert KEY not in done.err


@pytest.mark.parametrize("prompt", ["", "   ", "\n\t"])
def test_an_empty_prompt(octo: Octo, prompt: str) -> None:
    check(octo("run", prompt), code=2, says="The prompt is empty")
    check(octo("run", "-", stdin=prompt.encode()), code=2, says="The prompt is empty")


def test_an_unknown_provider(octo: Octo) -> None:
    check(octo("run", "-m", "opena/x", "hi"), code=1, says="'opena'")


def test_an_unknown_model(octo: Octo) -> None:
    with LlmServer(models=["good"]) as server:
        done = octo.with_model(server)("run", "-m", "openai/bad", "hi")
    check(done, code=1, says="bad")


def test_a_missing_key(octo: Octo) -> None:
    check(octo("run", "-m", "openai/gpt-x", "hi"), code=1, says="OPENAI_API_KEY")


def test_a_server_that_is_down(octo: Octo) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    env = {"OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1", "OPENAI_API_KEY": KEY}
    done = Octo(folder=octo.folder, env=env)("run", "-m", "openai/x", "hi")
    check(done, code=1, says=str(port))


@pytest.mark.parametrize(
    ("turn", "says"),
    [
        (fails(401, f"Incorrect API key provided: {KEY}"), "key"),
        (fails(404, "The model 'm' does not exist", code="model_not_found"), "m"),
        (fails(429, "Rate limit reached", headers={"retry-after": "0"}), "Rate limit"),
        (fails(500, "The server had an error", headers={"retry-after": "0"}), "The server had"),
    ],
    ids=["401", "404", "429", "500"],
)
def test_an_error_of_the_server(octo: Octo, turn: Turn, says: str) -> None:
    with LlmServer(then=turn) as server:
        done = octo.with_model(server)("run", "hi", timeout=100)
    check(done, code=1, says=says)


def test_a_stream_that_is_cut_keeps_what_did_arrive(octo: Octo, server: LlmServer) -> None:
    server.script(Turn(text=["half an ", "answer"], done=False, finish="", usage=None))
    check(octo.with_model(server)("run", "hi"), code=1, says="", out="half an answer\n")


def test_a_corrupt_database_is_kept_as_it_is(octo: Octo, server: LlmServer) -> None:
    octo.data.mkdir()
    file = octo.data / "octo_lab.db"
    file.write_bytes(b"this is no database" * 500)
    check(octo.with_model(server)("run", "hi"), code=1, says=str(file))
    assert file.read_bytes() == b"this is no database" * 500


def test_a_database_of_a_newer_version(octo: Octo, server: LlmServer) -> None:
    assert octo.with_model(server)("run", "hi").code == 0
    file = octo.data / "octo_lab.db"
    with sqlite3.connect(file) as db:
        db.execute("UPDATE alembic_version SET version_num = '9999'")
    db.close()
    check(octo.with_model(server)("run", "hi"), code=1, says=str(file))


def test_a_data_folder_that_cannot_be_made(octo: Octo, server: LlmServer) -> None:
    (octo.folder / "file").touch()
    env = {**octo.with_model(server).env, "OCTO_HOME": str(octo.folder / "file" / "data")}
    check(Octo(folder=octo.folder, env=env)("run", "hi"), code=1, says="file/data")


def test_an_unwritable_data_folder(octo: Octo, server: LlmServer) -> None:
    octo.data.mkdir(mode=0o500)
    powerless = ("setpriv", "--inh-caps=-all", "--bounding-set=-all")  # root may write anywhere
    env = octo.with_model(server).env
    plain = Octo(folder=octo.folder, env=env, before=powerless if os.geteuid() == 0 else ())
    check(plain("run", "hi"), code=1, says=str(octo.data))


def test_a_wrong_setting_names_file_and_key(octo: Octo) -> None:
    folder = octo.workspace / ".octo"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text('{"limits": {"secnds": 1}}')
    check(octo("run", "hi"), code=1, says="secnds")


def test_an_unknown_option(octo: Octo) -> None:
    done = octo("run", "--modle", "x", "hi")
    assert done.code == 2
    assert "--model" in done.err
    assert "Traceback" not in done.err


def test_chat_needs_a_terminal(octo: Octo) -> None:
    check(octo("chat"), code=2, says="octo chat needs a terminal")


def test_a_gateway_for_strangers_needs_a_token(octo: Octo) -> None:
    check(octo("gateway", "--host", "0.0.0.0"), code=1, says="OCTO_GATEWAY_TOKEN")


def test_a_config_file_that_is_not_there(octo: Octo) -> None:
    check(octo("gateway", "--config", "no.json"), code=1, says="no.json")


def test_a_kernel_that_is_not_there(octo: Octo) -> None:
    check(octo("gateway", "--kernel", "octopus"), code=1, says="octo kernel install")


def in_shell(octo: Octo, script: str) -> Done:
    """``script`` with the command as ``"$@"``; what a person's shell does to its streams."""
    shell = Octo(folder=octo.folder, env=octo.env, before=("sh", "-c", script, "sh"))
    return shell("run", "--stream", "hi")


@pytest.mark.parametrize("stream", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_a_standard_stream_that_is_closed(octo: Octo, server: LlmServer, stream: str) -> None:
    server.script(says("hello"))
    done = in_shell(octo.with_model(server), f'"$@" {stream}')
    assert done == Done(code=0, out="" if "1>" in stream else "hello\n", err="")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_an_output_without_room(octo: Octo, server: LlmServer) -> None:
    server.script(says("hello"))
    done = in_shell(octo.with_model(server), '"$@" >/dev/full')
    check(done, code=1, says="Cannot write the output")


def test_nobody_reads_a_streamed_answer(octo: Octo, server: LlmServer) -> None:
    server.script(says(*"abcdef", delay=0.1))
    done = in_shell(octo.with_model(server), '{ "$@"; echo "code $?" >&2; } | true')
    assert done == Done(code=0, out="", err="code 141\n")


@pytest.mark.parametrize("command", ["run", "init", "status", "gateway"])
def test_a_folder_that_was_removed(octo: Octo, command: str) -> None:
    octo.workspace.mkdir()
    gone = octo.workspace / "gone"
    gone.mkdir()
    script = f'cd "{gone}" && rmdir "{gone}" && "$@"'
    shell = Octo(folder=octo.folder, env=octo.env, before=("sh", "-c", script, "sh"))
    done = shell(command, *(["hi"] if command == "run" else []))
    check(done, code=1, says="The current folder cannot be used")
