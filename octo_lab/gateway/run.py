"""The gateway: the app with its web channel on a thread of its own, watched by the caller."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio.from_thread import start_blocking_portal

from octo_lab.app import open_app, setup_at
from octo_lab.config.place import Place, find_place
from octo_lab.config.process import process_environ, process_folder
from octo_lab.core.causes import cause_of
from octo_lab.core.errors import UsageError
from octo_lab.gateway.lock import sole_gateway
from octo_lab.gateway.logs import LogRing, log_ring
from octo_lab.gateway.report import Report
from octo_lab.gateway.tally import Tallied, Tally
from octo_lab.gateway.view import View
from octo_lab.security.redact import secret_values
from octo_lab.web.access import choose_access
from octo_lab.web.channel import WebChannel
from octo_lab.web.endpoint import Endpoint, remove_endpoint, write_endpoint
from octo_lab.web.server import bind_socket

CHANNELS = ("web",)
LOOK_EVERY = 0.25

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything decided before the start."""

    place: Place
    host: str
    port: int
    run_for: float = 0.0
    log_level: str = "INFO"


def run_gateway(
    *,
    workspace: str = "",
    config: str = "",
    channels: str = "web",
    host: str = "",
    port: int | None = None,
    run_for: float = 0.0,
    log_level: str = "INFO",
) -> Report:
    """Serve until ``run_for`` seconds are over (0: for ever), or SIGINT or SIGTERM comes.

    An empty ``workspace`` is the current folder's, an empty ``host`` or no ``port`` the
    settings'. Raises an OctoError when it cannot start, naming the next step.
    """
    _check_channels(channels)
    plan = make_plan(
        workspace=workspace,
        config=config,
        host=host,
        port=port,
        run_for=run_for,
        log_level=log_level,
    )
    secrets = secret_values(plan.place.environ)
    with sole_gateway(plan.place.data_folder), log_ring(plan.log_level, secrets) as log:
        return _Gateway(plan, log).run()


def make_plan(
    *,
    workspace: str = "",
    config: str = "",
    host: str = "",
    port: int | None = None,
    run_for: float = 0.0,
    log_level: str = "INFO",
) -> Plan:
    """Settings and places for a gateway; raises ConfigError."""
    place = find_place(
        Path(workspace).expanduser() if workspace else process_folder(),
        process_environ(),
        config=Path(config).expanduser() if config else None,
    )
    settings = place.settings.gateway
    return Plan(
        place=place,
        host=host or settings.host,
        port=settings.port if port is None else port,
        run_for=run_for,
        log_level=log_level,
    )


def _check_channels(names: str) -> None:
    for name in names.replace(",", " ").split():
        if name not in CHANNELS:
            raise UsageError(f"No channel named {name!r}", hint=f"known: {', '.join(CHANNELS)}")


class _Gateway:
    """One run. The caller's thread watches and shows; everything else lives on the other."""

    def __init__(self, plan: Plan, log: LogRing) -> None:
        self._plan = plan
        self._log = log
        self._tally = Tally()
        self._stop = anyio.Event()
        self._told = threading.Event()
        self._started = time.monotonic()
        self._where = ""
        self._view = View()

    def run(self) -> Report:
        access = choose_access(self._plan.host, self._plan.place.environ)
        with contextlib.closing(bind_socket(self._plan.host, self._plan.port)) as listening:
            channel = WebChannel(listening, access)
            endpoint = endpoint_at(self._plan.host, listening.getsockname()[1], access.token)
            self._where = f"http://{endpoint.authority}"
            with _on_signal(self._told.set), start_blocking_portal(name="octo-gateway") as portal:
                serving = portal.start_task_soon(self._serve, channel, endpoint)
                try:
                    self._watch(serving)
                finally:
                    portal.call(self._stop.set)
                    _result(serving)
        report = self._report("stopped")
        self._view.show(report)
        return report

    async def _serve(self, channel: WebChannel, endpoint: Endpoint) -> None:
        place = self._plan.place
        setup = setup_at(place, channels=(Tallied(channel, self._tally),))
        async with open_app(setup):
            try:
                await anyio.to_thread.run_sync(write_endpoint, place.data_folder, endpoint)
                logger.info("listening on %s", self._where)
                await self._stop.wait()
            finally:
                remove_endpoint(place.data_folder)

    def _watch(self, serving: Future[None]) -> None:
        """Until it is time to stop: show what is new, wait a little."""
        end = self._started + self._plan.run_for if self._plan.run_for > 0 else float("inf")
        while not (serving.done() or self._told.is_set() or time.monotonic() >= end):
            self._view.show_changed(self._report("running"))
            wait([serving], timeout=LOOK_EVERY)

    def _report(self, state: str) -> Report:
        return Report(
            state=state,
            where=self._where,
            workspace=str(self._plan.place.workspace),
            data_folder=str(self._plan.place.data_folder),
            seconds=time.monotonic() - self._started,
            messages=self._tally.messages,
            turns=self._tally.turns,
            errors=self._tally.errors,
            usage=self._tally.usage,
            log=tuple(self._log.lines)[-8:],
        )


def _result(serving: Future[None]) -> None:
    try:
        serving.result()
    except BaseExceptionGroup as exc:
        raise cause_of(exc) from None


def endpoint_at(host: str, port: int, token: str) -> Endpoint:
    """Where this machine reaches it: a wildcard host over loopback."""
    loopback = {"0.0.0.0": "127.0.0.1", "::": "::1"}
    return Endpoint(host=loopback.get(host, host), port=port, pid=os.getpid(), token=token)


@contextmanager
def _on_signal(act: Callable[[], None]) -> Iterator[None]:
    """Let SIGINT and SIGTERM ``act`` instead, while this call holds the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {
        signum: signal.signal(signum, lambda *_: act())
        for signum in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for signum, handler in handlers.items():
            signal.signal(signum, handler)
