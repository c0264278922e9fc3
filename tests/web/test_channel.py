"""The HTTP face and the raw protocol, over real sockets."""

from __future__ import annotations

import json
from typing import Any

import anyio
import anyio.lowlevel
import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from octo_lab.channels.inbox import LIMIT
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import AskOptions, OutboundMessage
from octo_lab.core.turns import ErrorBlock, TextBlock
from octo_lab.web.endpoint import Endpoint
from octo_lab.web.rest import MAX_BODY
from tests.web.serving import serving

pytestmark = pytest.mark.anyio


def http(endpoint: Endpoint) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {endpoint.token}"}
    return httpx.AsyncClient(base_url=f"http://{endpoint.authority}", headers=headers)


def open_socket(endpoint: Endpoint, chat: str = "main", **headers: str) -> connect:
    return connect(
        f"ws://{endpoint.authority}/ws?chat={chat}",
        additional_headers={"Authorization": f"Bearer {endpoint.token}", **headers},
        proxy=None,
        close_timeout=1,
    )


async def received(socket: ClientConnection) -> dict[str, Any]:
    with anyio.fail_after(10):
        frame: dict[str, Any] = json.loads(await socket.recv())
    return frame


async def test_health_says_ok_without_a_token() -> None:
    async with serving() as (_, endpoint), http(endpoint) as client:
        answer = await client.get("/health", headers={"Authorization": ""})
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


async def test_one_question_gets_one_json_answer() -> None:
    async with serving(echo=True) as (door, endpoint), http(endpoint) as client:
        answer = await client.post("/api/chat", json={"message": "hi", "options": {"model": "m"}})
    assert answer.status_code == 200
    assert (answer.json()["text"], answer.json()["state"]) == ("hi", "completed")
    assert door.messages[0].options == AskOptions(model="m", headless=True)


async def test_a_failed_turn_is_an_http_error_that_keeps_what_did_arrive() -> None:
    async with serving() as (door, endpoint), http(endpoint) as client:

        async def fail() -> None:
            turn = await door.begin(await door.received(1))
            await turn.say(TextBlock("part"), ErrorBlock("cut", "try again"), state="failed")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(fail)
            answer = await client.post("/api/chat", json={"message": "hi"})
    assert answer.status_code == 502
    assert [answer.json()[name] for name in ("text", "error", "hint")] == [
        "part",
        "cut",
        "try again",
    ]


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        ("{", 400, "The body is no JSON object"),
        ("[]", 400, "The body is no JSON object"),
        ("[" * 100_000, 400, "The body is no JSON object"),
        ("{}", 400, "No message"),
        ('{"message": "hi", "chat": "../x"}', 400, "'../x' is no chat name"),
        ('{"message": "hi", "options": {"x": 1}}', 400, "'ask' takes no 'x'"),
        ('{"message": "' + "x" * MAX_BODY + '"}', 400, "The body is too long"),
    ],
)
async def test_a_bad_body_is_told_what_is_wrong(body: str, status: int, error: str) -> None:
    async with serving() as (_, endpoint), http(endpoint) as client:
        answer = await client.post("/api/chat", content=body)
    assert (answer.status_code, answer.json()["error"]) == (status, error)


async def test_a_full_queue_is_an_unavailable_service() -> None:
    async with serving() as (door, endpoint), http(endpoint) as client:
        door.full = True
        answer = await client.post("/api/chat", json={"message": "hi"})
    assert (answer.status_code, answer.json()) == (
        503,
        {"error": "the queue is full", "hint": "wait"},
    )


async def test_a_foreign_page_cannot_open_a_socket() -> None:
    async with serving() as (_, endpoint):
        with pytest.raises(InvalidStatus, match="403"):
            async with open_socket(endpoint, Origin="https://evil.example"):
                pass


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ("not json", "The message is no JSON object"),
        ("[1]", "The message is no JSON object"),
        ("[" * 100_000, "The message is no JSON object"),
        ('{"a":' * 100_000, "The message is no JSON object"),
        (b"\0\1", "The message is no JSON object"),
        (
            '{"type": "ask", "id": "1", "text": "a", "options": 5}',
            "'ask': what it takes is no JSON object",
        ),
        (
            '{"type": "ask", "id": "1", "text": "a", "options": [1]}',
            "'ask': what it takes is no JSON object",
        ),
        ('{"type": "dance"}', "Not a frame of this protocol"),
        ('{"type": "ask", "id": "1", "text": "a", "options": {"no": 1}}', "'ask' takes no 'no'"),
    ],
)
async def test_nonsense_gets_one_clear_message_and_the_socket_lives_on(
    sent: str | bytes, said: str
) -> None:
    async with serving() as (_, endpoint), open_socket(endpoint) as socket:
        assert (await received(socket))["type"] == "hello"
        await socket.send(sent)
        assert (await received(socket))["text"] == said
        await socket.send('{"type": "control", "id": "2", "name": "status"}')
        assert (await received(socket))["reply"]["text"] == "GetStatus"


async def test_half_a_character_in_an_id_or_a_text_is_replaced() -> None:
    """Sent as it is it would break the socket of everybody in this chat."""
    async with serving(echo=True) as (_, endpoint), open_socket(endpoint) as socket:
        await received(socket)
        await socket.send(r'{"type": "ask", "id": "\ud800", "text": "a\udc00 \ud83d\ude00"}')
        turn = (await received(socket))["turn"]
    assert (turn["message_id"], turn["prompt"]) == ("\ufffd", "a\ufffd 😀")


async def test_an_unknown_control_is_a_failed_reply() -> None:
    async with serving() as (_, endpoint), open_socket(endpoint) as socket:
        await received(socket)
        await socket.send('{"type": "control", "id": "2", "name": "dance"}')
        reply = await received(socket)
    assert (reply["id"], reply["reply"]["failed"]) == ("2", True)


async def test_a_client_that_does_not_read_gets_the_latest_snapshot_not_all() -> None:
    async with serving() as (door, endpoint), open_socket(endpoint) as socket:
        await received(socket)
        await socket.send('{"type": "ask", "id": "1", "text": "a"}')
        turn = await door.begin(await door.received(1))
        for number in range(200):
            await turn.say(TextBlock(f"{number:0>200000}"))
            await anyio.lowlevel.checkpoint()
        await turn.say(TextBlock("the end"), state="completed")
        states = [await received(socket)]
        while states[-1].get("state") != "completed":
            states.append(await received(socket))
    assert states[-1]["ops"] == [["put", 0, {"kind": "text", "text": "the end"}]]
    assert len(states) < 100


async def test_a_client_too_slow_for_its_messages_is_disconnected() -> None:
    async with serving() as (door, endpoint), open_socket(endpoint) as socket:
        await received(socket)
        address = ChatAddress(channel="web", chat_id="main")
        for _ in range(LIMIT + 1):
            await door.channel.send(OutboundMessage(address=address, text="x"))
        with pytest.raises(ConnectionClosed, match="too slow"):
            await read_on(socket)


async def read_on(socket: ClientConnection) -> None:
    while True:
        await received(socket)
