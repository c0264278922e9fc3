"""A small real HTTP server over a loopback socket: its answers are functions of the request."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

import anyio
import anyio.to_thread


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request as it came; header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """``wait`` is seconds before the answer, ``drip`` seconds between two of its bytes."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float = 0.0
    drip: float = 0.0


Route = Callable[[Asked], Reply]


def json_reply(value: object, status: int = 200) -> Reply:
    headers = {"content-type": "application/json"}
    return Reply(status=status, body=json.dumps(value).encode(), headers=headers)


def always(reply: Reply) -> Route:
    """A route that answers all alike."""
    return lambda _asked: reply


NOT_FOUND = json_reply({"error": "not found"}, 404)


class HttpServer:
    """Serves in its own threads: ``with HttpServer({"/path": route}) as server: server.port``, or
    ``async with`` inside a loop.

    ``asked`` are the requests in the order they came. A path without a route gets ``other``.
    """

    def __init__(
        self, routes: Mapping[str, Route], *, other: Reply = NOT_FOUND, host: str = "127.0.0.1"
    ) -> None:
        self.asked: list[Asked] = []
        self._routes = routes
        self._other = other
        self._leaving = threading.Event()
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        kind = type("_Server", (_Server,), {"address_family": family})
        self._server: _Server = kind((host, 0), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def root(self) -> str:
        """The address without a path."""
        host = str(self._server.server_address[0])
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    def __enter__(self) -> HttpServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        self._leaving.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    async def __aenter__(self) -> HttpServer:
        return await anyio.to_thread.run_sync(self.__enter__)

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self.__exit__, kind, exc, tb)

    def answer(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        route = self._routes.get(asked.path)
        return route(asked) if route else self._other

    def pause(self, seconds: float) -> bool:
        """Wait; False when the server is leaving."""
        return not self._leaving.wait(seconds)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    owner: HttpServer

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went in the middle is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_PUT(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def do_HEAD(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is printed."""

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        owner = self.server.owner
        reply = owner.answer(Asked(method=self.command, path=self.path, headers=headers, body=body))
        if reply.wait and not owner.pause(reply.wait):
            return
        self.send_response(reply.status)
        for name, value in {"content-length": str(len(reply.body)), **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self._write(reply, owner)

    def _write(self, reply: Reply, owner: HttpServer) -> None:
        if self.command == "HEAD":
            return
        if not reply.drip:
            self.wfile.write(reply.body)
            return
        for byte in reply.body:
            self.wfile.write(bytes([byte]))
            if not owner.pause(reply.drip):
                return
