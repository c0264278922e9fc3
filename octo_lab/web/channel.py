"""The ``web`` channel: everything that talks to this gateway over HTTP and WebSocket."""

from __future__ import annotations

import socket

import anyio
from starlette.applications import Starlette
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from octo_lab.bus.ports import Door, LivePolicy, Presentation, TurnSink
from octo_lab.channels.listeners import Listeners
from octo_lab.core import wire
from octo_lab.core.errors import UsageError
from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import OutboundMessage
from octo_lab.core.turns import TurnSnapshot
from octo_lab.web.access import Access, Guarded
from octo_lab.web.connection import Connection
from octo_lab.web.rest import CHANNEL, Rest, chat_address
from octo_lab.web.server import serve

POLICY_VIOLATION = 1008


class WebChannel:
    """A live channel on a socket that its owner has bound (``server.bind_socket``)."""

    name = CHANNEL
    live = LivePolicy(interval=0.05)
    presentation = Presentation()
    largest_file = 10_000_000

    def __init__(self, listening: socket.socket, access: Access) -> None:
        self._listening = listening
        self._access = access
        self._listeners = Listeners()

    @property
    def clients(self) -> int:
        return self._listeners.count()

    async def run(self, door: Door) -> None:
        await anyio.to_thread.run_sync(wire.prepare)
        app = Guarded(self._app(door), self._access)
        await serve(app, self._listening)

    async def send(self, message: OutboundMessage) -> None:
        self._listeners.send(message)

    async def open_turn(self, address: ChatAddress, turn: TurnSnapshot) -> TurnSink:
        return self._listeners.open_turn(address, turn)

    def _app(self, door: Door) -> ASGIApp:
        rest = Rest(door, self._listeners)

        async def connect(websocket: WebSocket) -> None:
            try:
                address = chat_address(websocket.query_params.get("chat", "main"))
            except UsageError as exc:
                await websocket.close(POLICY_VIOLATION, exc.message)
                return
            await websocket.accept()
            await Connection(websocket, door, address).serve(self._listeners)

        return Starlette(
            routes=[
                Route("/health", rest.health),
                Route("/api/status", rest.status),
                Route("/api/chat", rest.chat, methods=["POST"]),
                Route("/api/chat/stream", rest.stream, methods=["POST"]),
                WebSocketRoute("/ws", connect),
            ]
        )
