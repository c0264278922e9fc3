from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from octo_lab.testing.llm_script import Json, Turn, call, calls, echo, fails, last_text, says
from octo_lab.testing.llm_server import LlmServer

ASK: Json = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hi"}]}


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer() as running:
        yield running


def post(server: LlmServer, body: Any = ASK, **headers: str) -> httpx.Response:
    return httpx.post(f"{server.base_url}/chat/completions", json=body, headers=headers)


def deltas(response: httpx.Response) -> list[Json]:
    lines = [line[6:] for line in response.text.splitlines() if line.startswith("data: {")]
    return [choice["delta"] for line in lines for choice in json.loads(line)["choices"]]


def test_without_a_script_it_echoes(server: LlmServer) -> None:
    text = "".join(delta.get("content", "") for delta in deltas(post(server)))
    assert text == "echo: hi"


def test_answers_come_in_the_order_of_the_script(server: LlmServer) -> None:
    server.script(says("1"), fails(503, "busy", headers={"retry-after": "2"}), says("2"))
    answers = [post(server) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 503, 200]
    assert answers[1].headers["retry-after"] == "2"
    assert answers[1].json()["error"]["message"] == "busy"


def test_an_answer_may_depend_on_the_request(server: LlmServer) -> None:
    server.script(lambda request: says(last_text(request).upper()))
    assert deltas(post(server))[1] == {"content": "HI"}


def test_parallel_calls_come_in_fragments(server: LlmServer) -> None:
    server.script(calls(call("f", x=1), call("g", id="call_2", y=2), fragment=4))
    parts = [part for delta in deltas(post(server)) for part in delta.get("tool_calls", ())]
    assert [part["index"] for part in parts] == [0, 1, 0, 1, 0, 1]
    assert "".join(p["function"]["arguments"] for p in parts if p["index"] == 1) == '{"y": 2}'


def test_usage_is_sent_only_when_it_was_asked_for(server: LlmServer) -> None:
    assert '"usage"' not in post(server).text
    assert '"usage"' in post(server, {**ASK, "stream_options": {"include_usage": True}}).text


def test_a_bad_request_gets_the_vendors_400_and_uses_no_answer(server: LlmServer) -> None:
    server.script(says("kept"))
    refused = post(server, {**ASK, "nonsense": 1})
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "nonsense")
    assert server.refused == ["Unrecognized request argument supplied: nonsense"]
    assert deltas(post(server))[1] == {"content": "kept"}


@pytest.mark.parametrize(
    ("body", "status"), [([], 400), ({**ASK, "model": "n"}, 404), ({**ASK, "stream": False}, 400)]
)
def test_other_refusals(body: Any, status: int) -> None:
    with LlmServer(models=["m"]) as server:
        assert post(server, body).status_code == status


def test_another_key_is_refused() -> None:
    with LlmServer(api_key="right") as server:
        assert post(server, authorization="Bearer wrong").status_code == 401
        assert post(server, authorization="Bearer right").status_code == 200


def test_requests_are_recorded(server: LlmServer) -> None:
    post(server, authorization="Bearer k")
    received = server.requests[0]
    assert (received.path, received.body, received.headers["authorization"]) == (
        "/v1/chat/completions",
        ASK,
        "Bearer k",
    )


def test_a_client_that_leaves_is_recorded(server: LlmServer) -> None:
    server.script(says("x", hang=True))
    with httpx.stream("POST", f"{server.base_url}/chat/completions", json=ASK) as response:
        next(response.iter_lines())
    assert server.wait_until(lambda: bool(server.disconnects), 5)
    assert (server.disconnects[0].request, server.disconnects[0].at > server.requests[0].at) == (
        0,
        True,
    )


def test_a_whole_answer_is_no_disconnect(server: LlmServer) -> None:
    post(server)
    assert not server.wait_until(lambda: bool(server.disconnects), 0.2)


@pytest.mark.parametrize("cut", [0, 5, 200])
def test_a_cut_drops_the_connection_after_so_many_bytes(server: LlmServer, cut: int) -> None:
    server.script(says("hello", "world", cut=cut))
    got: list[bytes] = []
    with pytest.raises(httpx.RemoteProtocolError):
        stream_into(got, server)
    assert len(b"".join(got)) == cut


def stream_into(parts: list[bytes], server: LlmServer) -> None:
    with httpx.stream("POST", f"{server.base_url}/chat/completions", json=ASK) as response:
        parts.extend(response.iter_raw())


def test_a_raw_body_is_sent_as_it_is(server: LlmServer) -> None:
    server.script(Turn(raw=b"data: {bad\n\n"))
    assert post(server).content == b"data: {bad\n\n"


def test_models_are_listed(server: LlmServer) -> None:
    assert httpx.get(f"{server.base_url}/models").json()["data"][0]["id"] == "scripted"


def test_echo_reads_content_given_in_parts() -> None:
    parts = [{"type": "text", "text": "a b"}, {"type": "image_url", "image_url": {"url": "x"}}]
    assert "".join(echo({"messages": [{"content": parts}]}).text) == "echo: a b"


def test_it_runs_from_the_command_line(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"text": ["scripted"], "calls": [{"name": "f"}]}]))
    command = [sys.executable, "-m", "octo_lab.testing.llm_server", "--script", str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        base_url = process.stdout.readline().strip()
        answer = httpx.post(f"{base_url}/chat/completions", json=ASK)
        process.terminate()
    assert deltas(answer)[1] == {"content": "scripted"}


def test_a_server_that_is_closed_while_it_starts_ends_cleanly(
    recwarn: pytest.WarningsRecorder,
) -> None:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for _ in range(300):
            with LlmServer():
                pass
        gc.collect()
    finally:
        sys.setswitchinterval(usual)
    assert not recwarn.list
