"""A turn as server-sent events: a real socket, the whole app behind it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from octo_lab.app import App, open_app
from octo_lab.channels.listeners import Listeners
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import ControlRequest, GetHistory, InboundMessage, Stop
from octo_lab.core.replies import History
from octo_lab.core.stream import TextDelta
from octo_lab.core.turns import ErrorBlock
from octo_lab.testing.providers import ScriptedProvider, calls, says
from octo_lab.testing.setups import setup_in
from octo_lab.web.access import Access
from octo_lab.web.channel import WebChannel
from octo_lab.web.endpoint import Endpoint
from octo_lab.web.event_stream import EventStream
from octo_lab.web.server import bind_socket
from tests.agent.turns import call
from tests.web.serving import TOKEN, serving
from tests.web.test_channel import http

pytestmark = pytest.mark.anyio

ACCEPT = {"Accept": "text/event-stream"}


@asynccontextmanager
async def running(
    folder: Path, provider: ScriptedProvider
) -> AsyncGenerator[tuple[App, httpx.AsyncClient]]:
    listening = bind_socket("127.0.0.1", 0)
    port = listening.getsockname()[1]
    channel = WebChannel(listening, Access(token=TOKEN))
    async with open_app(setup_in(folder, channel, provider=provider)) as app:
        endpoint = Endpoint(host="127.0.0.1", port=port, pid=1, token=TOKEN)
        async with http(endpoint) as client:
            yield app, client


def events(text: str) -> list[dict[str, Any]]:
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]


async def history(app: App) -> History:
    address = ChatAddress(channel="web", chat_id="main")
    reply = await app.door.control(ControlRequest(address=address, control=GetHistory()))
    assert isinstance(reply, History)
    return reply


async def test_a_turn_is_told_as_it_goes_and_its_answer_comes_last(tmp_path: Path) -> None:
    provider = ScriptedProvider(calls(call("list_dir", '{"path": "."}')), says("Em", "pty."))
    async with running(tmp_path, provider) as (_, client):
        answer = await client.post("/api/chat", json={"message": "look"}, headers=ACCEPT)

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    told = events(answer.text)
    assert [event["type"] for event in told] == [
        "other",
        "thinking",
        "other",
        "cost_update",
        "tool_start",
        "tool_end",
        "thinking",
        *["token"] * sum(event["type"] == "token" for event in told),
        "other",
        "cost_update",
        "stream_end",
        "response",
        "other",
        "other",
    ]
    assert "".join(event["text"] for event in told if event["type"] == "token") == "Empty."
    assert {"type": "tool_end", "tool": "list_dir", "success": True} in told
    last = told[-1]
    assert (last["done"], last["text"], last["state"]) == (True, "Empty.", "completed")


async def test_the_cost_of_the_session_counts_what_was_before(tmp_path: Path) -> None:
    provider = ScriptedProvider(*[says("x") for _ in range(2)])
    async with running(tmp_path, provider) as (app, client):
        await client.post("/api/chat/stream", json={"message": "one"})
        first = (await history(app)).turns[0].usage
        answer = await client.post("/api/chat/stream", json={"message": "two"})

    [told] = [event for event in events(answer.text) if event["type"] == "cost_update"]
    assert told["input_tokens"] == 2 * first.input_tokens


async def test_a_client_that_goes_away_ends_its_turn(tmp_path: Path) -> None:
    provider = ScriptedProvider([TextDelta("I begin"), anyio.sleep_forever])
    async with running(tmp_path, provider) as (app, client):
        async with client.stream("POST", "/api/chat/stream", json={"message": "hi"}) as answer:
            async for line in answer.aiter_lines():
                if "I begin" in line:
                    break
        with anyio.fail_after(20):
            while (await history(app)).turns[0].state == "running":  # noqa: ASYNC110 - it may look often
                await anyio.sleep(0.01)
        [turn] = (await history(app)).turns

    assert (turn.state, turn.text) == ("cancelled", "I begin")


@pytest.mark.parametrize("path", ["/api/chat", "/api/chat/stream"])
async def test_a_client_that_goes_away_before_its_question_is_whole_is_no_error(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving() as (_, endpoint), http(endpoint) as client:
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n"
        async with await anyio.connect_tcp(endpoint.host, endpoint.port) as leaving:
            await leaving.send(f'{head}Content-Length: 99\r\n\r\n{{"mess'.encode())
            assert (await client.get("/health")).status_code == 200
        assert (await client.get("/health")).status_code == 200

    assert [each.getMessage() for each in caplog.records if each.levelname == "ERROR"] == []


async def test_a_silent_turn_sends_comments() -> None:
    async with serving() as (door, _):
        message = InboundMessage(
            address=ChatAddress(channel="web", chat_id="main"), sender_id="main", text="hi"
        )
        stream = EventStream(door=door, listeners=Listeners(), message=message, keep_alive=0.01)
        sent: list[bytes] = []
        heard = anyio.Event()

        async def receive() -> dict[str, str]:
            await heard.wait()
            return {"type": "http.disconnect"}

        async def send(part: Any) -> None:
            sent.append(part.get("body", b""))
            if len(sent) == 3:
                heard.set()

        with anyio.fail_after(10):
            await stream({"type": "http"}, receive, send)

    assert sent[:3] == [b"", b": still there\n\n", b": still there\n\n"]
    assert door.controls[-1].control == Stop(message_id=message.id)


async def test_a_turn_that_fails_says_so_at_the_end() -> None:
    async with serving() as (door, endpoint), http(endpoint) as client:

        async def fail() -> None:
            turn = await door.begin(await door.received(1))
            await turn.say(ErrorBlock("cut", "try again"), state="failed")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(fail)
            answer = await client.post("/api/chat", json={"message": "hi"}, headers=ACCEPT)

    [last] = events(answer.text)
    assert (last["state"], last["error"], last["hint"]) == ("failed", "cut", "try again")


async def test_who_reads_too_slowly_is_told_that_events_were_lost() -> None:
    async with serving() as (door, endpoint), http(endpoint) as client:

        async def flood() -> None:
            message = await door.received(1)
            tell = door.events.teller(message.address, message.id)
            for _ in range(5000):
                tell(TextDelta("x"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(flood)
            answer = await client.post("/api/chat", json={"message": "hi"}, headers=ACCEPT)

    assert "events were lost" in events(answer.text)[-1]["error"]


@pytest.mark.parametrize("path", ["/api/chat", "/api/chat/stream"])
async def test_what_cannot_begin_is_a_plain_refusal(path: str) -> None:
    async with serving() as (door, endpoint), http(endpoint) as client:
        door.full = True
        full = await client.post(path, json={"message": "hi"}, headers=ACCEPT)
        bad = await client.post(path, content="{", headers=ACCEPT)
        nobody = await client.post(path, json={"message": "hi"}, headers={"Authorization": ""})

    assert [(a.status_code, a.json()["error"]) for a in (full, bad, nobody)] == [
        (503, "the queue is full"),
        (400, "The body is no JSON object"),
        (401, "No valid token"),
    ]
