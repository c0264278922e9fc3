"""The gateway inside a running app: its web channel opens and closes while the app goes on."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio
import anyio.to_thread

from octo_lab.app import App
from octo_lab.gateway.lock import sole_gateway
from octo_lab.gateway.logs import LogRing, log_ring
from octo_lab.gateway.report import uptime
from octo_lab.gateway.run import endpoint_at
from octo_lab.gateway.tally import Tallied, Tally
from octo_lab.security.redact import Secrets
from octo_lab.web.access import choose_access
from octo_lab.web.channel import WebChannel
from octo_lab.web.endpoint import Endpoint, remove_endpoint, write_endpoint
from octo_lab.web.server import bind_socket


@dataclass(frozen=True, slots=True, kw_only=True)
class Inside:
    """A gateway that runs. ``stop`` belongs to the app's loop."""

    endpoint: Endpoint
    log: LogRing
    tally: Tally
    stop: anyio.Event
    started: float = field(default_factory=time.monotonic)

    @property
    def line(self) -> str:
        """Where it is and what it has done, in one line."""
        tally, up = self.tally, uptime(time.monotonic() - self.started)
        counts = f"{tally.messages} messages, {tally.turns} turns, {tally.errors} errors"
        return f"http://{self.endpoint.authority}, up {up}, {counts}"


async def serve_inside(app: App, opened: Callable[[Inside], None]) -> None:
    """Serve ``app`` over HTTP until told to stop; lock, port and token as of ``octo gateway``.

    ``opened`` is called once clients can connect. Raises an OctoError when it cannot start.
    """
    setup = app.setup
    where = setup.settings.gateway
    access = choose_access(where.host, setup.environ)
    with contextlib.ExitStack() as stack:
        await anyio.to_thread.run_sync(stack.enter_context, sole_gateway(setup.data_folder))
        log = stack.enter_context(log_ring("INFO", Secrets(setup.environ)))
        listening = stack.enter_context(contextlib.closing(bind_socket(where.host, where.port)))
        endpoint = endpoint_at(where.host, listening.getsockname()[1], access.token)
        inside = Inside(endpoint=endpoint, log=log, tally=Tally(), stop=anyio.Event())
        channel = Tallied(WebChannel(listening, access), inside.tally)
        stack.callback(remove_endpoint, setup.data_folder)
        await anyio.to_thread.run_sync(write_endpoint, setup.data_folder, endpoint)
        app.channels.add(channel)
        stack.callback(app.channels.remove, channel.name)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(channel.run, app.door)
            opened(inside)
            await inside.stop.wait()
            tasks.cancel_scope.cancel()
