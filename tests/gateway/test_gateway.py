"""The gateway's notebook under papermill, talked to from other processes."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from octo_lab.testing.llm_script import call, calls, says
from octo_lab.testing.llm_server import LlmServer
from octo_lab.web.endpoint import FILE_NAME
from tests.cli.octo import OCTO, STOPPED, Done, Octo, ended
from tests.gateway.running import Running, gateway, output, papermill_command

pytestmark = pytest.mark.kernel

ENDLESS = says(*(f"word{n} " for n in range(2000)), delay=0.05)


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer() as server:
        yield server


@pytest.fixture
def octo(tmp_path: Path, server: LlmServer) -> Octo:
    return Octo(folder=tmp_path).with_model(server)


@pytest.fixture
def running(octo: Octo) -> Iterator[Running]:
    with gateway(octo, papermill_command(octo, "-p", "port", "0")) as running:
        yield running


def stored(octo: Octo) -> list[tuple[str, str]]:
    """State and prompt of each stored turn, oldest first."""
    with sqlite3.connect(octo.data / "octo_lab.db") as db:
        rows = db.execute("SELECT state, prompt FROM turns ORDER BY id").fetchall()
    db.close()
    return rows


def test_octo_run_is_answered_by_the_gateway_and_sigterm_ends_it_in_order(
    running: Running, server: LlmServer
) -> None:
    octo = running.octo
    server.script(calls(call("list_dir", path=".")), says("All ", "done."))
    first = octo("run", "-s", "trip", "look")
    assert (first.code, first.out) == (0, "All done.\n")
    assert "✓ list_dir" in first.err
    status = octo("status", "--json").json
    assert status["answered_by"].endswith(f"(process {running.endpoint.pid})")
    assert status["channels"] == ["web"]
    assert "python" not in status["tools"]
    assert octo("run", "-m", "openai/m", "again").out == "echo: again\n"

    done = running.stop(signal.SIGTERM)
    assert (done.code, "Traceback" in done.err) == (0, False)
    shown = running.shown()
    assert "octo_lab gateway, stopped" in shown
    assert "messages     2" in shown
    assert "turns        2" in shown
    assert "tokens       30 in, 15 out" in shown
    assert "errors       0" in shown
    assert not (octo.data / FILE_NAME).exists()
    assert stored(octo) == [("completed", "look"), ("completed", "again")]


def test_http_is_answered_by_the_same_sessions(running: Running, server: LlmServer) -> None:
    url = f"http://{running.endpoint.authority}"
    asked = {"message": "one", "options": {"session": "shared"}}
    assert httpx.get(f"{url}/health").json() == {"status": "ok"}
    assert httpx.post(f"{url}/api/chat", json=asked).status_code == 401
    headers = {"Authorization": f"Bearer {running.endpoint.token}"}
    answer = httpx.post(f"{url}/api/chat", json=asked, headers=headers)
    assert (answer.status_code, answer.json()["text"]) == (200, "echo: one")
    assert httpx.get(f"{url}/api/status", headers=headers).json()["kind"] == "status"
    assert running.octo("run", "-s", "shared", "two").out == "echo: two\n"
    said = [m["content"] for m in server.requests[1].body["messages"] if m["role"] != "system"]
    assert said == ["one", "echo: one", "two"]


def test_a_second_gateway_is_told_who_owns_the_folder(running: Running) -> None:
    done = running.octo("gateway")
    assert done.code == 1
    assert f"in process {running.endpoint.pid}" in done.err
    assert "octo run" in done.err
    assert len(done.err.splitlines()) == 1


def test_stopping_octo_run_stops_the_turn_in_the_gateway(
    running: Running, server: LlmServer
) -> None:
    server.script(ENDLESS)
    process = running.octo.start("run", "count")
    assert server.wait_until(lambda: len(server.requests) == 1, 30)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    done = ended(process)
    assert done.code == 130
    assert done.out.startswith("word0 word1 ")
    assert done.err == STOPPED
    assert server.wait_until(lambda: len(server.disconnects) == 1)
    assert stored(running.octo) == [("cancelled", "count")]


def test_a_turn_that_runs_when_the_gateway_stops_is_kept_and_its_asker_is_told(
    running: Running, server: LlmServer
) -> None:
    server.script(ENDLESS)
    process = running.octo.start("run", "count")
    assert server.wait_until(lambda: len(server.requests) == 1, 30)
    time.sleep(0.5)
    assert running.stop(signal.SIGTERM).code == 0
    done = ended(process)
    assert done.code == 1
    assert done.out.startswith("word0 word1 ")
    assert len(done.err.splitlines()) == 1
    assert "octo: " in done.err
    assert stored(running.octo) == [("interrupted", "count")]
    assert server.wait_until(lambda: len(server.disconnects) == 1)


def test_a_gateway_that_was_killed_leaves_octo_run_to_its_own_process(
    running: Running,
) -> None:
    running.process.kill()
    running.process.wait()
    deadline = time.monotonic() + 30
    while not _alone(running.octo("status", "--json")):
        assert time.monotonic() < deadline
    assert running.octo("run", "hi").out == "echo: hi\n"


def _alone(status: Done) -> bool:
    """A kernel that dies while it is asked gives a line on stderr, and no status."""
    return status.code == 0 and status.json["answered_by"] == "this process"


def test_a_plain_kernel_runs_the_gateway_for_a_while(octo: Octo) -> None:
    command = papermill_command(octo, "-p", "port", "0", "-p", "run_for", "6", kernel="python3")
    with gateway(octo, command) as running:
        assert octo("run", "hi").out == "echo: hi\n"
        assert ended(running.process).code == 0
        assert "turns        1" in running.shown()


def test_octo_gateway_does_the_same(octo: Octo) -> None:
    command = [*OCTO, "gateway", "--port", "0", "-o", str(output(octo))]
    with gateway(octo, command) as running:
        assert octo("run", "hi").out == "echo: hi\n"
        done = running.stop(signal.SIGINT)
        assert done == Done(
            code=0,
            out="",
            err=f"octo: gateway at http://{running.endpoint.authority} (Ctrl-C stops it)\n"
            f"octo: gateway stopped; its notebook is {output(octo)}\n",
        )
        assert "octo_lab gateway, stopped" in running.shown()


def test_a_closed_terminal_ends_the_gateway_in_order(octo: Octo) -> None:
    command = [*OCTO, "gateway", "--port", "0", "-o", str(output(octo))]
    with gateway(octo, command) as running:
        assert running.stop(signal.SIGHUP).code == 0
        assert "octo_lab gateway, stopped" in running.shown()


def test_a_gateway_outlives_a_terminal_that_it_was_told_to_outlive(octo: Octo) -> None:
    command = ["nohup", *OCTO, "gateway", "--port", "0", "-o", str(output(octo))]
    with gateway(octo, command) as running:
        running.process.send_signal(signal.SIGHUP)
        assert octo("run", "hi").out == "echo: hi\n"
        assert running.process.poll() is None
        assert running.stop(signal.SIGTERM).code == 0


def test_a_gateway_whose_kernel_is_killed_says_so_in_one_line(octo: Octo) -> None:
    command = [*OCTO, "gateway", "--port", "0", "-o", str(output(octo))]
    with gateway(octo, command) as running:
        os.kill(running.endpoint.pid, signal.SIGKILL)
        done = ended(running.process)
    assert done.code == 1
    assert done.err.splitlines()[-1:] == [
        "octo: The gateway's kernel ended: Kernel died"
        " (what was committed is kept; start it again with 'octo gateway')"
    ]


def test_a_gateway_that_cannot_start_says_why_in_one_line(octo: Octo) -> None:
    octo.data.mkdir()
    (octo.data / "octo_lab.db").write_bytes(b"no database" * 1000)
    done = octo("gateway", "-o", str(output(octo)))
    assert done.code == 1
    assert len(done.err.splitlines()) == 1
    assert str(octo.data / "octo_lab.db") in done.err


def test_papermill_shows_the_parameters_with_their_help(octo: Octo) -> None:
    command = [sys.executable, "-m", "papermill", "--help-notebook", papermill_command(octo)[-2]]
    help_text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for name in ("workspace", "config", "channels", "host", "port", "run_for", "log_level"):
        assert f"  {name}: " in help_text
