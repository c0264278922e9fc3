"""A forward proxy on loopback that lets programs such as a browser out through the same guard."""

from __future__ import annotations

import base64
import hmac
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

import anyio
import httpcore
from anyio.abc import SocketAttribute, SocketStream, TaskStatus

from octo_lab.core.errors import ToolDenied, ToolFailed
from octo_lab.security.net.dial import Dialer
from octo_lab.security.net.proxy_head import END, MAX_HEAD, Asked, parse_head

USER = "octo"
HEAD_SECONDS = 15.0
IDLE_SECONDS = 300.0
MAX_CONNECTIONS = 128
_PIECE = 65_536
_GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream)
_BROKEN = (*_GONE, httpcore.NetworkError, httpcore.TimeoutException, TimeoutError)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardProxy:
    """Where the proxy listens, and the credential without which it lets nobody through."""

    port: int
    password: str = field(repr=False)
    user: str = USER
    host: str = "127.0.0.1"

    @property
    def server(self) -> str:
        """The address without the credential, as browsers take it."""
        return f"http://{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """The address with the credential, as ``HTTPS_PROXY`` has it."""
        return f"http://{self.user}:{self.password}@{self.host}:{self.port}"


@asynccontextmanager
async def forward_proxy(
    dialer: Dialer, *, idle: float = IDLE_SECONDS, connections: int = MAX_CONNECTIONS
) -> AsyncGenerator[ForwardProxy]:
    """Serve until the block is left. To be entered and left by one task."""
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        serve = partial(serve_proxy, dialer, idle=idle, connections=connections)
        proxy = await tasks.start(serve)
        try:
            yield proxy
        except Exception as exc:  # noqa: BLE001 - raised below, where no group wraps it
            failure = exc
        finally:
            tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure


async def serve_proxy(
    dialer: Dialer,
    *,
    idle: float = IDLE_SECONDS,
    connections: int = MAX_CONNECTIONS,
    task_status: TaskStatus[ForwardProxy],
) -> None:
    """Serve until cancelled, on a port and with a credential of this run; then all is closed.

    For ``proxy = await tasks.start(serve_proxy, dialer)``. Each connection is dialled through the
    guard, loopback too: a program that would go round the proxy for loopback must be told not to.
    One that carries nothing for ``idle`` seconds is closed; of more than ``connections`` at once
    each is refused.
    """
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    proxy = ForwardProxy(
        port=listener.extra(SocketAttribute.local_port), password=secrets.token_urlsafe(24)
    )
    room = anyio.CapacityLimiter(connections)
    desk = _Desk(dialer=dialer, proxy=proxy, room=room, idle=idle)
    async with listener:
        task_status.started(proxy)
        await listener.serve(desk.serve)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Desk:
    dialer: Dialer
    proxy: ForwardProxy
    room: anyio.CapacityLimiter
    idle: float

    async def serve(self, client: SocketStream) -> None:
        """One connection of a program, from its first byte to its last."""
        async with client:
            with suppress(*_BROKEN):
                if self.room.available_tokens < 1:
                    await client.send(_FULL)
                    return
                async with self.room:
                    await self._answer(client)

    async def _answer(self, client: SocketStream) -> None:
        try:
            asked = parse_head(await _head(client))
            if not self._lets_in(asked.credential):
                await client.send(_STRANGER)
                return
            server = await self.dialer.dial(asked.host, asked.port)
        except ToolFailed as exc:
            await client.send(_refusal(exc))
            return
        try:
            await _greet(client, server, asked)
            await _join(client, server, self.idle)
        finally:
            with anyio.CancelScope(shield=True):
                await server.aclose()

    def _lets_in(self, credential: str) -> bool:
        mine = base64.b64encode(f"{self.proxy.user}:{self.proxy.password}".encode()).decode()
        return hmac.compare_digest(f"Basic {mine}".encode(), credential.encode())


async def _head(client: SocketStream) -> bytes:
    """What came up to the end of the head and a little further."""
    data = bytearray()
    with anyio.fail_after(HEAD_SECONDS):
        while END not in data:
            data += await client.receive(_PIECE)
            if len(data) > MAX_HEAD:
                raise ToolFailed("The proxy was sent a head that is too long")
    return bytes(data)


async def _greet(client: SocketStream, server: httpcore.AsyncNetworkStream, asked: Asked) -> None:
    if asked.tunnel:
        await client.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
    await server.write(asked.forwarded, timeout=IDLE_SECONDS)


async def _join(client: SocketStream, server: httpcore.AsyncNetworkStream, idle: float) -> None:
    """Carry bytes both ways until one side ends or both are silent for ``idle`` seconds."""
    async with anyio.create_task_group() as tasks:
        watch = _Watch(scope=tasks.cancel_scope, idle=idle)
        tasks.start_soon(_up, client, server, watch)
        tasks.start_soon(_down, server, client, watch)
        tasks.start_soon(watch.run)


@dataclass(slots=True, kw_only=True)
class _Watch:
    """Ends a pair of connections that carries nothing."""

    scope: anyio.CancelScope
    idle: float
    moved: bool = True

    async def run(self) -> None:
        while self.moved:
            self.moved = False
            await anyio.sleep(self.idle)
        self.scope.cancel()


async def _up(client: SocketStream, server: httpcore.AsyncNetworkStream, watch: _Watch) -> None:
    with suppress(*_BROKEN):
        while True:
            data = await client.receive(_PIECE)
            watch.moved = True
            await server.write(data)
    watch.scope.cancel()


async def _down(server: httpcore.AsyncNetworkStream, client: SocketStream, watch: _Watch) -> None:
    with suppress(*_BROKEN):
        while data := await server.read(_PIECE):
            watch.moved = True
            await client.send(data)
    watch.scope.cancel()


def _refusal(exc: ToolFailed) -> bytes:
    status = "403 Forbidden" if isinstance(exc, ToolDenied) else "502 Bad Gateway"
    return _reply(status, str(exc))


def _reply(status: str, said: str, *headers: str) -> bytes:
    body = f"octo_lab: {said}\n".encode()
    head = [f"HTTP/1.1 {status}", "Content-Type: text/plain; charset=utf-8", "Connection: close"]
    lines = [*head, *headers, f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode() + body


_STRANGER = _reply(
    "407 Proxy Authentication Required",
    "this proxy is for programs that octo_lab started",
    'Proxy-Authenticate: Basic realm="octo_lab"',
)
_FULL = _reply("503 Service Unavailable", "too many connections at once")
