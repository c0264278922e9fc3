"""A server that says whatever bytes it is told, over TLS if given a certificate."""

from __future__ import annotations

import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import anyio
from anyio.abc import ByteStream, SocketAttribute, SocketStream
from anyio.streams.tls import TLSStream

Behave = Callable[["Visit"], Awaitable[None]]
_GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream, OSError)


@dataclass(slots=True, kw_only=True)
class Visit:
    """One connection: what was asked first, and how to answer."""

    head: bytes
    stream: ByteStream

    async def say(self, data: bytes) -> None:
        await self.stream.send(data)


@dataclass(slots=True, kw_only=True)
class WildServer:
    """``heads`` are the first bytes of each visit, ``names`` those that TLS was asked for."""

    port: int = 0
    heads: list[bytes] = field(default_factory=list)
    names: list[str | None] = field(default_factory=list)


@asynccontextmanager
async def wild_server(
    behave: Behave,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    tls: ssl.SSLContext | None = None,
) -> AsyncGenerator[WildServer]:
    """Serve until left; ``behave`` has the visit after its head came, and may take for ever."""
    server = WildServer()
    listener = await anyio.create_tcp_listener(local_host=host, local_port=port)
    server.port = listener.extra(SocketAttribute.local_port)

    async def serve(raw: SocketStream) -> None:
        with suppress(*_GONE):
            async with raw:
                stream = await _secured(raw, tls) if tls else raw
                head = await stream.receive()
                server.heads.append(head)
                await behave(Visit(head=head, stream=stream))

    if tls:
        tls.sni_callback = lambda _socket, name, _context: server.names.append(name)
    failure: Exception | None = None
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, serve)
        try:
            yield server
        except Exception as exc:  # noqa: BLE001 - raised below, where no group wraps it
            failure = exc
        finally:
            tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure


async def _secured(raw: SocketStream, tls: ssl.SSLContext) -> ByteStream:
    return await TLSStream.wrap(raw, ssl_context=tls, standard_compatible=False, server_side=True)
