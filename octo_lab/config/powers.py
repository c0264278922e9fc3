"""What the settings lend to tools: commands behind walls, the guarded way to the network."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio.to_thread

from octo_lab.bus.stage import stage
from octo_lab.config.settings import NetworkSettings, SandboxSettings, Settings
from octo_lab.security.net.allowed import read_allowed
from octo_lab.security.net.client import GuardedClient
from octo_lab.security.net.dial import Dialer, read_proxy
from octo_lab.security.net.guard import Guard
from octo_lab.tools.browser.browsers import Browsers
from octo_lab.tools.browser.found import find_browser
from octo_lab.tools.camera import find_camera
from octo_lab.tools.exec_env import ExecEnvironment
from octo_lab.tools.powers import Powers
from octo_lab.tools.sandbox.container import ContainerExec
from octo_lab.tools.sandbox.local import Home, LocalExec
from octo_lab.tools.sandbox.policy import MIB, Bounds, SandboxPolicy
from octo_lab.tools.sandbox.programs import Programs


@asynccontextmanager
async def open_powers(home: Home, settings: Settings) -> AsyncGenerator[Powers]:
    """Programs that go on running between calls are ended when this is left.

    Raises ConfigError.
    """
    environment, dialer = _environment(home, settings.sandbox), dialer_of(settings.network)
    local = environment if isinstance(environment, LocalExec) else None
    found = await anyio.to_thread.run_sync(find_browser, settings.browser.executable)
    async with stage() as tasks:
        yield Powers(
            exec=environment,
            web=GuardedClient(dialer),
            dialer=dialer,
            environ=home.environ,
            options=_options(settings),
            camera=await anyio.to_thread.run_sync(find_camera),
            programs=Programs(environment, tasks),
            browsers=Browsers(
                found,
                dialer,
                tasks,
                environ=home.environ,
                seconds=settings.browser.action_timeout_secs,
                idle=settings.browser.idle_timeout_secs,
            ),
            network=_has_network(settings.sandbox),
            walls=lambda: local is not None and local.walled,
            ready=local.choice if local is not None else None,
        )


def take_options(powers: Powers, settings: Settings) -> None:
    """From the next call on, tools go by these; a browser that is open by the former ones."""
    powers.options.update(_options(settings))
    if powers.browsers is not None:
        powers.browsers.seconds = settings.browser.action_timeout_secs
        powers.browsers.idle = settings.browser.idle_timeout_secs


def _options(settings: Settings) -> dict[str, dict[str, Any]]:
    return {
        "web_search": settings.web_search.model_dump(),
        "web_fetch": settings.web_fetch.model_dump(),
        "deep_crawl": settings.deep_crawl.model_dump(),
    }


def _environment(home: Home, settings: SandboxSettings) -> ExecEnvironment:
    if settings.container:
        return ContainerExec(settings.container, home.environ)
    return LocalExec(home)


def _has_network(settings: SandboxSettings) -> bool:
    """As far as it is known before a command has run; a container has its own."""
    return settings.network or settings.mode == "none" or bool(settings.container)


def dialer_of(settings: NetworkSettings) -> Dialer:
    """The guarded way out; raises ConfigError."""
    guard = Guard(allowed=read_allowed(settings.allow))
    return Dialer(guard=guard, proxy=read_proxy(settings.proxy.get_secret_value()))


def sandbox_policy(settings: SandboxSettings, workspace: Path) -> SandboxPolicy:
    """Folders are relative to the workspace."""
    return SandboxPolicy(
        mode=settings.mode,
        network=settings.network,
        bounds=Bounds(
            memory=settings.memory * MIB,
            file_size=settings.file_size * MIB,
            processes=settings.processes,
            cpus=settings.cpus,
        ),
        readable=tuple(workspace / Path(path).expanduser() for path in settings.readable),
        allow=settings.environ,
        image=settings.image,
        mounts=settings.mounts,
    )
