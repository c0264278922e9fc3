"""Serves an ASGI app with uvicorn until cancelled, on a socket bound beforehand."""

from __future__ import annotations

import socket

import anyio
import uvicorn
from starlette.types import ASGIApp

from octo_lab.core.errors import ConfigError

PORTS_TRIED = 50
MAX_FRAME = 4 * 1024 * 1024
GRACE = 3


def bind_socket(host: str, port: int) -> socket.socket:
    """Listen on ``port`` or the next free one after it; port 0 takes any. Raises ConfigError.

    Clients may connect from now on; they wait until ``serve`` runs.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    last = port if port == 0 else min(port + PORTS_TRIED, 65535)
    for candidate in range(port, last + 1):
        listening = _bound(family, host, candidate)
        if listening is not None:
            return listening
    raise ConfigError(
        f"No free port from {port} to {last} on {host!r}", hint="choose another with --port"
    )


def _bound(family: socket.AddressFamily, host: str, port: int) -> socket.socket | None:
    """The bound socket, or None when the port is taken."""
    listening = socket.socket(family)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(128)
    except (OSError, OverflowError) as exc:
        listening.close()
        if isinstance(exc, OSError) and exc.errno in {98, 48, 13}:  # in use (Linux, macOS), denied
            return None
        raise ConfigError(
            f"Cannot listen on {host!r}, port {port}: {exc}", hint="use --host 127.0.0.1"
        ) from exc
    return listening


async def serve(app: ASGIApp, listening: socket.socket) -> None:
    """Serve until cancelled, then close the open connections within a few seconds."""
    server = uvicorn.Server(_config(app))
    stopped = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_serve_shielded, server, listening, stopped)
        try:
            await stopped.wait()
        finally:
            server.should_exit = True


async def _serve_shielded(
    server: uvicorn.Server, listening: socket.socket, stopped: anyio.Event
) -> None:
    """A cancelled uvicorn leaves its connections open, so it is told to exit instead."""
    with anyio.CancelScope(shield=True):
        try:
            await server.serve(sockets=[listening])
        finally:
            stopped.set()


def _config(app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        ws="websockets-sansio",
        ws_max_size=MAX_FRAME,
        ws_per_message_deflate=False,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE,
    )
